"""Functions of one tensor, each over a domain where it is smooth, and what they do at edges."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tests.engine.ops.cases.case import (
    SHAPES,
    Arg,
    OpCase,
    between,
    distinct,
    exactly,
    over,
    strided,
)


def _smooth(name: str, low: float, high: float) -> list[OpCase]:
    """The function and the method, over every shape."""
    by_shape = [(between(low, high, *shape),) for shape in SHAPES]
    return [
        *over(name, lambda t, x: getattr(t, name)(x), by_shape),
        OpCase(f"Tensor.{name}", lambda t, x: getattr(x, name)(), (between(low, high, 3, 4),)),
        OpCase(name, lambda t, x: getattr(t, name)(x), (strided(between(low, high, 3, 4)),)),
    ]


SMOOTH = {
    "acos": (-0.9, 0.9), "acosh": (1.1, 3), "arccos": (-0.9, 0.9), "arccosh": (1.1, 3),
    "arcsin": (-0.9, 0.9), "arcsinh": (-2, 2), "arctan": (-2, 2), "arctanh": (-0.9, 0.9),
    "asin": (-0.9, 0.9), "asinh": (-2, 2), "atan": (-2, 2), "atanh": (-0.9, 0.9), "cos": (-4, 4),
    "cosh": (-2, 2), "erf": (-2, 2), "erfc": (-2, 2), "exp": (-2, 2), "exp2": (-2, 2),
    "expm1": (-2, 2), "log": (0.2, 3), "log10": (0.2, 3), "log1p": (-0.8, 3), "log2": (0.2, 3),
    "neg": (-2, 2), "negative": (-2, 2), "positive": (-2, 2), "reciprocal": (0.5, 2),
    "rsqrt": (0.2, 3), "sigmoid": (-4, 4), "sin": (-4, 4), "sinh": (-2, 2), "sqrt": (0.2, 3),
    "square": (-2, 2), "tan": (-1.4, 1.4), "tanh": (-2, 2),
}  # fmt: skip

PIECEWISE = [
    "abs", "absolute", "ceil", "fix", "floor", "frac", "relu", "round", "sgn", "sign", "trunc",
]  # fmt: skip

inf, nan = math.inf, math.nan
EDGES = exactly(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 40.0, -40.0, 800.0, -800.0, inf, -inf, nan]
)
"""Where functions start, end, overflow or jump."""

SECOND_ORDER_AT_EDGES = {"sgn", "sign", "ceil", "floor", "trunc", "fix", "round", "relu", "neg"}


EDGES_FROM_ONE = exactly([1.0, 0.5, 0.0, 40.0, 800.0, inf, nan])
"""For the inverse of cosh, which below -1 is NaN while PyTorch's derivative of it is finite."""


def _at_edges(name: str) -> OpCase:
    """First order mostly: second derivatives at infinities follow no rule in torch either."""
    return OpCase(
        f"{name} at edges",
        lambda t, x: getattr(t, name)(x),
        (EDGES_FROM_ONE if name.endswith("cosh") and name != "cosh" else EDGES,),
        second_order=name in SECOND_ORDER_AT_EDGES,
    )


def _of_one(name: str, call: Callable[..., Any], *args: Arg) -> OpCase:
    return OpCase(name, call, args)


CASES: list[OpCase] = [
    *[case for name, bounds in SMOOTH.items() for case in _smooth(name, *bounds)],
    *[
        case
        for name in PIECEWISE
        for case in over(
            name, lambda t, x, name=name: getattr(t, name)(x), [(distinct(*s),) for s in SHAPES]
        )
    ],
    *[_at_edges(name) for name in [*SMOOTH, *PIECEWISE]],
    _of_one("-x", lambda t, x: -x, distinct(3, 4)),
    _of_one("+x", lambda t, x: +x, distinct(3, 4)),
    _of_one("abs(x)", lambda t, x: abs(x), distinct(3, 4)),
    _of_one("round to 2", lambda t, x: t.round(x, decimals=2), between(-3, 3, 3, 4)),
    _of_one("round to -1", lambda t, x: t.round(x, decimals=-1), between(-300, 300, 3, 4)),
    _of_one("composed", lambda t, x: (x.sin() * x.exp()).tanh().log1p(), between(0.1, 1, 3, 4)),
]
