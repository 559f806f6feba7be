"""The Function gives different results under PyTorch and under gradtool's engine.

What it does
------------

With ``--engine both``, calls the Function at the same point with the same cotangents under the
installed PyTorch as well, compares outputs and gradients, and checks every rule there too. Values
may differ by rounding. A run with one engine skips this rule.

Why it matters
--------------

Both engines follow PyTorch's documented behaviour. Where they disagree, the Function relies on
something undocumented that may change, or one of the engines has a bug.

Wrong example
-------------

    from gradtool import Function


    class Scale(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.factor = 2.0 if type(x).__module__ == "torch" else 3.0
            return x * ctx.factor

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * ctx.factor

Right example
-------------

    from gradtool import Function


    class Scale(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.factor = 2.0
            return x * ctx.factor

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * ctx.factor

How to fix
----------

Find the first operation whose result differs. If PyTorch documents the result, report a bug in the
engine that is wrong; if not, write the operation another way.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Severity
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.rules._rule import Answer, Flaw, Rule, not_offered
from gradtool.verify.rules._runs import failure_of_run, gradient_difference, same_output
from gradtool.verify.thresholds.rules import ENGINES_COTANGENT_ROUNDINGS, ENGINES_DIFFERENCE

if TYPE_CHECKING:
    from gradtool.verify.comparison.derivatives import Derivatives
    from gradtool.verify.protocol.observation import Array, Observation
    from gradtool.verify.subject import Subject

_WHEN = "under PyTorch"
_HINT = "find the first operation whose result differs"


def disagreement(subject: Subject, at: Derivatives, there: Observation) -> Flaw | None:
    """A flaw if `there`, the call at the point `at` under PyTorch, gives other results."""
    here = at.baseline
    flaw = failure_of_run(there, f"{_WHEN} only", _HINT) or _outputs(here, there)
    if flaw or here.gradients is None or there.gradients is None:
        return flaw
    sizes = (np.abs(each).max(initial=0.0) for each in at.cotangents if each is not None)
    sent = float(max(sizes, default=0.0))
    gradients = [
        one if one is not None and other is not None and _close(one, other, sent) else other
        for one, other in zip(here.gradients, there.gradients, strict=True)
    ]
    return gradient_difference(subject, gradients, here.gradients, _WHEN, _HINT)


def _outputs(here: Observation, there: Observation) -> Flaw | None:
    if len(here.outputs) != len(there.outputs):
        return Flaw(
            message=f"forward returns a different number of outputs {_WHEN}", method="forward"
        )
    for number, (one, other) in enumerate(zip(here.outputs, there.outputs, strict=True)):
        if one is None or other is None:
            continue
        if not (same_output(other, one) or _close(one, other)):
            return Flaw(message=f"output {number} differs {_WHEN}", hint=_HINT, method="forward")
    return None


def _close(one: Array, other: Array, sent: float = 0.0) -> bool:
    """Return True if two arrays differ by no more than rounding in single precision.

    Or by roundings of cotangents of the size `sent`: where factors cancel, as ``1 - tanh(x)**2``
    does far out, they are all that is left.
    """
    if one.shape != other.shape or one.dtype != other.dtype or not is_continuous(one.dtype):
        return False
    size = np.abs(one[np.isfinite(one)]).max(initial=0.0)
    allowed = max(
        ENGINES_DIFFERENCE * size, ENGINES_COTANGENT_ROUNDINGS * epsilon(one.dtype) * sent
    )
    return bool(np.allclose(other, one, rtol=0.0, atol=allowed, equal_nan=True))


def _check(_subject: Subject) -> Answer:
    """Offer nothing: this needs a second engine."""
    return not_offered("one engine only")


RULE = Rule(
    code="GT702",
    name="engines-disagree",
    summary="The Function gives different results under PyTorch and under gradtool's engine.",
    severity=Severity.ERROR,
    page=__doc__,
    proves="engine comparison",
    premises=("GT101", "GT106", "GT110", "GT111", "GT508", "GT601"),
    check=_check,
)
