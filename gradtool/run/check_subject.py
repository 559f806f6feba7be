"""The report on one Function that was imported already, for test suites."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gradtool.checking.plan import plan_subject
from gradtool.checking.unit_progress import Account
from gradtool.checking.worker_session import check_planned, listed
from gradtool.collect.subject import Subject
from gradtool.config.options import CheckOptions
from gradtool.policy.rule_infos import rulebook
from gradtool.policy.tolerances import in_force
from gradtool.results.report import ModuleResult, Report
from gradtool.run.runner import environment, left_out
from gradtool.run.watching import Unwatched


def check_subject(
    subject: Subject, cases: list[Any] | None, options: CheckOptions, started: float
) -> Report:
    """Check `subject` in this process, in a run that began at `started` on the clock.

    Raises:
        UsageError: The options are wrong.
    """
    planned = plan_subject(subject, cases, options)
    account = Account(planned.unit, Unwatched())
    account.opened(listed(planned))
    function = account.close(*check_planned(planned, account)).function
    settings = planned.unit.settings
    modules = (ModuleResult(path=planned.unit.shown, functions=(function,)),)
    return Report(
        environment=environment(np.__version__, settings),
        seed=settings.seed,
        modules=modules,
        notices=tuple(in_force(modules)),
        left_out=left_out(settings),
        rules=rulebook(modules),
        seconds=time.perf_counter() - started,
    )
