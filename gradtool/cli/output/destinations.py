"""The places a report can be written to.

A file is claimed before the work, so that a path which cannot be written is refused at
once. It is written beside its place and renamed when complete, so that a run which ends
early leaves neither half a report nor a damaged old one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Protocol, TextIO

from gradtool.cli.output.streams import reader_may_leave
from gradtool.results.paths import real_path

try:
    import fcntl
except ImportError:  # Not a POSIX system.
    fcntl = None  # type: ignore[assignment]

STDOUT = "-"

_LOCK_TIMEOUT = 10.0
"""Seconds to wait for other runs, each of which only writes two small files."""


class Destination(Protocol):
    """A claimed place for one report."""

    def put(self, content: str | bytes) -> None:
        """Write the whole report: text, or the bytes of a picture."""

    def close(self) -> None:
        """Release the place if nothing was written."""


def claim(name: str) -> Destination:
    """Claim the place that `name` stands for.

    Raises:
        OSError: It cannot be written.
    """
    if name == STDOUT:
        return _Stdout()
    path = Path(name)
    # Earlier commands of the step may have written to it.
    if name == os.environ.get("GITHUB_STEP_SUMMARY"):
        return _Stream(path, "a")
    return _Stream(path, "w") if path.exists() and not path.is_file() else _File(path)


def place_of(name: str) -> str:
    """The one name of the place that `name` stands for, however it is spelt."""
    return name if name == STDOUT else os.path.realpath(name)


class _Stdout:
    """Standard output."""

    def put(self, content: str | bytes) -> None:
        with reader_may_leave(sys.stdout):
            _write(sys.stdout, content)

    def close(self) -> None:
        pass


class _Stream:
    """A target to write to, not to replace: a pipe, a device, a file that other steps add to."""

    def __init__(self, path: Path, mode: Literal["a", "w"]) -> None:
        self._file = path.open(mode, encoding="utf-8")

    def put(self, content: str | bytes) -> None:
        _write(self._file, content)
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class _File:
    """A regular file, which appears or is replaced when the report is complete."""

    def __init__(self, path: Path) -> None:
        # Resolved, so that a symbolic link stays one and the file behind it is replaced.
        self._path = real_path(path)
        if self._path.is_symlink():  # It could not be resolved: it leads to itself.
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if self._path.exists() and not self._path.is_file():  # A rename would take its place.
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        # In the same folder, since a rename cannot cross file systems.
        self._partial = self._path.with_name(f".{self._path.name}.{os.getpid()}.partial")
        self._partial.touch(exist_ok=False)

    def put(self, content: str | bytes) -> None:
        with self._partial.open("w", encoding="utf-8") as file:
            _write(file, content)
        if self._path.exists():
            # The new file takes the place of the old one, whose permissions would be lost.
            shutil.copymode(self._path, self._partial)
        self._partial.replace(self._path)

    def close(self) -> None:
        self._partial.unlink(missing_ok=True)


def claim_file(path: Path) -> Destination:
    """Claim a regular file, which appears or is replaced complete.

    Raises:
        OSError: It cannot be written.
    """
    return _File(path)


def replace(path: Path, content: str) -> None:
    """Write a file that appears or is replaced complete.

    Raises:
        OSError: It cannot be written.
    """
    target = claim_file(path)
    try:
        target.put(content)
    finally:
        target.close()


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other runs from changing what is in `folder` during the block.

    Raises:
        OSError: Another run holds it for too long.
    """
    if fcntl is None:
        yield  # type: ignore[unreachable]  # where there is no such module
        return
    # A lock on the folder itself leaves no file behind, and ends with the process.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    until = time.monotonic() + _LOCK_TIMEOUT
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _write(file: TextIO, content: str | bytes) -> None:
    """Write text, or bytes to what is below the text."""
    if isinstance(content, str):
        file.write(content)
    else:
        # Text that is still buffered would come after the bytes.
        file.flush()
        file.buffer.write(content)
