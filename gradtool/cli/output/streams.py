"""Standard streams that cannot turn a verdict into a crash.

A stream may be closed, may not encode what a user's message holds, or may lose its reader
half-way (``gradtool check ops | head``, or a closed terminal). None of this changes what the run
found out.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO


def prepare() -> None:
    """Make standard output and error accept any text, and exist."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            nothing = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - stays open
            setattr(sys, name, nothing)
        elif isinstance(stream, io.TextIOWrapper):
            codecs.register_error(_NARROW, _in_ascii)
            stream.reconfigure(errors=_NARROW)


_NARROW = "gradtool.narrow"
"""Name of the handler of characters that a stream cannot encode."""

_IN_ASCII = {"±": "+/-", "…": "~", "²": "^2", "√": "sqrt", "·": "*", "é": "e"}


def _in_ascii(error: UnicodeError) -> tuple[str | bytes, int]:
    """Spell the characters of gradtool's own texts in ASCII, and escape all others.

    The sign at the end of a line that was cut to the width of the terminal stays one column wide.
    """
    if isinstance(error, UnicodeEncodeError):
        character = error.object[error.start]
        if character in _IN_ASCII:
            return _IN_ASCII[character], error.start + 1
    return codecs.backslashreplace_errors(error)


@contextlib.contextmanager
def reader_may_leave(stream: TextIO) -> Iterator[None]:
    """Write to `stream` inside; if its reader goes away, the rest is dropped quietly.

    Raises:
        UsageError: It cannot be written for another reason, such as a full disk.
    """
    from gradtool.errors import UsageError

    try:
        yield
        stream.flush()
    except BrokenPipeError:
        _discard(stream)
    except OSError as error:
        is_left = has_hung_up(error)
        _discard(stream)
        if is_left:
            return
        raise UsageError(f"the output cannot be written: {error.strerror}") from None


def has_hung_up(error: OSError) -> bool:
    """Return True if the terminal was closed, so that nobody reads what the command writes."""
    return error.errno == errno.EIO and any(map(_is_device, (1, 2)))


def _is_device(descriptor: int) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISCHR(os.fstat(descriptor).st_mode)
    return False


class UntilHangUp:
    """A terminal whose closing ends the text on it, and nothing else."""

    def __init__(self, stream: TextIO) -> None:
        """Write to `stream`."""
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the stream."""
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write `text`, unless the terminal is closed."""
        with _until_hang_up():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream, unless the terminal is closed."""
        with _until_hang_up():
            self._stream.flush()


@contextlib.contextmanager
def _until_hang_up() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if not has_hung_up(error):
            raise


def _discard(stream: TextIO) -> None:
    """Point the stream at nothing, so that the interpreter's last flush succeeds too."""
    with contextlib.suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)
