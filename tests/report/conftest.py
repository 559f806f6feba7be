"""A report made by hand that holds every verdict, severity and shape of evidence."""

import pytest

from gradtool.results.report import (
    Basis,
    CaseResult,
    CheckResult,
    Cost,
    Environment,
    Evidence,
    Finding,
    FunctionResult,
    JacobianBlock,
    LadderCurve,
    Location,
    ModuleResult,
    Report,
    RuleInfo,
    Severity,
    Source,
    Verdict,
)
from tests.report.reasons import skipped_check
from tests.report.schema_check import reports_obey_their_schema

__all__ = ["reports_obey_their_schema"]  # Of pytest: for every test below this folder.

PROVES = {"GT101": "gradient", "GT201": "double backward", "GT701": "device comparison"}
_DECLARED = "declared once_differentiable"


def passed(*rules: str) -> tuple[CheckResult, ...]:
    return tuple(
        CheckResult(rule=rule, verdict=Verdict.PASS, proves=PROVES.get(rule)) for rule in rules
    )


def skipped(*rules: str, reason: str) -> tuple[CheckResult, ...]:
    return tuple(skipped_check(rule, reason, PROVES.get(rule)) for rule in rules)


def found(finding: Finding, verdict: Verdict = Verdict.FAIL) -> CheckResult:
    return CheckResult(rule=finding.rule, verdict=verdict, findings=(finding,))


def linear() -> ModuleResult:
    case = CaseResult(
        name="inferred",
        arguments=("input: float64[3, 4]", "weight: float64[5, 4]", "bias: None"),
        source="inferred",
        checks=passed("GT003", "GT101", "GT102", "GT201", "GT202"),
        basis=Basis(evidence="exact and numeric"),
        cost=Cost(forward=21, backward=10),
        seconds=0.0124,
    )
    once = CaseResult(
        name="with-bias",
        arguments=("input: float64[3, 4]", "weight: float64[5, 4]", "bias: float64[5]"),
        source="config",
        checks=(*passed("GT101", "GT203"), *skipped("GT201", "GT202", reason=_DECLARED)),
        basis=Basis(
            evidence="numeric only",
            reason="forward leaves the engine at line 12 of linear.py: `item()`",
        ),
        cost=Cost(forward=9, backward=4),
        seconds=0.0031,
    )
    return ModuleResult(
        path="ops/linear.py",
        functions=(
            FunctionResult(
                name="Linear", location=Location(path="ops/linear.py", line=8), cases=(case,)
            ),
            FunctionResult(
                name="LinearOnce",
                location=Location(path="ops/linear.py", line=31),
                cases=(once,),
                declared=("once_differentiable",),
            ),
        ),
    )


def jacobian() -> JacobianBlock:
    """Diagonal, as of an elementwise function, with the wrong sign in every entry."""
    labels = [f"[{i}, {j}]" for i in range(2) for j in range(3)]
    slopes = [2.718281828, 1.0, 0.2231301601, 0.6065306597, 12.18249396, 4.48168907]
    right = tuple(
        tuple(slope if i == j else 0.0 for j in range(6)) for i, slope in enumerate(slopes)
    )
    return JacobianBlock(
        first_row=0,
        first_column=0,
        rows=6,
        columns=6,
        row_labels=tuple(f"output 0{label}" for label in labels),
        column_labels=tuple(labels),
        worst=(5, 5),
        analytic=tuple(tuple(0.0 - value for value in row) for row in right),
        numeric=tuple(("nan", *row[1:]) if i == 5 else row for i, row in enumerate(right)),
        difference=tuple(tuple(-2 * value + 0.0 for value in row) for row in right),
        error=tuple(tuple(3.1e-13 for _ in row) for row in right),
        wrong=tuple(tuple(value != 0 for value in row) for row in right),
    )


def wrong_exp() -> ModuleResult:
    location = Location(path="ops/wrong_exp.py", line=14)
    node = "ops/wrong_exp.py::WrongExp[inferred]"
    gradient = Finding(
        rule="GT101",
        name="wrong-gradient",
        severity=Severity.ERROR,
        node_id=f"{node}::GT101",
        message="gradient of output 0 with respect to x has the wrong sign "
        "in every entry of the block that was compared",
        location=location,
        evidence=Evidence(
            argument="x",
            output=0,
            input_index=(1, 2),
            output_index=(1, 2),
            analytic=-4.481689070338065,
            numeric=4.481689070338,
            error=3.1e-13,
            difference=8.963378140676,
            tolerance=4.5e-06,
            wrong=6,
            compared=6,
            jacobian=jacobian(),
            ladder=LadderCurve(
                steps=tuple(0.5 * 0.25**k for k in range(12)),
                quotients=tuple(4.481689070338 * (1 + (0.5 * 0.25**k) ** 2 / 6) for k in range(12)),
                noise=tuple(1e-15 / (0.5 * 0.25**k) for k in range(12)),
            ),
        ),
        source=Source(
            first=13,
            lines=(
                "    @staticmethod",
                "    def backward(ctx, grad_output):",
                "        (y,) = ctx.saved_tensors",
                '        return -grad_output * y  # <b>& not "safe"',
            ),
            column=9,
            end_column=17,
        ),
        hint="the analytic value is -1 times the numeric one: check the sign in backward",
        seed=7,
        replay=f"gradtool check '{node}' --select GT101 --seed 7",
    )
    kept = Finding(
        rule="GT506",
        name="saved-intermediate",
        severity=Severity.WARNING,
        node_id=f"{node}::GT506",
        message="forward saves an intermediate result, which double backward cannot see",
        location=location,
        hint="save the input or the output, or declare backward once_differentiable",
    )
    kink = Finding(
        rule="GT602",
        name="not-differentiable",
        severity=Severity.NOTE,
        node_id=f"{node}::GT602",
        message="2 of 6 elements of x lie at a kink and were left out",
        location=location,
        hint="shift the arguments of the case away from 0",
        seed=7,
    )
    case = CaseResult(
        name="inferred",
        arguments=("x: float64[2, 3]",),
        source="inferred",
        checks=(
            *passed("GT003", "GT004"),
            found(gradient),
            found(kept),
            found(kink),
            *skipped("GT201", "GT202", reason="GT101 failed"),
        ),
        cost=Cost(forward=30, backward=7),
        seconds=0.021,
    )
    function = FunctionResult(name="WrongExp", location=location, cases=(case,))
    return ModuleResult(path="ops/wrong_exp.py", functions=(function,))


def special() -> ModuleResult:
    location = Location(path="ops/special.py", line=40)
    node = "ops/special.py::ComplexPower[unit-circle]"
    complex_evidence = Evidence(
        argument="z",
        output=1,
        analytic="(1+2j)",
        numeric="(1-2j)",
        error="nan",
        difference="inf",
        tolerance=1e-06,
        wrong=1,
    )
    conjugate = Finding(
        rule="GT101",
        name="wrong-gradient",
        severity=Severity.ERROR,
        node_id=f"{node}::GT101",
        message="gradient of output 1 with respect to z is not conjugated",
        location=location,
        evidence=complex_evidence,
        seed=0,
        replay=f"gradtool check '{node}' --select GT101 --seed 0",
    )
    raised = Finding(
        rule="GT004",
        name="backward-raised",
        severity=Severity.ERROR,
        node_id="ops/special.py::Lgamma[inferred]::GT004",
        message="backward raised TypeError: unsupported operand type(s)\n  for *: 'NoneType'",
        location=Location(path="ops/special.py", line=77),
        detail='Traceback (most recent call last):\n  File "ops/special.py", line 77\n'
        "TypeError: unsupported operand type(s)\n",
    )
    no_case = Finding(
        rule="GT002",
        name="no-case",
        severity=Severity.ERROR,
        node_id="ops/special.py::Opaque::GT002",
        message="no arguments were found that forward accepts",
        location=Location(path="ops/special.py", line=90),
        hint="give it cases in gradtool.yaml, or a static method sample_inputs",
    )
    return ModuleResult(
        path="ops/special.py",
        functions=(
            FunctionResult(
                name="ComplexPower",
                location=location,
                cases=(
                    CaseResult(
                        name="unit-circle",
                        arguments=("z: complex128[3]",),
                        source="sample_inputs",
                        checks=(found(conjugate),),
                        cost=Cost(forward=1, backward=1),
                        seconds=1.234,
                    ),
                ),
            ),
            FunctionResult(
                name="Lgamma",
                location=Location(path="ops/special.py", line=70),
                cases=(
                    CaseResult(
                        name="inferred",
                        arguments=("x: float64[2, 3]",),
                        source="inferred",
                        checks=(
                            found(raised, Verdict.ERROR),
                            *skipped("GT101", reason="GT004 failed"),
                        ),
                        cost=Cost(forward=1, backward=1),
                        seconds=0.0004,
                    ),
                    CaseResult(
                        name="tiny",
                        arguments=("x: float64[1]",),
                        source="config",
                        checks=(
                            CheckResult(
                                rule="GT101",
                                verdict=Verdict.UNVERIFIED,
                                reason="the numeric derivative of x is only known to 3e-2",
                            ),
                        ),
                        cost=Cost(forward=400, backward=2),
                        seconds=75.0,
                    ),
                    CaseResult(
                        name="on-device",
                        arguments=("x: float64[4]",),
                        source="config",
                        checks=skipped("GT701", reason="no CUDA device"),
                    ),
                ),
            ),
            FunctionResult(
                name="Opaque",
                location=Location(path="ops/special.py", line=90),
                checks=(found(no_case, Verdict.ERROR),),
            ),
        ),
    )


def broken() -> ModuleResult:
    finding = Finding(
        rule="GT001",
        name="not-importable",
        severity=Severity.ERROR,
        node_id="ops/broken.py::GT001",
        message="SyntaxError: invalid syntax",
        location=Location(path="ops/broken.py", line=3),
        hint="python ops/broken.py shows the same error",
    )
    return ModuleResult(path="ops/broken.py", checks=(found(finding, Verdict.ERROR),))


def environment() -> Environment:
    return Environment(
        gradtool="0.1.0", python="3.12.1", numpy="2.4.6", platform="Linux-6.1-x86_64"
    )


def rules() -> tuple[RuleInfo, ...]:
    return (
        RuleInfo(
            code="GT101",
            name="wrong-gradient",
            severity=Severity.ERROR,
            summary="The gradient that backward returns differs from the derivative of forward.",
            page="The gradient differs.\n\nWrong example\n-------------\n\n"
            "    return grad_output * x**2\n\nHow to fix\n----------\n\nUse ``x`` & <y>.",
        ),
        RuleInfo(
            code="GT506",
            name="saved-intermediate",
            severity=Severity.WARNING,
            summary="forward saves an intermediate result.",
        ),
    )


@pytest.fixture
def report() -> Report:
    return Report(
        environment=environment(),
        command="gradtool check ops",
        seed=7,
        modules=(linear(), wrong_exp(), special(), broken()),
        configs=("ops/gradtool.yaml",),
        deselected=3,
        left_out=("GT502", "GT507"),
        notices=("ops/empty.py holds no Function",),
        rules=rules(),
        exit_code=1,
        seconds=76.3,
    )


@pytest.fixture
def passing_report() -> Report:
    return Report(
        environment=environment(),
        command="gradtool check ops",
        modules=(linear(),),
        seconds=0.02,
        exit_code=0,
    )
