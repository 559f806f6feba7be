"""Arithmetic of two tensors, and of a tensor and a number, over shapes that broadcast."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tests.engine.ops.cases.case import (
    OTHER_SIDE,
    SHAPE_PAIRS,
    Arg,
    OpCase,
    between,
    distinct,
    exactly,
    integers,
    nonzero,
    normal,
    over,
    positive,
    strided,
)

inf, nan = math.inf, math.nan


def _pairs(first: Callable[..., Arg], second: Callable[..., Arg]) -> list[Sequence[Arg]]:
    return [
        *[(first(*one), second(*other)) for one, other in SHAPE_PAIRS],
        (strided(first(3, 4)), second(3, 4)),
        (first(3, 4), strided(second(3, 4))),
    ]


def _with_numbers(name: str, call: Callable[..., Any], *numbers: Any) -> list[OpCase]:
    return [
        OpCase(f"{name} {number}", lambda t, x, number=number: call(t, x, number), (arg,))
        for number in numbers
        for arg in (positive(3, 4), positive(), positive(0))
    ]


SIGNED = exactly([7.0, -7.0, 7.0, -7.0, 6.5, -0.3, 5.0, -5.0, 0.7])
DIVISORS = exactly([2.0, 2.0, -2.0, -2.0, 0.4, 7.0, inf, inf, -0.2])
DIVIDENDS = exactly([1.0, -1.0, 0.0, inf, nan, -0.5, 0.5])
ZEROS = exactly([0.0, 0.0, 0.0, 2.0, 2.0, inf, -inf])

CASES: list[OpCase] = [
    *over("add", lambda t, x, y: t.add(x, y), _pairs(normal, normal)),
    *over("sub", lambda t, x, y: x - y, _pairs(normal, normal)),
    *over("mul", lambda t, x, y: x * y, _pairs(normal, normal)),
    *over("div", lambda t, x, y: x / y, _pairs(normal, nonzero)),
    *over("atan2", lambda t, x, y: t.atan2(x, y), _pairs(nonzero, nonzero)),
    *over("hypot", lambda t, x, y: t.hypot(x, y), _pairs(nonzero, nonzero)),
    *over("pow", lambda t, x, y: x**y, _pairs(positive, normal)),
    *over("remainder", lambda t, x, y: x % y, _pairs(distinct, nonzero)),
    *over("fmod", lambda t, x, y: t.fmod(x, y), _pairs(distinct, nonzero)),
    *over(
        "div floor", lambda t, x, y: t.div(x, y, rounding_mode="floor"), _pairs(distinct, nonzero)
    ),
    *over(
        "div trunc", lambda t, x, y: t.div(x, y, rounding_mode="trunc"), _pairs(distinct, nonzero)
    ),
    *over(
        "floor_divide",
        lambda t, x, y: (x.detach() // y.detach(), x.detach().floor_divide(y.detach())),
        _pairs(distinct, nonzero),
    ),
    *_with_numbers("x +", lambda t, x, n: x + n, 2, 2.5, True),
    *_with_numbers("x -", lambda t, x, n: x - n, 2, 2.5),
    *_with_numbers("x *", lambda t, x, n: x * n, 2, 2.5, True, 0),
    *_with_numbers("x /", lambda t, x, n: x / n, 2, 2.5, 0),
    *_with_numbers("x **", lambda t, x, n: x**n, 0, 1, 2, 3, 4, -1, -2, 0.5, -0.5, 1.5, 2.0, 3.0),
    *_with_numbers("x %", lambda t, x, n: x % n, 2, 2.5),
    *_with_numbers("fmod x", lambda t, x, n: t.fmod(x, n), 2, 2.5),
    *_with_numbers("n + x", lambda t, x, n: n + x, 2, 2.5),
    *_with_numbers("n - x", lambda t, x, n: n - x, 2, 2.5),
    *_with_numbers("n * x", lambda t, x, n: n * x, 2, 2.5),
    *_with_numbers("n / x", lambda t, x, n: n / x, 2, 2.5),
    *_with_numbers("n ** x", lambda t, x, n: n**x, 2, 2.5),
    *over("0 ** x", lambda t, x: 0**x, [(positive(3, 4),), (positive(),)], second_order=False),
    *_with_numbers("n % x", lambda t, x, n: n % x.detach(), 2, 2.5),
    *_with_numbers("n // x", lambda t, x, n: n // x.detach(), 2, 2.5),
    *_with_numbers("x // n", lambda t, x, n: x.detach() // n, 2, 2.5),
    OpCase("add alpha", lambda t, x, y: t.add(x, y, alpha=2.5), (normal(3, 4), normal(4))),
    OpCase("sub alpha", lambda t, x, y: x.sub(y, alpha=2), (normal(3, 4), normal(4))),
    OpCase("sub number alpha", lambda t, x: t.sub(x, 3, alpha=2), (normal(3, 4),)),
    OpCase("rsub", lambda t, x, y: t.rsub(x, y, alpha=2), (normal(3, 4), normal(4))),
    OpCase("aliases", lambda t, x, y: (
        t.subtract(x, y), t.multiply(x, y), t.divide(x, y), t.true_divide(x, y), x.multiply(y),
        t.arctan2(x, y),
    ), (nonzero(3, 4), nonzero(4))),
    *over("addcmul", lambda t, x, y, z: t.addcmul(x, y, z, value=0.5), [
        (normal(3, 4), normal(3, 4), normal(3, 4)), (normal(4), normal(3, 1), normal()),
        (normal(0), normal(0), normal(1)),
    ]),
    *over("addcdiv", lambda t, x, y, z: t.addcdiv(x, y, z, value=0.5), [
        (normal(3, 4), normal(3, 4), nonzero(3, 4)), (normal(4), normal(3, 1), nonzero()),
        (normal(0), normal(0), nonzero(1)),
    ]),
    *over("lerp", lambda t, x, y, z: t.lerp(x, y, z), [
        (normal(3, 4), normal(3, 4), between(0, 1, 3, 4)), (normal(4), normal(3, 1), normal()),
        (normal(), normal(), normal()),
    ]),
    OpCase("lerp to the end", lambda t, x, y, z: (t.lerp(x, y, z), t.lerp(x, y, 1.0)),
           (exactly([1e300, -1e300]), exactly([2.0, 2.0]), exactly([1.0, 0.5])),
           second_order=False),
    OpCase("lerp number", lambda t, x, y: x.lerp(y, 0.3), (normal(3, 4), normal(4))),
    # At points where a rule must choose, or dividing goes wrong.
    OpCase("same operand twice", lambda t, x: x * x + x / x - x**x, (positive(3, 4),)),
    OpCase("div by zero", lambda t, x, y: x / y, (
        exactly([1.0, -1.0, 0.0, inf]), exactly([0.0, 0.0, 0.0, inf])
    ), second_order=False, not_pushed="PyTorch adds infinite terms in another order"),
    OpCase("remainder of signs", lambda t, x, y: x % y, (SIGNED, DIVISORS)),
    OpCase("fmod of signs", lambda t, x, y: t.fmod(x, y), (SIGNED, DIVISORS)),
    OpCase("quotients of signs", lambda t, x, y: (
        t.div(x, y, rounding_mode="floor"), t.div(x, y, rounding_mode="trunc"),
    ), (SIGNED, DIVISORS)),
    OpCase("remainders by zero", lambda t, x, y: (x % y, t.fmod(x, y)), (DIVIDENDS, ZEROS),
           second_order=False),
    OpCase("floors by zero", lambda t, x, y: (x.detach() // y.detach()), (DIVIDENDS, ZEROS)),
    OpCase("pow at zero and below", lambda t, x, y: x**y, (
        exactly([0.0, 0.0, 0.0, 0.0, -2.0, -2.0, 2.0, nan, -2.0]),
        exactly([0.0, 1.0, 2.0, -1.0, 2.0, 0.5, nan, 0.0, 3.0]),
    ), second_order=False),
    *[
        OpCase(f"pow {exponent} at zero and below", lambda t, x, e=exponent: x**e, (
            exactly([0.0, -0.0, -2.0, 2.0, inf, nan]),
        ), second_order=False)
        for exponent in (0, 1, 2, 3, 4, 0.5, 1.5, -1, -2, -0.5)
    ],
    *[
        OpCase(f"{base} to powers", lambda t, x, b=base: b**x, (
            exactly([0.0, 1.0, -1.0, 0.5, inf, nan]),
        ), second_order=False)
        for base in (0, 0.0, 1, 2, -2.0, 0.5)
    ],
    OpCase("atan2 at the origin", lambda t, x, y: t.atan2(x, y), (
        exactly([0.0, -0.0, 0.0, 1.0]), exactly([0.0, 0.0, -1.0, 0.0])
    ), second_order=False, not_pushed=OTHER_SIDE),
    OpCase("hypot at the origin", lambda t, x, y: t.hypot(x, y), (
        exactly([0.0, 1.0]), exactly([0.0, 0.0])
    ), second_order=False),
    # Integers.
    *over("integers", lambda t, x, y: (
        x + y, x - y, x * y, x / y, x // y, x % y, t.fmod(x, y), t.div(x, y, rounding_mode="trunc"),
        t.div(x, y, rounding_mode="floor"), x**abs(y), t.add(x, y, alpha=3),
        t.addcmul(x, y, x, value=2),
    ), [
        (integers(-9, 9, 20), integers(1, 5, 20)), (integers(-9, 9, 20), integers(-5, 0, 20)),
        (integers(-9, 9, 20), integers(1, 5)),
        (integers(0, 9, 20, dtype="uint8"), integers(1, 5, 20, dtype="uint8")),
    ]),
    OpCase("integers to negative powers", lambda t, x, y: (x**y, 2**y), (
        exactly([1, 2, -1, 0, -1, 3], "int64"), exactly([-1, -1, -1, -1, -2, 2], "int64")
    )),
    OpCase("integer and numbers", lambda t, x: (
        x + 1, x - 1, x * 2, x / 2, x // 2, x % 3, x**2, x + 1.5, x * 0.5, x**0.5, x**2.0, 2 - x,
        2 / x, 7 // x, 7 % x, 2**x, 2.5**x, -x, abs(x), x.square(), x.sign(), x.floor(), x.relu(),
        x.exp(), x.reciprocal(),
    ), (integers(1, 5, 6),)),
]  # fmt: skip
