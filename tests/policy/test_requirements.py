"""Requirements that a run must meet."""

from __future__ import annotations

import msgspec

from gradtool.config.options import Requirements
from gradtool.policy.requirements import enforce_requirements
from gradtool.results.report import (
    Verdict,
)
from tests.policy import reports


def test_requirements_that_are_not_met_are_listed_once() -> None:
    policy = enforce_requirements(Requirements(functions=2))
    judged = policy(policy(reports.report(reports.function(reports.check("GT101", Verdict.PASS)))))
    assert (
        judged.unmet
        == judged.notices
        == ("--require-functions 2: only 1 Function had a gradient compared",)
    )


def test_a_run_that_leaves_out_the_gradient_says_so() -> None:
    passed = reports.check("GT102", Verdict.PASS)
    ran = reports.report(reports.function(passed, compared=0))
    ran = msgspec.structs.replace(ran, left_out=("GT101",))
    policy = enforce_requirements(Requirements(functions=1))
    assert policy(ran).unmet == (
        "--require-functions 1: only 0 Functions had a gradient compared, and GT101 is excluded by "
        "--select or --ignore",
    )
