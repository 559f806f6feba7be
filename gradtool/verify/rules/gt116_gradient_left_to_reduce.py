"""A gradient has the shape of the output, and autograd sums it to the input's shape.

What it does
------------

Compares the shape of each gradient that backward returned with that of its input. If autograd had
to sum over axes that forward broadcast, this is a note, since the gradient is right.

Why it matters
--------------

The sum is silent, so it hides the fact that backward was not written for broadcasting: the same
code under ``vmap``, or called from another backward, returns the larger shape. A custom kernel
could also sum as it goes, without allocating the large array.

Wrong example
-------------

    from gradtool import Function, randn


    class Add(Function):
        @staticmethod
        def forward(ctx, x, bias):
            return x + bias

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output, grad_output

        @staticmethod
        def sample_inputs():
            yield randn(3, 4, requires_grad=True), randn(4, requires_grad=True)

Right example
-------------

    from gradtool import Function, randn


    class Add(Function):
        @staticmethod
        def forward(ctx, x, bias):
            return x + bias

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output, grad_output.sum(0)

        @staticmethod
        def sample_inputs():
            yield randn(3, 4, requires_grad=True), randn(4, requires_grad=True)

How to fix
----------

Sum over the axes that forward broadcast, or call ``grad.sum_to_size(x.shape)``.

Reference
---------

https://pytorch.org/docs/stable/notes/broadcasting.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.diagnosis.methods import method_trees, returned
from gradtool.verify.rules._contract import RUNS
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped
from gradtool.verify.thresholds.rules import REPEATED_CHARACTERS

if TYPE_CHECKING:
    from gradtool.verify.protocol.observation import Argument
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_check:
        return skipped(subject.nothing_to_check)
    flaws = tuple(_flaws(subject))
    return failed(*flaws) if flaws else passed()


def _flaws(subject: Subject) -> Iterator[Flaw]:
    raw = subject.first.baseline.raw or ()
    for argument in subject.function.arguments:
        if not argument.differentiable or argument.position >= len(raw):
            continue
        value = raw[argument.position].value
        if value is not None and value.shape != argument.shape:
            yield Flaw(
                message=f"gradient of `{argument.name}` has shape {list(value.shape)}, but "
                f"`{argument.name}` has shape {list(argument.shape)}: autograd sums it",
                hint=_advice(subject, argument),
                severity=Severity.NOTE,
            )


def _advice(subject: Subject, argument: Argument) -> str:
    """Say what to return in place of the gradient, by its name in backward."""
    trees = method_trees(subject.function.lines, ("backward", "vjp"))
    texts = {_text(values, argument.position) for tree in trees for values in returned(tree)}
    gradient = texts.pop() if len(texts) == 1 else None
    return (
        f"for `{argument.name}`, return `{gradient or _UNNAMED}.sum_to_size({argument.name}.shape)`"
    )


def _text(values: list[ast.expr], at: int) -> str | None:
    """The gradient as backward writes it; None for an expression that is long or missing."""
    if at >= len(values) or any(isinstance(each, ast.Starred) for each in values):
        return None
    text = ast.unparse(values[at])
    if isinstance(values[at], ast.Name):
        return text
    return f"({text})" if len(text) <= REPEATED_CHARACTERS else None


_UNNAMED = "grad"


RULE = Rule(
    code="GT116",
    name="gradient-left-to-reduce",
    summary="A gradient has the shape of the output, and autograd sums it to the input's shape.",
    severity=Severity.NOTE,
    page=__doc__,
    premises=(*RUNS, "GT102", "GT103", "GT101", "GT106"),
    check=_check,
)
