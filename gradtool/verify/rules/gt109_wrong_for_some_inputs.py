"""The gradient is wrong, or missing, when only some inputs need one.

What it does
------------

Runs the Function with a single input requiring a gradient, for each input in turn, then with all
inputs but one, and compares the gradients with those of the run in which all inputs require one.
The rule is checked only if that run is right.

Why it matters
--------------

Freezing a layer, or training only a bias, takes these paths. They are the first to show a
``needs_input_grad`` index that counts tensors but not other arguments, or a tensor that is saved
for only one of the inputs.

Wrong example
-------------

    from gradtool import Function


    class Product(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, grad_output):
            x, y = ctx.saved_tensors
            grad_x = grad_y = None
            if ctx.needs_input_grad[0]:
                grad_x = grad_output * y
            if ctx.needs_input_grad[0]:
                grad_y = grad_output * x
            return grad_x, grad_y

Right example
-------------

    from gradtool import Function


    class Product(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, grad_output):
            x, y = ctx.saved_tensors
            grad_x = grad_y = None
            if ctx.needs_input_grad[0]:
                grad_x = grad_output * y
            if ctx.needs_input_grad[1]:
                grad_y = grad_output * x
            return grad_x, grad_y

How to fix
----------

``ctx.needs_input_grad`` has one entry for each argument of forward, tensor or not, in order.
Whenever an input requires a gradient, save what that gradient needs.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gradtool.results.report import Severity
from gradtool.verify.diagnosis.needed import misplaced
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, not_offered, passed, skipped
from gradtool.verify.rules._runs import failure_of_run, gradient_difference
from gradtool.verify.thresholds.rules import NEEDED_MOST_ARGUMENTS

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_HINT = "check the indices of needs_input_grad: it has an entry for each argument of forward"


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_check:
        return skipped(subject.nothing_to_check)
    inputs = subject.first.inputs
    if len(inputs) < 2:
        return not_offered("no second input")
    for when, needed in _subsets(subject, inputs[:NEEDED_MOST_ARGUMENTS]):
        flaw = _flaw(subject, when, needed)
        if flaw:
            return failed(_explained(subject, flaw))
    return passed()


def _explained(subject: Subject, flaw: Flaw) -> Flaw:
    """Name the line that asks for the wrong input, if it can be read."""
    lines = subject.function.lines
    found = next(misplaced(lines), None)
    names = {each.position: each.name for each in subject.function.arguments}
    if found is None or found.position not in names:
        return flaw
    asked = " and ".join(f"needs_input_grad[{at}]" for at in found.asked)
    hint = (
        f"line {found.line} computes the gradient of `{names[found.position]}`, argument "
        f"{found.position}, only if {asked}: test needs_input_grad[{found.position}] instead"
    )
    own = (each for each in lines if each.method in ("backward", "vjp"))
    path = next((each.path for each in own if each.line == found.line), None)
    return replace(flaw, hint=hint, path=path, line=found.line if path else None)


def _subsets(subject: Subject, inputs: tuple[int, ...]) -> Iterator[tuple[str, frozenset[int]]]:
    for one in inputs:
        name = subject.function.arguments[one].name
        yield f"when only `{name}` needs a gradient", frozenset([one])
    if len(inputs) > 2:
        for one in inputs:
            name = subject.function.arguments[one].name
            yield (
                f"when every input but `{name}` needs a gradient",
                frozenset(subject.first.inputs) - {one},
            )


def _flaw(subject: Subject, when: str, needed: frozenset[int]) -> Flaw | None:
    needs = [i in needed for i in range(len(subject.function.arguments))]
    found = subject.function.call(subject.first.primals, subject.first.cotangents, needs=needs)
    flaw = failure_of_run(found, when, _HINT)
    if flaw or found.gradients is None:
        return flaw
    baseline = subject.first.baseline.gradients or ()
    expected = [g if wanted else None for g, wanted in zip(baseline, needs, strict=True)]
    given = [g if wanted else None for g, wanted in zip(found.gradients, needs, strict=True)]
    return gradient_difference(subject, given, expected, when, _HINT)


RULE = Rule(
    code="GT109",
    name="wrong-for-some-inputs",
    summary="The gradient is wrong, or missing, when only some inputs need one.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=("GT101", "GT106", "GT107"),
    causes=("GT111",),
    check=_check,
)
