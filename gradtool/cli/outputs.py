"""Files that ``--report FORMAT=PATH`` asks for.

Each is claimed before the work, so that a path which cannot be written is refused at once.
It is written beside its place and renamed when complete, so that a run which ends early
leaves neither half a report nor a damaged old one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from gradtool.cli.choices import choose
from gradtool.cli.streams import reader_may_leave
from gradtool.gate.options import UsageError
from gradtool.report.formats import FORMATS, Renderer
from gradtool.results import Report

STDOUT = "-"


class Output:
    """One report that was asked for: its renderer and its place."""

    def __init__(self, render: Renderer, target: str) -> None:
        """Claim `target` for what `render` will make of the report.

        Raises:
            UsageError: The target cannot be written.
        """
        self._render = render
        self.target = target
        self._partial: Path | None = None
        if target != STDOUT:
            with _explained(target):
                self._claim()

    def _claim(self) -> None:
        # Resolved, so that a symbolic link stays one and the file behind it is replaced.
        self._path = Path(self.target).resolve()
        if self._path.exists() and not self._path.is_file():
            # A pipe or a device cannot be replaced, only written to; a folder neither.
            self._path.open("ab").close()
            return
        partial = self._path.with_name(f".{self._path.name}.{os.getpid()}.partial")
        partial.touch(exist_ok=False)
        self._partial = partial

    def write(self, report: Report) -> None:
        """Render the report and put it in its place, complete.

        Raises:
            UsageError: The target could not be written after all.
        """
        text = self._render(report)
        if self.target == STDOUT:
            with reader_may_leave(sys.stdout):
                sys.stdout.write(text)
            return
        with _explained(self.target):
            self._put(text)

    def _put(self, text: str) -> None:
        if self._partial is None:
            self._path.write_text(text, encoding="utf-8")
            return
        self._partial.write_text(text, encoding="utf-8")
        if self._path.exists():
            shutil.copymode(self._path, self._partial)
        self._partial.replace(self._path)

    def discard(self) -> None:
        """Remove what was not put in place."""
        if self._partial is not None:
            self._partial.unlink(missing_ok=True)


@contextlib.contextmanager
def claimed(requests: Sequence[str]) -> Iterator[list[Output]]:
    """Claim every ``FORMAT=PATH`` of `requests` for the time of a run.

    Raises:
        UsageError: A request is malformed, names no known format or no writable path.
    """
    pairs = [_parsed(request) for request in requests]
    _refuse_repetition([target for _, target in pairs])
    with contextlib.ExitStack() as stack:
        outputs = []
        for name, target in pairs:
            output = Output(FORMATS[name], target)
            stack.callback(output.discard)
            outputs.append(output)
        yield outputs


def _parsed(request: str) -> tuple[str, str]:
    name, equals, target = request.partition("=")
    choose(name, list(FORMATS), "format for --report:")
    if not equals or not target:
        raise UsageError(f"--report {request}: no file named; write --report {name}=PATH")
    return name, target


def _refuse_repetition(targets: list[str]) -> None:
    for target in targets:
        if targets.count(target) > 1:
            raise UsageError(f"--report: two reports for {target}; give each its own file")


@contextlib.contextmanager
def _explained(target: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UsageError(f"--report: cannot write {target}: {reason}") from error
