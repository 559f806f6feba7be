"""The progress bar of a run, which vanishes when the run ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from gradtool.report.terminal.console import VERDICTS
from gradtool.report.words import duration
from gradtool.results.report import CaseResult, FunctionResult, Verdict

_SLOW = 1.0
"""Seconds after which the time of a case is shown."""


class LiveProgress:
    """A bar, the count of Functions done, the time, the cases that failed and the one under way.

    Of several cases under way, the one that has run longest is named, with its time.

    Implements `gradtool.config.options.Watcher`. Use as a context manager around the run;
    what the checked code prints meanwhile appears above the bar.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        """Draw on `console`, which should be a terminal's."""
        self._clock = clock
        self._progress = Progress(
            BarColumn(bar_width=24, style="dim", complete_style="none", finished_style="none"),
            TextColumn("{task.fields[count]}", markup=False),
            _Live(self._times),
            TextColumn("{task.fields[failed]}", markup=False, style=VERDICTS[Verdict.FAIL]),
            _Live(self._under_way, Column(no_wrap=True, overflow="ellipsis", ratio=1)),
            console=console,
            transient=True,
            expand=True,
        )
        self._task = self._progress.add_task("", total=None, count="", failed="")
        self._functions = self._done = self._failed = 0
        self._began = clock()
        self._running: dict[str, float] = {}
        """When each case under way began, the earliest first."""
        self._is_loading = True

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
        self._is_loading = False
        self._began = self._clock()
        self._progress.update(self._task, total=functions, count=f"0/{functions}")

    def case_started(self, node_id: str) -> None:
        """Show which case is under way."""
        self._running[node_id] = self._clock()
        self._progress.refresh()

    def case_finished(self, function: str, case: CaseResult) -> None:
        """Count a case that failed."""
        # The file is not known; of two cases with one name, the earlier counts as this one.
        ending = f"::{function}[{case.name}]"
        node = next((each for each in self._running if each.endswith(ending)), "")
        self._running.pop(node, None)
        self._failed += case.verdict in (Verdict.FAIL, Verdict.ERROR)
        self._progress.update(self._task, failed=f"{self._failed} failed" if self._failed else "")

    def exploring(self, node_id: str, what: str) -> None:
        """Show what is explored, with the time since exploring began."""
        before = f"{node_id}[exploring "
        old = next((each for each in self._running if each.startswith(before)), "")
        self._running[f"{before}{what}]"] = self._running.pop(old, self._clock())

    def function_finished(self, path: str, function: FunctionResult) -> None:
        """Move the bar on."""
        # A case that was ended from outside has no result.
        ended = f"{path}::{function.name}["
        for node in [each for each in self._running if each.startswith(ended)]:
            del self._running[node]
        self._done += 1
        self._progress.update(self._task, advance=1, count=f"{self._done}/{self._functions}")

    def _times(self) -> str:
        """The time since the start, and the time left by the pace of the Functions done."""
        elapsed = self._clock() - self._began
        if not self._done or self._done == self._functions:
            return duration(elapsed)
        left = elapsed / self._done * (self._functions - self._done)
        return f"{duration(elapsed)}, about {duration(left)} left"

    def _under_way(self) -> str:
        if self._is_loading:
            return "loading"
        node, began = next(iter(self._running.copy().items()), ("", 0.0))
        seconds = self._clock() - began
        return f"{duration(seconds)} in {node}" if node and seconds >= _SLOW else node


class _Live(ProgressColumn):
    """A text that is computed whenever the bar is drawn."""

    def __init__(self, text: Callable[[], str], column: Column | None = None) -> None:
        super().__init__(column or Column(no_wrap=True))
        self._text = text

    def render(self, task: Task) -> Text:  # noqa: ARG002 - Rich's signature.
        """The text as it is now."""
        return Text(self._text(), style="dim")
