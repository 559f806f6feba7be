"""The printed form of a run: its format, its colours and its stream."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, TextIO, cast

import msgspec

from gradtool.cli.output.streams import UntilHangUp, reader_may_leave
from gradtool.report.formats import renderer
from gradtool.results.workflow_commands import are_read, without_commands

if TYPE_CHECKING:
    from gradtool.config.options import Watcher
    from gradtool.report.terminal.console import Color
    from gradtool.results.report import ModuleResult, Report


_MACHINE_READ = ("concise", "github")


class Display(msgspec.Struct, frozen=True):
    """The options for what is printed."""

    form: str | None
    """None is text, and annotations as well where GitHub Actions reads the log."""
    color: Color
    verbosity: int
    durations: int | None = None
    """Number of the slowest rules and Functions to list; 0 for all, None for none."""

    def load(self) -> None:
        """Load what shows a report, while a run waits for its workers to load anyhow."""
        if self.form not in _MACHINE_READ:
            import_module("gradtool.report.terminal")

    def show(self, report: Report, stream: TextIO) -> None:
        """Print the report."""
        with reader_may_leave(stream):
            if self.form in _MACHINE_READ:
                stream.write(renderer(self.form)(report))
                return
            if not are_read():
                self._render(report, stream)
                return
            if self.form is None:
                from gradtool.report.formats.github import commands

                stream.writelines(f"{line}\n" for line in commands(report))
            text = io.StringIO()
            self._render(report, text)
            stream.write(without_commands(text.getvalue()))

    def _render(self, report: Report, stream: TextIO) -> None:
        from gradtool.report import terminal
        from gradtool.report.terminal.console import make_console

        console = make_console(stream, self.color)
        terminal.render(report, console, verbosity=self.verbosity, durations=self.durations)

    def show_collected(self, modules: tuple[ModuleResult, ...]) -> None:
        """Print the cases that a run would check."""
        from gradtool.report.terminal.console import make_console
        from gradtool.report.terminal.report import render_cases

        with reader_may_leave(sys.stdout):
            render_cases(modules, make_console(sys.stdout, self.color), quiet=self.verbosity < 0)

    @contextlib.contextmanager
    def watching(self) -> Iterator[Watcher | None]:
        """A watcher for the duration of a run: a progress bar on a terminal, or none.

        What the checked code prints goes to standard error, because standard output
        belongs to the report.
        """
        with contextlib.ExitStack() as stack:
            watcher = stack.enter_context(self._bar()) if self._draws() else None
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
            yield watcher

    def _draws(self) -> bool:
        return self.verbosity >= 0 and sys.stderr.isatty()

    def _bar(self) -> contextlib.AbstractContextManager[Watcher]:
        from gradtool.report.terminal.console import make_console
        from gradtool.report.terminal.progress import LiveProgress

        terminal = cast("TextIO", UntilHangUp(sys.stderr))
        return LiveProgress(make_console(terminal, self.color))
