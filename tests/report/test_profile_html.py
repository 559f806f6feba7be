"""The page of a profile: a bar for each phase, in the colours of its operations."""

from __future__ import annotations

import re

import pytest

from gradtool.measure.summary import Summary
from gradtool.report.profile import html
from gradtool.report.profile.chart import chart
from gradtool.results.profile import CaseProfile, FunctionProfile, Operation, Phase, ProfileReport
from gradtool.results.report import Report


def phase(name: str, median: float, **operations: float) -> Phase:
    """A phase of `median` seconds, with the seconds in each operation."""
    time = Summary(median=median, p25=0.9 * median, p75=1.25 * median, n=20)
    listed = [Operation(name=key, calls=1, own=own, total=own) for key, own in operations.items()]
    return Phase(name=name, time=time, operations=tuple(listed))  # type: ignore[arg-type]


def function(*phases: Phase) -> FunctionProfile:
    return FunctionProfile(node="ops.py::Exp", cases=(CaseProfile(name="small", phases=phases),))


def widths(found: FunctionProfile, kind: str) -> list[str]:
    """The widths of the parts of a kind, in order."""
    made = chart(found)
    assert made is not None
    return [
        str(each.get("style")).removeprefix("width: ")
        for each in made.iter("span")
        if kind in each.get("class", "").split() and each.get("style")
    ]


def test_bars_are_as_long_as_their_medians_on_one_scale() -> None:
    found = function(phase("forward", 4e-6), phase("backward", 8e-6))
    # The longest upper quartile, 1.25 times 8, is the whole width.
    assert widths(found, "bar") == ["40.0%", "80.0%"]


def test_a_bar_is_divided_by_the_share_of_each_operation() -> None:
    found = function(phase("forward", 1e-6, exp=3e-7, mul=1e-7))
    assert widths(found, "share") == ["75.0%", "25.0%"]


def test_operations_beyond_the_colours_share_one() -> None:
    costs = {f"op{number}": 1e-6 / (number + 1) for number in range(8)}
    made = chart(function(phase("forward", 1e-6, **costs)))
    assert made is not None
    named = [each[0].tail for each in made.iter("li")]
    assert named == ["op0", "op1", "op2", "op3", "op4", "other operations"]


def test_a_phase_that_was_not_timed_has_no_bar() -> None:
    missing = Phase(name="double backward", unavailable="once_differentiable")
    assert len(widths(function(phase("forward", 1e-6), missing), "bar")) == 1
    assert chart(function(missing)) is None


@pytest.mark.parametrize("problem", ["", "<b>raised</b>"])
def test_the_page_scrolls_its_tables_and_escapes_its_text(report: Report, problem: str) -> None:
    timed = function(phase("forward", 1e-6, exp=1e-6))
    broken = FunctionProfile(node="ops.py::Odd", problem=problem)
    page = html.render(
        ProfileReport(environment=report.environment, budget=1, functions=(timed, broken))
    )
    assert page.count("<table") == len(re.findall(r'<div class="scroll" tabindex="0"><table', page))
    assert "<b>raised" not in page
