"""Gamma functions: their logarithm, its derivatives, the incomplete ones, and zeta."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtool.engine._ops.core.dtype_support import (
    FLOATS,
    MEASURED,
    ORDERED,
    REAL,
    refusing_half,
    refusing_integers,
    takes,
)
from gradtool.engine._ops.core.inplace import in_place
from gradtool.engine._ops.core.kinds import Operation, Product, binary, elementwise, unary
from gradtool.engine._ops.core.missing import no_formula
from gradtool.engine._ops.core.node_names import saving
from gradtool.engine._ops.core.op import method, op
from gradtool.engine._ops.core.promotion import require_tensor
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.elementwise.elementwise import exp, log
from gradtool.engine._ops.elementwise.special import special
from gradtool.engine._tensor import Tensor

# ---- the logarithm and its derivatives -------------------------------------------------------


lgamma = op(
    unary("lgamma", special("lgamma", scipy="gammaln"), lambda x: digamma(x), dtypes=ORDERED),
    in_place=True,
)


def _trigamma(x: Tensor) -> Tensor:
    return polygamma(1, x)


def _polygamma_vjp(g: Tensor, x: Tensor, n: int) -> Tensor:
    return g * polygamma(n + 1, x)


digamma: Operation = op(
    unary("digamma", special("digamma"), _trigamma, dtypes=ORDERED), in_place=True
)

_orders = special("polygamma", scipy="polygamma")
_polygamma = elementwise(
    "polygamma",
    lambda x, *, n: _polygamma_of(x, n),
    Product(_polygamma_vjp),
    arguments=("x",),
    dtypes=REAL,
)


def _polygamma_of(x: Any, n: int) -> Any:
    """SciPy takes the order first."""
    return _orders(np.full_like(x, n), x)


@op(node="PolygammaBackward0")
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


@method("polygamma")
def _polygamma_at(x: Tensor, n: int) -> Tensor:
    """The method, whose order comes second."""
    return polygamma(n, x)


method("polygamma_", node="PolygammaBackward1")(in_place(_polygamma_at, "polygamma_"))


@op(in_place=True, node=saving("MvlgammaBackward0", "x"))
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


# ---- incomplete gamma functions, and Hurwitz' zeta function ------------------------------------


def _density(a: Tensor, x: Tensor) -> Tensor:
    """The density of a gamma distribution, by which the share below `x` grows."""
    shape = a.to(x.dtype)
    density: Tensor = exp((shape - 1) * log(x) - x - lgamma(shape))
    return density


def _incomplete(name: str, scipy: str, sign: int) -> Operation:
    """A share of the gamma function, below or above a bound."""
    share = binary(
        name,
        refusing_integers(f"{name}_cpu", special(name, scipy=scipy)),
        (
            no_formula(name, f"{name}: input"),
            Product(lambda g, x, y: g * (_density(x, y) * sign)),
        ),
        dtypes=REAL,
    )

    def operation(x: Tensor, other: Tensor) -> Tensor:
        require_tensor(name, x)
        require_tensor(name, other, "other")
        return share(x, other)

    operation.__name__ = operation.__qualname__ = name
    return operation


igamma = op(_incomplete("igamma", "gammainc", 1), in_place=True)
igammac = op(_incomplete("igammac", "gammaincc", -1), in_place=True)

zeta: Operation = binary(
    "special_zeta",
    refusing_half("zeta_cpu", special("special.zeta", scipy="zeta")),
    (
        no_formula("special_zeta", "zeta"),
        Product(lambda g, x, y: g * (-x * zeta(x + 1, y))),
    ),
    of_integers="float",
    dtypes=FLOATS,
)
