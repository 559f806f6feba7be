"""Gradients that pass where an argument lies on one side of a bound, and are zero elsewhere.

As in torch they are functions of the argument too: to differentiate one again gives zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine._ops.core.choice import chosen
from gradtool.engine._ops.core.dtype_support import FLOATS, REAL, Dtypes
from gradtool.engine._ops.core.kinds import Product, elementwise
from gradtool.engine._ops.core.primitive import Primitive


def _gate(
    name: str, closed: Callable[..., Any], again: Callable[..., Any], dtypes: Dtypes = REAL
) -> Primitive:
    """Return what passes a gradient `g`, except where an argument `x` closes it."""

    def compute(g: Any, x: Any, **bounds: Any) -> Any:
        return chosen(closed(x, **bounds), g.dtype.type(0), g)

    return elementwise(name, compute, Product(again), 0.0, arguments=("g", "x"), dtypes=dtypes)


above: Primitive = _gate(
    "threshold_backward",
    lambda x, *, level: x <= level,
    lambda g, x, level: above(g, x, level=level),
)
between: Primitive = _gate(
    "hardtanh_backward",
    lambda x, *, low, high: (x <= low) | (x >= high),
    lambda g, x, low, high: between(g, x, low=low, high=high),
)
outside: Primitive = _gate(
    "hardshrink_backward",
    lambda x, *, bound: (x >= -bound) & (x <= bound),
    lambda g, x, bound: outside(g, x, bound=bound),
    FLOATS,
)
