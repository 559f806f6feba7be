"""Functions that are right at their samples: the wrong ones among them are found beside these.

The modules in `corpus` are named by what the Functions in them are about.
"""

from __future__ import annotations

import re
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
    "GT107",
    "GT110",
    "GT111",
    "GT114",
    "GT120",
    "GT501",
    "GT503",
    "GT601",
)
FOUND = ("GT004", *ASKED)
FURTHER = ("GT112", "GT201", "GT202", "GT301", "GT401")

CORPUS = Path(__file__).with_name("corpus")
FUNCTION = re.compile(r"^class (\w+)\(Function\):$", re.MULTILINE)

FAST = 6
"""Functions of a module that are always explored, the first ones; the others are slow tests."""


def explored(path: Path, name: str) -> FunctionResult:
    names = functions(path)
    at_once = names[:FAST] if name in names[:FAST] else names[FAST:]
    return _explored(path, at_once)[name]


@cache
def _explored(path: Path, names: tuple[str, ...]) -> dict[str, FunctionResult]:
    paths = tuple(f"{path}::{name}" for name in names)
    report = check(check_options(paths=paths, explore="quick", select=ASKED + FURTHER))
    return {function.name: function for _, function in report.functions()}


@cache
def functions(path: Path) -> tuple[str, ...]:
    return tuple(FUNCTION.findall(path.read_text(encoding="utf-8")))


def members(kind: str) -> list[object]:
    return [
        pytest.param(
            path,
            name,
            id=f"{path.stem}::{name}",
            marks=[] if number < FAST else pytest.mark.slow,
        )
        for path in sorted((CORPUS / kind).glob("*.py"))
        for number, name in enumerate(functions(path))
    ]


@pytest.mark.parametrize(("path", "name"), members("wrong"))
def test_a_mistake_is_found_beside_the_sample_and_not_at_it(path: Path, name: str) -> None:
    found = explored(path, name)
    assert all(case.verdict.value == "pass" for case in found.cases)
    errors = [f for each in found.checks for f in each.findings if f.severity is not Severity.NOTE]
    assert {finding.rule for finding in errors} <= {*FOUND, *FURTHER}
    assert errors
    assert all("otherwise the same as case" in finding.message for finding in errors)


@pytest.mark.parametrize(("path", "name"), members("right"))
def test_what_a_right_function_assumes_is_not_held_against_it(path: Path, name: str) -> None:
    found = explored(path, name)
    assert found.verdict.value in ("pass", "skipped"), [f.findings for f in found.checks]
