"""Hints, internal errors and rules that a report describes."""

from __future__ import annotations

from gradtool.policy.annotations import (
    describe_rules,
    hint_at_inferred_arguments,
    warn_of_faults,
)
from gradtool.policy.changes import apply
from gradtool.results.report import (
    OwnFault,
    Verdict,
)
from tests.policy import reports


def test_a_report_explains_itself() -> None:
    broken = reports.check("GT004", Verdict.ERROR, reports.finding("GT004", hint="look"))
    raw = reports.report(
        reports.function(broken, source="inferred"),
        faults=(OwnFault(node=reports.NODE, summary="Oops", traceback=""),),
    )
    judged = apply([hint_at_inferred_arguments, warn_of_faults, describe_rules], raw)
    (found,) = judged.findings()
    assert found.hint is not None
    assert found.hint.startswith("look; the arguments were inferred: ")
    assert judged.notices == ("warning: gradtool itself failed at m.py::F: Oops",)
    assert [rule.code for rule in judged.rules] == ["GT004"]


def test_a_package_that_backward_lacks_is_named() -> None:
    message = "backward raised X: some.part.slope is not installed; a stand-in was used instead"
    broken = reports.check("GT004", Verdict.ERROR, reports.finding("GT004", message=message))
    raw = reports.report(reports.function(broken, source="inferred"))
    (found,) = apply([hint_at_inferred_arguments], raw).findings()
    assert found.hint == "install the package that provides `some.part.slope`"
