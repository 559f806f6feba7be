"""``gradtool.check``: the gate inside people's own test suites."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

import gradtool
from gradtool import Case, Function, Verdict
from gradtool.errors import UsageError
from gradtool.results.report import Report
from gradtool.testing import assert_right


class Scale(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, factor: Any) -> Any:
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.factor, None


class Wrong(Scale):
    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g, None


def rules(report: Report) -> set[str]:
    return {finding.rule for finding in report.findings()}


def test_arguments_are_inferred_when_none_are_given() -> None:
    report = gradtool.check(Scale)
    assert report.verdict is Verdict.PASS
    (function,) = report.modules[0].functions
    assert function.name == "Scale"
    assert function.cases[0].arguments == ("x: float64[3, 4]", "factor: 0.75")


def test_a_wrong_function_fails_where_it_is_wrong() -> None:
    report = gradtool.check(Wrong, select=["GT101"], seed=4)
    assert report.verdict is Verdict.FAIL
    (finding,) = report.findings()
    assert Path(finding.location.path).name == "test_testing.py"
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert "def backward" in source[(finding.location.line or 0) - 1]
    assert finding.seed == 4
    assert finding.replay is not None
    assert "::Wrong[inferred]' --select GT101 --seed 4" in finding.replay


def test_cases_can_be_given() -> None:
    x = gradtool.randn(2, 3, dtype=gradtool.float64)
    report = gradtool.check(Wrong, [(x, 1.0), Case((x, 2.0), name="double")])
    first, second = report.modules[0].functions[0].cases
    assert (first.name, first.verdict) == ("case1", Verdict.PASS)
    assert (second.name, second.verdict) == ("double", Verdict.FAIL)
    assert [finding.replay for finding in report.findings()] == [None]


def test_the_arguments_given_are_not_touched() -> None:
    x = gradtool.randn(2, 3, dtype=gradtool.float64)
    before = x.tolist()
    gradtool.check(Scale, [(x, 2.0)])
    assert x.tolist() == before
    assert not x.requires_grad
    assert x.grad is None


def test_tolerances_rules_and_dtype_can_be_chosen() -> None:
    x = gradtool.ones(2, dtype=gradtool.float64)
    assert gradtool.check(Wrong, [(x, 1.001)], rtol=0.01).verdict is Verdict.PASS
    assert gradtool.check(Wrong, [(x, 1.001)]).verdict is Verdict.FAIL
    assert rules(gradtool.check(Wrong, ignore=["GT1"])) == set()
    report = gradtool.check(Scale, dtype="float32")
    assert report.modules[0].functions[0].cases[0].arguments[0] == "x: float32[3, 4]"


def test_apply_and_plain_callables_will_do() -> None:
    assert gradtool.check(Scale.apply).modules[0].functions[0].name == "Scale"

    def cube(x: Any) -> Any:
        return x * x * x

    report = gradtool.check(cube)
    assert report.verdict is Verdict.PASS
    assert report.modules[0].functions[0].name == "cube"


def test_nothing_given_is_no_pass() -> None:
    report = gradtool.check(Scale, [])
    assert report.verdict is Verdict.ERROR
    assert [finding.message for finding in report.findings()] == ["no cases were given"]


def test_what_is_no_case_is_told() -> None:
    report = gradtool.check(Scale, [3])
    assert [finding.message for finding in report.findings()] == [
        "a case is an object of type int instead of a tuple of arguments"
    ]


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(UsageError, match="--select: unknown rule 'GT9'"):
        gradtool.check(Scale, select=["GT9"])


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="neither a Function with a forward nor a callable"):
        gradtool.check(3)  # type: ignore[arg-type]  # the mistake under test


def test_a_right_function_passes_the_assertion() -> None:
    x = gradtool.randn(2, 3, dtype=gradtool.float64)
    assert_right(Scale, [(x, 1.5)])


def test_a_wrong_function_fails_the_assertion_in_gradtools_words() -> None:
    x = gradtool.randn(2, dtype=gradtool.float64)
    with pytest.raises(AssertionError) as failure:
        assert_right(Wrong, [Case((x, 3.0), name="thrice")], select=["GT101"])
    text = str(failure.value)
    assert "error GT101 wrong-gradient" in text
    assert "backward passes the gradient of `x * factor` (line 21) to `x`" in text
    assert "test_testing.py::Wrong[thrice]::GT101" in text
    assert text.splitlines()[-1].startswith("1 Function, 1 case")


def test_a_function_that_nothing_was_asked_of_fails_the_assertion() -> None:
    with pytest.raises(AssertionError, match="no cases were given"):
        assert_right(Scale, [])
    with pytest.raises(AssertionError, match="nothing was checked"):
        assert_right(Scale, select=["GT701"])


def test_a_warning_fails_the_assertion_when_it_is_strict() -> None:
    class Leaky(Scale):
        kept: ClassVar[list[Any]] = []

        @staticmethod
        def forward(ctx: Any, x: Any, factor: Any) -> Any:
            Leaky.kept.append(ctx)
            return Scale.forward(ctx, x, factor)

    assert_right(Leaky, select=["GT101", "GT510"])
    with pytest.raises(AssertionError, match="warning GT510"):
        assert_right(Leaky, select=["GT101", "GT510"], strict=True)


def test_a_tensor_in_place_of_cases_is_refused() -> None:
    x = gradtool.randn(2, 3, dtype=gradtool.float64)
    with pytest.raises(TypeError, match=r"write \[\(x,\)\] for a single one"):
        gradtool.check(Scale, x)
