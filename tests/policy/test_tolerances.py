"""Tolerances that people give: why, until when, and that every run tells of them."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from gradtool import Case
from gradtool.config.settings import Settings
from gradtool.errors import UsageError
from gradtool.policy import tolerances
from gradtool.policy.tolerances import list_tolerances, report_expired_tolerances
from gradtool.report.summary import summary_line
from gradtool.results.report import (
    Finding,
    Relaxation,
    Report,
    Verdict,
)
from gradtool.run.runner import check
from tests.conftest import Write
from tests.options import check_options
from tests.policy import reports

ROUNDED = """
from gradtool import Function

class Radians(Function):
    @staticmethod
    def forward(ctx, degrees):
        return degrees * (3.141592653589793 / 180)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0.01745
"""
"""Off by 2e-4 of the gradient."""

TODAY = date(2026, 5, 5)
YESTERDAY = TODAY - timedelta(days=1)


@pytest.fixture(autouse=True)
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tolerances, "_today", lambda: TODAY)


def run(**options: object) -> Report:
    select = ("GT101", "GT511", "GT512")
    return check(check_options(paths=("ops.py",), **{"select": select, **options}))  # type: ignore[arg-type]


def found(**options: object) -> list[Finding]:
    return list(run(**options).findings())


def relaxations(report: Report) -> list[Relaxation | None]:
    return [case.relaxed for _, function in report.functions() for case in function.cases]


def config(function: str) -> str:
    return f"version: 1\nfunctions:\n  Radians: {function}\n"


def test_a_run_tells_of_the_tolerances_that_hold(write: Write) -> None:
    said = "{rtol: 1e-3, reason: the kernel rounds, expires: 2999-12-31}"
    write({"ops.py": ROUNDED, "gradtool.yaml": config(said)})
    report = run()
    assert list(report.findings()) == []
    assert relaxations(report) == [
        Relaxation(rtol=1e-3, reason="the kernel rounds", expires="2999-12-31")
    ]
    assert report.notices == (
        "tolerance rtol 0.001 applies to ops.py::Radians[inferred] "
        "(the kernel rounds; until 2999-12-31)",
    )


def test_a_tolerance_without_words_and_one_of_the_run_are_told_too(write: Write) -> None:
    write({"ops.py": ROUNDED, "gradtool.yaml": config("{rtol: 1e-3}")})
    assert run().notices == ("tolerance rtol 0.001 applies to ops.py::Radians[inferred]",)
    assert run(rtol=0.5).notices == ("tolerance rtol 0.5 applies to ops.py::Radians[inferred]",)
    write({"gradtool.yaml": "version: 1\ncheck: {atol: 0.5}\n"})
    assert run().notices == ("tolerance atol 0.5 applies to ops.py::Radians[inferred]",)
    write({"gradtool.yaml": "version: 1\n"})
    assert run().notices == ()


def test_many_cases_are_counted_and_a_case_has_its_own_words(write: Write) -> None:
    plain = ", ".join(f"{{args: [{{shape: [{n}]}}]}}" for n in (2, 3, 4, 6))
    own = "{name: own, args: [{shape: [5]}], rtol: 2e-3, reason: longer}"
    said = f"{{rtol: 1e-3, reason: short, cases: [{plain}, {own}]}}"
    write({"ops.py": ROUNDED, "gradtool.yaml": config(said)})
    assert run().notices == (
        "tolerance rtol 0.001 applies to 4 cases (short)",
        "tolerance rtol 0.002 applies to ops.py::Radians[own] (longer)",
    )


def test_one_that_has_expired_is_an_error_and_holds_all_the_same(write: Write) -> None:
    said = f"{{rtol: 1e-3, reason: the kernel rounds, expires: {YESTERDAY}}}"
    write({"ops.py": ROUNDED, "gradtool.yaml": config(said)})
    (finding,) = found()
    assert finding.node_id == "ops.py::Radians[inferred]::GT512"
    assert finding.severity.value == "error"
    assert finding.message == (
        f"tolerance rtol 0.001 of case inferred expired on {YESTERDAY} (the kernel rounds)"
    )
    assert finding.location.line == 4


def test_a_case_with_an_expired_tolerance_has_failed_and_not_passed_too(write: Write) -> None:
    cases = "cases: [{args: [{shape: [2]}]}, {args: [{shape: [3]}]}]"
    write(
        {
            "ops.py": ROUNDED,
            "gradtool.yaml": config(f"{{rtol: 1e-3, expires: {YESTERDAY}, {cases}}}"),
        }
    )
    assert "2 cases: 1 passed, 1 failed, 0 unverified" in summary_line(run())


def test_its_last_day_is_still_its_own(write: Write) -> None:
    write({"ops.py": ROUNDED, "gradtool.yaml": config(f"{{rtol: 1e-3, expires: {TODAY}}}")})
    assert found() == []


def test_a_flag_in_its_place_asks_nothing_of_its_day(write: Write) -> None:
    write({"ops.py": ROUNDED, "gradtool.yaml": config(f"{{rtol: 1e-3, expires: {YESTERDAY}}}")})
    assert found(rtol=1e-3) == []
    assert [each.rule for each in found(rtol=1e-9)] == ["GT101"]


def test_several_seeds_tell_it_once(write: Write) -> None:
    write({"ops.py": ROUNDED, "gradtool.yaml": config(f"{{rtol: 1e-3, expires: {YESTERDAY}}}")})
    (finding,) = found(flake=2)
    assert finding.message == f"tolerance rtol 0.001 of case inferred expired on {YESTERDAY}"


def test_one_far_above_what_is_needed_is_told_of(write: Write) -> None:
    write({"ops.py": ROUNDED, "gradtool.yaml": config("{rtol: 1e-1, reason: to be safe}")})
    (finding,) = found()
    assert finding.rule == "GT511"
    assert "rtol 0.1 is more than ten times larger than needed" in finding.message


def test_one_for_a_reason_can_be_ignored(write: Write) -> None:
    said = f"{{rtol: 1e-3, expires: {YESTERDAY}, ignore: {{GT512: it is mended next week}}}}"
    write({"ops.py": ROUNDED, "gradtool.yaml": config(said)})
    assert found() == []
    assert [each.rule for each in found(no_ignores=True)] == ["GT512"]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("{rtol: 1e-3, expires: soon}", "must be a date such as 2027-01-31, got 'soon'"),
        ("{rtol: 1e-3, expires: 2027-02-30}", "must be a date such as 2027-01-31"),
        ("{rtol: 1e-3, expires: 20270131}", "must be a date such as 2027-01-31, got 20270131"),
        ("{rtol: 1e-3, reason: 3}", "functions.Radians.reason must be a string, got 3"),
        ("{rtol: 1e-3, reson: x}", "did you mean 'reason'?"),
        (
            "{expires: 2027-01-31}",
            "functions.Radians.expires applies only to a tolerance: add atol or rtol",
        ),
        (
            "{cases: [{args: [1.0], reason: x}]}",
            "functions.Radians.cases[0].reason applies only to a tolerance: add atol or rtol",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_by_line(write: Write, said: str, message: str) -> None:
    write({"ops.py": ROUNDED, "gradtool.yaml": config(said)})
    with pytest.raises(UsageError) as caught:
        run()
    assert str(caught.value).startswith("gradtool.yaml:3: ")
    assert message in str(caught.value)


def test_a_case_in_python_says_the_same(write: Write) -> None:
    yields = """
    @staticmethod
    def sample_inputs():
        from gradtool import Case, randn
        x = randn(3, requires_grad=True)
        yield Case((x,), rtol=1e-3, reason="the kernel rounds", expires="2020-01-31")
"""
    write({"ops.py": ROUNDED + yields})
    report = run()
    assert [finding.rule for finding in report.findings()] == ["GT512"]
    assert relaxations(report) == [
        Relaxation(rtol=1e-3, reason="the kernel rounds", expires="2020-01-31")
    ]


def test_a_day_of_a_case_is_a_date() -> None:
    assert Case((), expires=date(2027, 1, 31)).expires == date(2027, 1, 31)
    with pytest.raises(ValueError, match="expires must be a date such as '2027-01-31', got 'soon'"):
        Case((), expires="soon")


def test_an_expired_tolerance_is_reported_and_one_in_force_is_listed() -> None:
    relaxed = Relaxation(atol=0.5, reason="rounds", expires="2001-01-01")
    raw = reports.report(reports.function(reports.check("GT101", Verdict.PASS), relaxed=relaxed))
    judged = report_expired_tolerances(reports.run_settings(Settings(codes=("GT512",))))(raw)
    (late,) = judged.findings()
    assert late.message == "tolerance atol 0.5 of case c expired on 2001-01-01 (rounds)"
    assert list(report_expired_tolerances(reports.run_settings())(raw).findings()) == []
    line = "tolerance atol 0.5 applies to m.py::F[c] (rounds; until 2001-01-01)"
    assert list_tolerances(raw).notices == (line,)
