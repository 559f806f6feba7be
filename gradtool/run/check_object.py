"""The report on one Function that was imported already, for test suites."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gradtool.checking.plan import plan_checkable
from gradtool.checking.unit_progress import UnitProgress
from gradtool.checking.worker_session import check_planned, listed
from gradtool.collect.checkable import Checkable
from gradtool.config.options import CheckOptions, Unwatched
from gradtool.policy.changes import RunSettings, apply
from gradtool.policy.pipeline import policies_of_run
from gradtool.results.report import ModuleResult, Report
from gradtool.run.runner import environment, left_out


def check_object(
    checkable: Checkable, cases: list[Any] | None, options: CheckOptions, started: float
) -> Report:
    """Check `checkable` in this process, in a run that began at `started` on the clock.

    Raises:
        UsageError: The options are wrong.
    """
    planned = plan_checkable(checkable, cases, options)
    progress = UnitProgress(planned.unit, Unwatched())
    progress.opened(listed(planned))
    function = progress.close(*check_planned(planned, progress)).function
    settings = planned.unit.settings
    report = Report(
        environment=environment(np.__version__, settings),
        seed=settings.seed,
        modules=(ModuleResult(path=planned.unit.shown, functions=(function,)),),
        left_out=left_out(settings),
        seconds=time.perf_counter() - started,
    )
    scope = RunSettings(units={planned.unit.node: planned.unit})
    return apply(policies_of_run(scope, comments=None), report)
