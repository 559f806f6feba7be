"""Two Functions of gradtool's own, one right and one wrong, judged amid the checked code.

A seal notices what is replaced; this notices a checker that misjudges for whatever other reason.
The mistake is drawn from the seed, so that it cannot be known beforehand.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.adapters.library import library
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.comparison.derivatives import Derivatives
from gradtool.verify.comparison.projection import agreeing
from gradtool.verify.subject import Subject


def misjudgement(seed: int, *, thoroughly: bool = True) -> str | None:
    """Judge both; return what was misjudged, None if nothing was.

    Args:
        seed: Seed of their exponents, of their point and of the mistake.
        thoroughly: Judge by evaluations of the function, at many times the cost. Otherwise it is
            enough that a first look tells the two apart.
    """
    draw = random.Random(seed)
    exponent, point = draw.choice((2, 3, 5)), draw.uniform(0.5, 1.5)
    right = float(exponent)
    wrong = draw.choice((-right, right - 1, right + 1, right / 2, right * draw.uniform(1.1, 3.0)))
    judged = _judged if thoroughly else _looked_at
    is_right, is_wrong = judged(exponent, (right, wrong), point, seed)
    if not is_right:
        return "gradtool rejected a gradient that is known to be right"
    if not is_wrong:
        return "gradtool accepted a gradient that is known to be wrong"
    return None


def _judged(
    exponent: int, factors: tuple[float, float], point: float, seed: int
) -> tuple[bool, bool]:
    """Return whether evaluations find the first factor right, and the second wrong."""
    subjects = [
        Subject(_powers(exponent, [each], point), seed=seed, witness=False) for each in factors
    ]
    right, wrong = (each.given.worst is Decision.PASS and each.compared == 1 for each in subjects)
    return right, not wrong


def _looked_at(
    exponent: int, factors: tuple[float, float], point: float, seed: int
) -> tuple[bool, bool]:
    """Return the same of one look at both, which the witness tells apart."""
    function = _powers(exponent, factors, point)
    at = Derivatives(
        function, function.primals, seed=seed, recorded=function.recorded(), projected=True
    )
    right, wrong = agreeing(at) or (False, False)
    return right, not wrong


def _powers(exponent: int, factors: Sequence[float], point: float) -> FunctionDifferentiable:
    """Sum powers, whose backward multiplies each by a factor that should be the exponent."""
    engine: Any = library()

    class Powers(engine.Function):  # type: ignore[misc]  # the class of either engine
        @staticmethod
        def forward(ctx: Any, *bases: Any) -> Any:
            ctx.save_for_backward(*bases)
            return sum(base**exponent for base in bases)

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            pairs = zip(ctx.saved_tensors, factors, strict=True)
            return tuple(grad_output * factor * base ** (exponent - 1) for base, factor in pairs)

    torch = engine.torch
    bases = [torch.tensor([point], dtype=torch.float64, requires_grad=True) for _ in factors]
    return FunctionDifferentiable(Powers, bases, {}, name="canary")
