"""Functions that are right at their samples: the wrong ones among them are found beside these."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from gradtool.results.report import FunctionResult, Severity
from gradtool.run.runner import check
from tests.options import check_options

ASKED = (
    "GT101",
    "GT102",
    "GT103",
    "GT104",
    "GT105",
    "GT106",
    "GT110",
    "GT111",
    "GT114",
    "GT120",
    "GT501",
)
FOUND = ("GT004", "GT101", "GT103", "GT105", "GT106", "GT110", "GT111", "GT114", "GT120", "GT501")
FURTHER = ("GT201", "GT202", "GT301", "GT401")

CORPUS = Path(__file__).with_name("corpus")


@cache
def explored(name: str) -> dict[str, FunctionResult]:
    report = check(
        check_options(paths=(str(CORPUS / name),), explore="quick", select=ASKED + FURTHER)
    )
    return {function.name: function for _, function in report.functions()}


FAST = (
    "first",
    "ninth",
    "twelfth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
    "twentyfirst",
    "axes",
    "ends",
)
"""The corpora that are always explored; the others are when there is time."""


def members(kind: str) -> list[object]:
    return [
        pytest.param(
            path.name,
            line.split()[1].partition("(")[0],
            id=line.split()[1].partition("(")[0],
            marks=[] if path.stem.endswith(FAST) else pytest.mark.slow,
        )
        for path in sorted(CORPUS.glob(f"{kind}_*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("class ") and line.endswith("(Function):")
    ]


@pytest.mark.parametrize(("module", "name"), members("wrong"))
def test_a_mistake_beside_the_sample_is_found(module: str, name: str) -> None:
    found = explored(module)[name]
    errors = [f for each in found.checks for f in each.findings if f.severity is not Severity.NOTE]
    assert {finding.rule for finding in errors} <= {*FOUND, *FURTHER}
    assert errors
    assert all("otherwise the same as case" in finding.message for finding in errors)


@pytest.mark.parametrize(("module", "name"), members("wrong"))
def test_none_is_wrong_at_its_sample(module: str, name: str) -> None:
    found = explored(module)[name]
    assert all(case.verdict.value == "pass" for case in found.cases)


@pytest.mark.parametrize(("module", "name"), members("right"))
def test_what_a_right_function_assumes_is_not_held_against_it(module: str, name: str) -> None:
    found = explored(module)[name]
    assert found.verdict.value in ("pass", "skipped"), [f.findings for f in found.checks]
