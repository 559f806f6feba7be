"""The samples keep what they promise: the right ones pass, each wrong one trips its rule."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from gradtool.results.report import Finding, FunctionResult, ModuleResult, Report, Verdict
from gradtool.run.runner import check
from tests.options import check_options

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
WRONG = sorted((SAMPLES / "wrong").glob("*.py"))
RIGHT = sorted(path for path in SAMPLES.rglob("*.py") if path not in WRONG)

# The Functions of the seeds, by what they compute, so that none is lost unnoticed.
EXPECTED = {
    "exp.py": {"Exp"},
    "inplace.py": {"Inplace"},
    "jvp.py": {"Func"},
    "layer.py": {"Scale"},
    "linear.py": {"LinearFunction"},
    "materialize_grads.py": {"Func", "SimpleFunc"},
    "mul_constant/explained.py": {"MulConstant"},
    "mul_constant/plain.py": {"MulConstant"},
    "mul_constant/unmaterialized.py": {"MulConstant"},
    "multi_argument.py": {"Func", "TanhProduct"},
    "setup_context.py": {"Distance"},
    "sort.py": {"Func"},
}


@cache
def walked() -> Report:
    """One run over the folder, as a newcomer starts it."""
    return check(check_options(paths=(str(SAMPLES),)))


def relative(module: ModuleResult) -> str:
    return Path(module.path).resolve().relative_to(SAMPLES).as_posix()


def modules() -> dict[str, ModuleResult]:
    return {relative(module): module for module in walked().modules}


def function(module: str, name: str) -> FunctionResult:
    return next(found for found in modules()[module].functions if found.name == name)


def findings_of(module: ModuleResult) -> Iterator[Finding]:
    return Report(environment=walked().environment, modules=(module,)).findings()


def declared_rule(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    (rule,) = re.findall(r"Trips (GT\d{3})", docstring or "")
    return str(rule)


def test_a_walk_finds_every_function_and_leaves_out_the_wrong_ones() -> None:
    found = {path: {f.name for f in module.functions} for path, module in modules().items()}
    assert found == EXPECTED


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_a_right_sample_passes_every_check(path: Path) -> None:
    module = modules()[path.relative_to(SAMPLES).as_posix()]
    assert module.verdict is Verdict.PASS
    findings = [finding.message for finding in findings_of(module)]
    assert findings == []


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_the_gradient_of_a_right_sample_was_really_compared(path: Path) -> None:
    module = modules()[path.relative_to(SAMPLES).as_posix()]
    for found in module.functions:
        assert found.cases
        for case in found.cases:
            first_order = next(check for check in case.checks if check.rule == "GT101")
            assert first_order.verdict is Verdict.PASS, first_order.reason


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("inplace.py", "Inplace"),
        ("materialize_grads.py", "Func"),
        ("materialize_grads.py", "SimpleFunc"),
        ("multi_argument.py", "Func"),
        ("multi_argument.py", "TanhProduct"),
        ("sort.py", "Func"),
    ],
)
def test_once_differentiable_is_reported_as_declared(module: str, name: str) -> None:
    assert "once_differentiable" in function(module, name).declared


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("exp.py", "Exp"),
        ("linear.py", "LinearFunction"),
        ("mul_constant/plain.py", "MulConstant"),
        ("mul_constant/unmaterialized.py", "MulConstant"),
        ("setup_context.py", "Distance"),
    ],
)
def test_double_backward_of_a_sample_that_supports_it_passes(module: str, name: str) -> None:
    for case in function(module, name).cases:
        second_order = next(check for check in case.checks if check.rule == "GT201")
        assert second_order.verdict is Verdict.PASS, second_order.reason


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_a_wrong_sample_trips_exactly_the_rule_it_names(path: Path) -> None:
    report = check(check_options(paths=(str(path),)))
    assert {finding.rule for finding in report.findings()} == {declared_rule(path)}
    assert [module.verdict for module in report.modules] == [Verdict.FAIL]


def test_the_wrong_samples_are_found_when_their_folder_is_named() -> None:
    report = check(check_options(paths=(str(SAMPLES / "wrong"),)))
    assert {Path(module.path).name for module in report.modules} == {path.name for path in WRONG}


def test_each_wrong_sample_shows_another_rule() -> None:
    assert len({declared_rule(path) for path in WRONG}) == len(WRONG) == 4


@pytest.mark.parametrize("path", RIGHT + WRONG, ids=lambda path: path.stem)
def test_a_sample_reads_in_a_minute(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) <= 60
