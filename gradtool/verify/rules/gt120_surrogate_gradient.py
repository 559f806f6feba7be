"""The gradient differs from the derivative of forward, apparently on purpose.

What it does
------------

If GT101, GT107 or GT110 would reject a gradient, gradtool looks for a sign that it is meant as a
surrogate. There are six such signs. First, forward is a step function (rounding, a sign, a spike):
its derivative is zero wherever it exists, so any gradient is a surrogate. If forward computes the
size of the steps from the input, as a quantizer may from the maximum, the gradient counts as a
surrogate only if backward passes the whole gradient on. Second, forward returns an input unchanged:
the Function exists for its gradient, which it reverses, scales, masks, clips, perturbs or adds
something to. Third, forward clamps and saves no mask, and backward passes the whole gradient on.
Fourth, forward ignores every argument that gets a gradient, so both its result and the gradient
were computed elsewhere. Fifth, a docstring says that backward propagates relevance (LRP), which is
not a gradient. Sixth, a docstring speaks of a stop-gradient, and what backward returns is the
derivative times a share below one, the same for all entries of an output. Seventh, a docstring says
that a value is treated as a constant, and backward treats the result of a step of forward as one.
Any other difference is a mistake and is still reported as GT101, including one where forward is
flat, or returns its input, only near the point of the case, as relu does. If forward is a step
function, a slope argument that only backward uses counts as part of the surrogate. So does what is
added to the derivative by the input, if the gradient of a threshold takes it away again.

Why it matters
--------------

The derivative of a step function trains nothing, so its gradient has to be something else. With a
declaration, neither the reader nor gradtool has to guess. gradtool still checks a declared gradient
for shape, linearity in the cotangent, hidden state and layouts, and the gradients of all other
inputs must still be exact.

Wrong example
-------------

    from gradtool import Function


    class Round(Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output

Right example
-------------

    from gradtool import Function


    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * grad_output * x

How to fix
----------

A docstring of the Function that names the surrogate, such as "straight-through estimator", or says
that backward is not the derivative by design, turns the warning into a note, and so does that of a
module with no other Function. If the surrogate is
intended, declare it in `gradtool.yaml`, under `functions`:
`Round: {surrogate: [x], reason: trains through the rounding}`. If it is the derivative of another
function in the module, name that: `surrogate_of: soft_round` compares the gradient with it. If the
gradient is not linear in the cotangent, or is random, also ignore GT107 or GT110, as the finding
says.

Reference
---------

Bengio, Leonard and Courville, "Estimating or Propagating Gradients Through Stochastic Neurons for
Conditional Computation", 2013, for straight-through estimators. Neftci, Mostafa and Zenke,
"Surrogate Gradient Learning in Spiking Neural Networks", 2019.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.diagnosis.gated_gradients import INJECTED
from gradtool.verify.diagnosis.stopped_gradients import SAYS_STOPPED, STOPPED
from gradtool.verify.diagnosis.surrogate_gradients import (
    RELEVANCE,
    REVERSAL,
    SAYS_PASSED,
    SAYS_RELEVANCE,
    STRAIGHT_THROUGH,
    SURROGATE,
)
from gradtool.verify.rules._contract import KEEPS_CONTRACT
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped
from gradtool.verify.wording import listed

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    flaws = tuple(_flaws(subject))
    if flaws:
        return failed(*flaws)
    names = _names(subject, subject.declared)
    return passed(f"the gradient of {names} is declared a surrogate" if names else None)


def _flaws(subject: Subject) -> Iterator[Flaw]:
    found = subject.recognized
    for kind in dict.fromkeys(found.values()):
        alike = [argument for argument, other in found.items() if other == kind]
        is_said = _is_said(kind, subject.function.docstrings)
        yield Flaw(
            message=f"the gradient of {_names(subject, alike)} is not the derivative of forward:"
            f" it {'is' if is_said else 'looks like'} {kind}"
            f"{', as a docstring says' if is_said else ''}",
            hint=f"{_DECLARE}\n{_declaration(subject)}",
            severity=Severity.NOTE if is_said else None,
        )


_DECLARE = "if this is intended, declare it in gradtool.yaml, under functions:"

_SAYS_SURROGATE = re.compile(
    rf"{SAYS_PASSED.pattern}|surrogate|pseudo[- ]?(gradient|derivative)", re.IGNORECASE
)
_SAID = {
    STRAIGHT_THROUGH: SAYS_PASSED,
    SURROGATE: _SAYS_SURROGATE,
    REVERSAL: re.compile(r"revers(?!ed (twice|back)\b)|adversar", re.IGNORECASE),
    RELEVANCE: SAYS_RELEVANCE,
    STOPPED: SAYS_STOPPED,
}
"""What a docstring says of a gradient of each kind that is meant to be none of forward."""

_ON_PURPOSE = r"(by design|on purpose|deliberate(ly)?|intentional(ly)?|as intended)"
_BACKWARD = r"(backward|gradients?|derivative)"
_SAYS_MEANT = re.compile(
    rf"\b{_BACKWARD}\b[^.;]{{0,48}}\b{_ON_PURPOSE}\b|\b{_ON_PURPOSE}\b[^.;]{{0,48}}\b{_BACKWARD}\b"
    rf"|\b(documented|conventional) {_BACKWARD}\b",
    re.IGNORECASE,
)
"""What a docstring says of any gradient that is not that of forward."""


def _is_said(kind: str, docstrings: str) -> bool:
    said = [pattern for each, pattern in _SAID.items() if kind.startswith(each)]
    return any(pattern.search(docstrings) for pattern in (*said, _SAYS_MEANT))


def _declaration(subject: Subject) -> str:
    """The entry of the configuration that declares all surrogates of the Function."""
    chosen = sorted(subject.declared | subject.recognized.keys())
    names = [subject.function.arguments[i].name for i in chosen]
    bent = any(kind != INJECTED for kind in subject.not_linear.values())
    broken = {"GT107": bent and not subject.random, "GT110": subject.random}
    ignored = ", ".join(f"{code}: WHY" for code, found in broken.items() if found)
    more = f", ignore: {{{ignored}}}" if ignored else ""
    return f"{subject.function.name}: {{surrogate: [{', '.join(names)}], reason: WHY{more}}}"


def _names(subject: Subject, arguments: Iterable[int]) -> str:
    return listed([f"`{subject.function.arguments[i].name}`" for i in sorted(arguments)])


RULE = Rule(
    code="GT120",
    name="surrogate-gradient",
    summary="The gradient differs from the derivative of forward, apparently on purpose.",
    severity=Severity.WARNING,
    page=__doc__,
    traced=False,
    excused_with="GT101",
    premises=(*KEEPS_CONTRACT, "GT114"),
    check=_check,
)
