"""The progress bar of a run, which vanishes when the run ends."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

from gradtool.report.terminal.console import VERDICTS
from gradtool.results.report import CaseResult, FunctionResult, Verdict


class LiveProgress:
    """A bar, the count of Functions done, the case under way and how many cases have failed.

    Implements `gradtool.config.options.Watcher`. Use as a context manager around the run;
    what the checked code prints meanwhile appears above the bar.
    """

    def __init__(self, console: Console) -> None:
        """Draw on `console`, which should be a terminal's."""
        self._progress = Progress(
            BarColumn(bar_width=24, style="dim", complete_style="none", finished_style="none"),
            TextColumn("{task.fields[count]}", markup=False),
            TextColumn("{task.fields[failed]}", markup=False, style=VERDICTS[Verdict.FAIL]),
            TextColumn(
                "{task.description}",
                markup=False,
                style="dim",
                table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1),
            ),
            console=console,
            transient=True,
            expand=True,
        )
        self._task = self._progress.add_task("loading", total=None, count="", failed="")
        self._functions = self._done = self._failed = 0

    def __enter__(self) -> LiveProgress:
        """Start drawing."""
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the bar off the screen."""
        self._progress.stop()

    def started(self, functions: int) -> None:
        """The number of Functions is known."""
        self._functions = functions
        self._progress.update(self._task, total=functions, count=f"0/{functions}")

    def case_started(self, node_id: str) -> None:
        """Show which case is under way."""
        self._progress.update(self._task, description=node_id)

    def case_finished(
        self,
        function: str,  # noqa: ARG002 - the protocol names it
        case: CaseResult,
    ) -> None:
        """Count a case that failed."""
        self._failed += case.verdict in (Verdict.FAIL, Verdict.ERROR)
        self._progress.update(self._task, failed=f"{self._failed} failed" if self._failed else "")

    def function_finished(
        self,
        path: str,  # noqa: ARG002 - the protocol names it
        function: FunctionResult,  # noqa: ARG002
    ) -> None:
        """Move the bar on."""
        self._done += 1
        self._progress.update(self._task, advance=1, count=f"{self._done}/{self._functions}")
