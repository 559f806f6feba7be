"""Progress bar of a transfer profile on a terminal; it vanishes at the end."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from gradtool.spelling import plural

_STEP = 0.1
"""Seconds between two drawings; there is no drawing thread, which would disturb the measurement."""


class TransferProgress:
    """A bar that fills as the budget is used, with the time left and what is under way.

    Implements `gradtool.transfer.plan.options.Watcher`. It draws only when called, which is
    between samples.
    """

    def __init__(self, console: Console, budget: float) -> None:
        """Draw on `console`, the console of a terminal."""
        self._progress = Progress(
            BarColumn(bar_width=24, style="dim", complete_style="none", finished_style="none"),
            TextColumn("{task.fields[left]}", markup=False),
            TextColumn("{task.description}", markup=False, style="dim"),
            console=console,
            transient=True,
            auto_refresh=False,
        )
        self._budget = budget
        self._task = self._progress.add_task("starting", total=budget, left="")
        self._drawn = 0.0
        self._stage = "starting"

    def __enter__(self) -> TransferProgress:
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

    def stage(self, what: str) -> None:
        """Show which part of the run is under way."""
        self._stage = what
        self._progress.update(self._task, description=what, refresh=True)

    def sampled(self, waiting: int, seconds: float) -> None:
        """Move the bar on, at most a few times a second."""
        now = time.monotonic()
        if now - self._drawn < _STEP:
            return
        self._drawn = now
        left = max(0.0, self._budget - seconds)
        self._progress.update(
            self._task,
            completed=min(seconds, self._budget),
            left=f"at most {left:.0f} s left",
            description=f"{self._stage}, {plural(waiting, 'cell')} to go",
            refresh=True,
        )
