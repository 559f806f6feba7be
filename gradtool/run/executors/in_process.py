"""Does the work of a run in this process, one piece after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.checking.unit import Done, Survey, Surveyed, Unit
from gradtool.checking.unit_progress import Account
from gradtool.checking.worker_session import Bench
from gradtool.config.options import Watcher
from gradtool.config.resources import require_device
from gradtool.run.executors.executor import Outcome
from gradtool.run.watching import Unwatched


class InProcess:
    """An `Executor` without processes: what ends one ends the run."""

    numpy = np.__version__

    def __init__(self) -> None:
        self._bench = Bench()

    def require_devices(self, devices: Sequence[str]) -> None:
        """Refuse devices that are not there."""
        for device in devices:
            require_device(device)

    def survey(self, surveys: Sequence[Survey]) -> list[Surveyed]:
        """The answers to surveys."""
        return [self._bench.survey(survey) for survey in surveys]

    def check(self, units: Sequence[Unit], watcher: Watcher) -> Outcome:
        """Check one unit after the other."""
        outcome = Outcome([None] * len(units))
        for place, unit in enumerate(units):
            account = Account(unit, watcher)
            try:
                outcome.done[place] = account.close(*self._bench.check(unit, account))
            except KeyboardInterrupt:
                outcome.done[place] = account.close()
                outcome.interrupted = True
                break
        return outcome

    def collect(self, units: Sequence[Unit]) -> list[Done]:
        """List the cases of one unit after the other."""
        return [self._collected(unit) for unit in units]

    def _collected(self, unit: Unit) -> Done:
        account = Account(unit, Unwatched())
        problems = self._bench.check(unit, account, only_list=True)
        for case in account.remaining:
            account.case_finished(case)
        return account.close(*problems)
