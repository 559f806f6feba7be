"""Does the work of a run in this process, one piece after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.checking.unit import Discovery, DiscoveryResult, Unit, UnitResult
from gradtool.checking.unit_progress import UnitProgress
from gradtool.checking.worker_session import WorkerSession
from gradtool.config.options import Unwatched, Watcher
from gradtool.config.resources import require_device
from gradtool.run.executors.executor import UnitResults


class InProcess:
    """An `Executor` without processes: what ends one ends the run."""

    numpy = np.__version__

    def __init__(self) -> None:
        self._session = WorkerSession()

    def require_devices(self, devices: Sequence[str]) -> None:
        """Refuse devices that are not there."""
        for device in devices:
            require_device(device)

    def discover(self, discoveries: Sequence[Discovery]) -> list[DiscoveryResult]:
        """The answers to discoveries."""
        return [self._session.discover(discovery) for discovery in discoveries]

    def check(self, units: Sequence[Unit], watcher: Watcher) -> UnitResults:
        """Check one unit after the other."""
        results = UnitResults([None] * len(units))
        for place, unit in enumerate(units):
            progress = UnitProgress(unit, watcher)
            try:
                results.done[place] = progress.close(*self._session.check(unit, progress))
            except KeyboardInterrupt:
                results.done[place] = progress.close()
                results.interrupted = True
                break
        return results

    def collect(self, units: Sequence[Unit]) -> list[UnitResult]:
        """List the cases of one unit after the other."""
        return [self._collected(unit) for unit in units]

    def _collected(self, unit: Unit) -> UnitResult:
        progress = UnitProgress(unit, Unwatched())
        problems = self._session.check(unit, progress, only_list=True)
        # Nothing was checked, so all cases are still open; they are listed as they are.
        for case in progress.remaining:
            progress.case_finished(case)
        return progress.close(*problems)
