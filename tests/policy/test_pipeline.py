"""The order of the policies."""

from __future__ import annotations

from pathlib import Path

from gradtool.config.options import Requirements
from gradtool.policy.baseline import Baseline
from gradtool.policy.changes import Policy, apply
from gradtool.policy.ignores import Comments
from gradtool.policy.pipeline import policies_of_history, policies_of_run
from gradtool.results.report import (
    Verdict,
)
from tests.policy import reports


def test_an_ignored_finding_makes_no_verdict_differ_between_seeds() -> None:
    settings = reports.ignored(GT004="known")
    raw = reports.report(
        reports.function(reports.check("GT004", Verdict.ERROR, reports.finding("GT004"))),
        reports.function(reports.check("GT004", Verdict.PASS)),
    )
    judged = apply(policies_of_run(reports.run_settings(settings), None, seeds=2), raw)
    assert judged.verdict is Verdict.PASS
    assert judged.notices == ("all verdicts are the same for 2 seeds",)


def test_the_steps_of_a_run_come_in_their_order() -> None:
    steps = policies_of_run(
        reports.run_settings(), Comments(), seeds=2, requirements=Requirements(functions=1)
    )
    assert [_name(step) for step in steps] == [
        "require_evidence",
        "hint_at_inferred_arguments",
        "doubt_lone_failures",
        "report_expired_tolerances",
        "apply_configured_ignores",
        "apply_comment_ignores",
        "list_tolerances",
        "fold_seeds",
        "warn_of_faults",
        "describe_rules",
        "enforce_requirements",
    ]


def test_the_baseline_comes_before_the_base_commit() -> None:
    baseline = Baseline(Path("gradtool-baseline.json").absolute())
    steps = policies_of_history(baseline, lambda _: None)
    assert [_name(step) for step in steps] == ["mark_known", "mark_known_at_base"]


def _name(step: Policy) -> str:
    """The function of the step, or the one that made it."""
    return step.__qualname__.partition(".")[0]
