"""The logarithm of the gamma function and its derivatives, and the Bessel functions of torch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtool.engine._ops.core.claims import MEASURED
from gradtool.engine._ops.core.kinds import Operation, Product, elementwise, unary
from gradtool.engine._ops.core.unsupported import takes
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.elementwise.elementwise import sgn
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._ops.elementwise.special_library import special
from gradtool.engine._tensor import Tensor


def _log_gamma(x: float) -> float:
    """The standard library's, infinite at the poles and where it overflows."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


lgamma = unary("lgamma", special("lgamma", _log_gamma, scipy="gammaln"), lambda x: digamma(x))
digamma: Operation = unary("digamma", special("digamma"), lambda x: polygamma(1, x))

_orders = special("polygamma", scipy="polygamma")
_polygamma = elementwise(
    "polygamma",
    lambda x, *, n: _polygamma_of(x, n),
    Product(lambda g, x, n: g * polygamma(n + 1, x)),
    arguments=("x",),
)


def _polygamma_of(x: Any, n: int) -> Any:
    """SciPy takes the order first."""
    return _orders(np.full_like(x, n), x)


def polygamma(n: int, x: Tensor) -> Tensor:
    """The derivative of order `n` of `digamma`.

    Raises:
        RuntimeError: `n` is negative.
    """
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return digamma(x)
    return _polygamma(x if x.dtype.is_differentiable else x * 1.0, n=int(n))


@takes(MEASURED, "mvlgamma")
def mvlgamma(x: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension `p`.

    Raises:
        RuntimeError: `p` is less than one.
    """
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    shifts = arange(p, dtype=x.dtype if x.is_floating_point() else None, device=x.device) / -2
    constant = p * (p - 1) / 4 * math.log(math.pi)
    return lgamma(x.unsqueeze(-1) + shifts).sum(-1) + constant


# ---- modified Bessel functions --------------------------------------------------------------


def _over_argument(out: Tensor, x: Tensor) -> Tensor:
    """``i1(x) / x``, which is a half at zero, or the same of its scaled form."""
    at_zero = x == 0
    return where(at_zero, 0.5, out / x.masked_fill(at_zero, 1))


i0 = unary("i0", special("i0"), lambda x: i1(x))
i1: Operation = unary(
    "special_i1", special("special.i1", scipy="i1"), lambda x, out: i0(x) - _over_argument(out, x)
)
i0e = unary(
    "special_i0e", special("special.i0e", scipy="i0e"), lambda x, out: i1e(x) - sgn(x) * out
)
i1e: Operation = unary(
    "special_i1e",
    special("special.i1e", scipy="i1e"),
    lambda x, out: i0e(x) - sgn(x) * out - _over_argument(out, x),
)

METHODS = {"polygamma": lambda x, n: polygamma(n, x)}
"""Methods whose arguments come in another order than the function's."""

__all__ = ["digamma", "i0", "lgamma", "mvlgamma", "polygamma"]
