"""The gradient is off by more than rounding, but by less than the tolerance.

What it does
------------

Compares the gradient with the exact derivative that the engine finds for the recorded steps of
forward, provided that evaluations agree with it. To measure how both are rounded, gradtool changes
the last digits of the inputs and computes both again. A difference that is a thousand times larger
than the rounding, and the same at each of these points, is a mistake in a formula: most often a
constant with too few digits, or a tensor of constants made without a dtype, as in
``torch.tensor([0.3])``. A difference that disappears when float64 is the default dtype, although
the source makes no such tensor, is reported only as a note: an operation made a float32 tensor of
Python numbers, as ``torch.where(x > 0, 1.0, 0.3)`` does. Functions with noise, low precision or
their own tolerance are not checked.

Why it matters
--------------

GT101 allows a relative error of 1e-6, because evaluations of forward cannot resolve much smaller
errors. A truncated constant shifts every gradient in the same direction, and a comparison with the
framework's own op fails.

Wrong example
-------------

    import math

    from gradtool import Function


    class Area(Function):
        @staticmethod
        def forward(ctx, radius):
            ctx.save_for_backward(radius)
            return math.pi * radius**2

        @staticmethod
        def backward(ctx, grad_output):
            (radius,) = ctx.saved_tensors
            return grad_output * 2 * 3.141593 * radius

Right example
-------------

    import math

    from gradtool import Function


    class Area(Function):
        @staticmethod
        def forward(ctx, radius):
            ctx.save_for_backward(radius)
            return math.pi * radius**2

        @staticmethod
        def backward(ctx, grad_output):
            (radius,) = ctx.saved_tensors
            return grad_output * 2 * math.pi * radius

How to fix
----------

Write a constant once, with all its digits or as the expression it comes from, and use it in both
methods. If backward approximates on purpose, as the adjoint of an iteration that stops early does,
give the Function a tolerance with a reason.

Reference
---------

https://pytorch.org/docs/stable/notes/gradcheck.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from gradtool.results.report import Severity
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.diagnosis.constants import truncated_constant
from gradtool.verify.diagnosis.evidence import evidence, find_worst
from gradtool.verify.diagnosis.imprecision import (
    Imprecision,
    imprecise_gradients,
    is_of_default_dtype,
)
from gradtool.verify.diagnosis.methods import module_tree, takes_softplus
from gradtool.verify.diagnosis.patience import limited_patience
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, not_offered, passed, skipped
from gradtool.verify.thresholds.comparison import LEFT_OUT_BY_SOFTPLUS
from gradtool.verify.wording import apart, share

if TYPE_CHECKING:
    from gradtool.verify.comparison.derivatives import Comparison
    from gradtool.verify.subject import Subject

_HINT = "write a constant once, with all its digits, and use it in both methods"
_ROUNDED = "a Python number becomes a tensor of float32, the default dtype"
_HINT_DTYPE = "give the tensor that holds constants the dtype of an argument"
_OF_LIST = re.compile(r"(as_)?tensor|asarray")
_CREATING = re.compile(r"(lin|log)space|r?fftfreq|\w+_window")
"""Match the functions that make a tensor of numbers, in the default dtype unless they get one."""


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    judgement = subject.given
    if judgement.worst is not Decision.PASS:
        return skipped("the gradient is not known to be right")
    if all(comparison.exact is None for comparison in judgement.comparisons):
        return not_offered("no exact derivative")
    flaws = list(_flaws(subject))
    return failed(*flaws) if flaws else passed()


def _flaws(subject: Subject) -> Iterator[Flaw]:
    at, comparisons = subject.given.at, subject.given.comparisons
    for found in imprecise_gradients(at, comparisons, subject.seed):
        if found.part < LEFT_OUT_BY_SOFTPLUS and takes_softplus(subject.function.lines):
            continue
        if is_of_default_dtype(at, found):
            yield _flaw(subject, found, rounded=True)
        else:
            yield _flaw(subject, found, constant=truncated_constant(subject.function.lines))


def _flaw(
    subject: Subject, found: Imprecision, *, rounded: bool = False, constant: str | None = None
) -> Flaw:
    # Shown as wrong, though GT101 lets them pass.
    decision = np.where(found.chosen, Decision.FAIL, found.comparison.decision)
    comparison = replace(found.comparison, decision=decision)
    name = subject.function.arguments[comparison.argument].name
    worst = find_worst(comparison, found.chosen)
    analytic, exact = _values(comparison, worst.row, worst.column)
    why = constant or "analytic {}, exact {}".format(*apart(analytic, exact))
    is_created = rounded and _creates_without_dtype(subject)
    step = None
    if not rounded and not constant:
        with limited_patience():
            step = subject.repairs.explanation(comparison, name)
    return Flaw(
        message=f"gradient of `{name}` differs from the derivative by {found.part:.2g} of its size"
        f"{share(comparison, worst)}: {_ROUNDED if rounded else why}",
        evidence=evidence(comparison, worst, name),
        hint=_HINT_DTYPE if is_created else _HINT if constant else step.text if step else None,
        step=(step.path, step.line) if step else None,
        severity=Severity.NOTE if rounded and not is_created else None,
    )


def _creates_without_dtype(subject: Subject) -> bool:
    """Return True if a method of the class makes a tensor of numbers without a dtype."""
    places = {line.path: line.line for line in subject.function.lines}
    return any(
        _creates_single(node)
        for path, line in places.items()
        for method in _methods(path, line)
        for node in ast.walk(method)
    )


def _creates_single(node: ast.AST) -> bool:
    """Return True for a call that makes a tensor of several numbers in the default dtype."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=keywords):
            is_given = any(keyword.arg == "dtype" for keyword in keywords)
            is_list = bool(args) and isinstance(args[0], ast.List | ast.Tuple | ast.ListComp)
            is_made = _CREATING.fullmatch(name) or (is_list and _OF_LIST.fullmatch(name))
            return bool(is_made) and not is_given
    return False


def _methods(path: str, line: int) -> Iterator[ast.FunctionDef]:
    """The methods of the innermost class around a line, but for the one that gives the cases."""
    tree = module_tree(path)
    around = [
        node
        for node in (ast.walk(tree) if tree else ())
        if isinstance(node, ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    for node in around[-1].body if around else ():
        if isinstance(node, ast.FunctionDef) and node.name != "sample_inputs":
            yield node


def _values(comparison: Comparison, row: int, column: int) -> tuple[float, float]:
    assert comparison.exact is not None
    return float(comparison.analytic[row, column]), float(comparison.exact[row, column])


RULE = Rule(
    code="GT118",
    name="imprecise-gradient",
    summary="The gradient is off by more than rounding, but by less than the tolerance.",
    severity=Severity.WARNING,
    page=__doc__,
    premises=("GT101", "GT106", "GT601"),
    check=_check,
)
