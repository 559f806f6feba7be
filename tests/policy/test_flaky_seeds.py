"""Several seeds of one Function folded into one result."""

from __future__ import annotations

import msgspec

from gradtool.policy.flaky_seeds import fold_seeds
from gradtool.results.report import (
    FunctionResult,
    Verdict,
)
from tests.policy import reports


def test_unverified_differs_from_passed_and_failed_between_seeds() -> None:
    raw = reports.report(
        reports.function(reports.check("GT101", Verdict.PASS)),
        reports.function(reports.check("GT101", Verdict.UNVERIFIED, reason="noise")),
        reports.function(reports.check("GT101", Verdict.SKIPPED)),
    )
    folded = fold_seeds(reports.run_settings(), 3)(raw)
    reason = "unverified for 1 of 3 seeds: 3; at seed 3: noise"
    assert reports.checks(folded) == [("GT101", Verdict.UNVERIFIED, reason)]
    assert folded.notices == ("GT101 at m.py::F[c] unverified for 1 of 3 seeds: 3",)


def test_the_durations_of_all_seeds_are_added() -> None:
    plain = reports.function(reports.check("GT101", Verdict.PASS))
    case = msgspec.structs.replace(plain.cases[0], durations={"GT101": 1.0, "GT201": 2.0})
    timed = msgspec.structs.replace(plain, cases=(case,), exploring=4.0)
    folded = fold_seeds(reports.run_settings(), 2)(reports.report(timed, timed))
    (function,) = folded.modules[0].functions
    assert function.cases[0].durations == {"GT101": 2.0, "GT201": 4.0}
    assert function.exploring == 8.0


def test_seeds_that_an_interrupt_left_out_are_not_counted() -> None:
    nothing = FunctionResult(name="F", location=reports.HERE)
    failed = reports.function(reports.check("GT101", Verdict.FAIL, reports.finding()))
    folded = fold_seeds(reports.run_settings(), 2)(
        reports.report(nothing, failed, interrupted=True)
    )
    (found,) = folded.findings()
    assert found.message == "failed for the only seed; at seed 3: it is wrong"
    assert (
        fold_seeds(reports.run_settings(), 2)(
            reports.report(nothing, nothing, interrupted=True)
        ).modules
        == ()
    )
