"""Two Functions of gradtool's own, one right and one wrong, judged amid the checked code.

A seal notices what is replaced; this notices a checker that misjudges for whatever other reason.
The mistake is drawn from the seed, so that it cannot be known beforehand.
"""

from __future__ import annotations

import random
from typing import Any

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.adapters.library import library
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.subject import Subject


def misjudgement(seed: int, *, thoroughly: bool = True) -> str | None:
    """Judge both; return what was misjudged, None if nothing was.

    Args:
        seed: Seed of their exponents, of their point and of the mistake.
        thoroughly: Judge by evaluations of the function too, at a few times the cost. Otherwise
            it is enough that a first look tells the two apart.
    """
    draw = random.Random(seed)
    exponent, point = draw.choice((2, 3, 5)), draw.uniform(0.5, 1.5)
    right = float(exponent)
    wrong = draw.choice((-right, right - 1, right + 1, right / 2, right * draw.uniform(1.1, 3.0)))
    if not _is_right(exponent, right, point, seed, thoroughly):
        return "gradtool rejected a gradient that is known to be right"
    if _is_right(exponent, wrong, point, seed, thoroughly):
        return "gradtool accepted a gradient that is known to be wrong"
    return None


def _is_right(exponent: int, factor: float, point: float, seed: int, thoroughly: bool) -> bool:
    """Judge a power whose backward multiplies by `factor`, which should be the exponent."""
    engine: Any = library()

    class Power(engine.Function):  # type: ignore[misc]  # the class of either engine
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**exponent

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad_output * factor * x ** (exponent - 1)

    x = engine.torch.tensor([point], dtype=engine.torch.float64, requires_grad=True)
    subject = Subject(
        FunctionDifferentiable(Power, (x,), {}, name="canary"), seed=seed, witness=not thoroughly
    )
    if not thoroughly:
        return subject.first.is_settled
    return subject.given.worst is Decision.PASS and subject.compared == 1
