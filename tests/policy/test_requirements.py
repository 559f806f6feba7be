"""Requirements that a run must meet."""

from __future__ import annotations

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
