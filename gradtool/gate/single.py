"""The report on one Function that was imported already, for test suites."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gradtool.gate.account import Account
from gradtool.gate.bench import check_planned, listed
from gradtool.gate.options import CheckOptions
from gradtool.gate.plan import plan_subject
from gradtool.gate.relaxing import in_force
from gradtool.gate.rulebook import rulebook
from gradtool.gate.runner import environment, left_out
from gradtool.gate.subject import Subject
from gradtool.gate.watching import Unwatched
from gradtool.results import ModuleResult, Report


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
