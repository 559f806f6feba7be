"""Comparisons, tests of elements and logic: values only, for nothing here has a gradient."""

from __future__ import annotations

import math

from tests.engine.ops.cases.case import SHAPE_PAIRS, OpCase, exactly, integers, mask, normal, over

inf, nan = math.inf, math.nan
YES, NOTHING = True, None
SPECIAL = exactly([0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 0.0])
OTHER = exactly([0.0, 0.0, 2.0, -2.0, inf, inf, nan, nan])
NAMES = ("eq", "ne", "lt", "le", "gt", "ge", "not_equal", "less", "less_equal", "greater")
PAIRS = [(normal(*one), normal(*other)) for one, other in SHAPE_PAIRS]

CASES: list[OpCase] = [
    *over("compare", lambda t, x, y: (
        x == y, x != y, x < y, x <= y, x > y, x >= y, [getattr(t, name)(x, y) for name in NAMES],
    ), [
        *PAIRS, (SPECIAL, OTHER), (integers(0, 3, 9), integers(0, 3, 9)), (mask(9), mask(9)),
        (integers(0, 3, 9), normal(9)), (mask(9), integers(0, 2, 9)),
    ]),
    *over("compare with numbers", lambda t, x: (
        x == 1, x != 1.5, x < 1, x <= 0.5, x == YES, t.ge(x, 0), x.eq(1), x == NOTHING,
        x != "text",
    ), [(normal(9),), (integers(0, 3, 9),), (mask(9),), (SPECIAL,)]),
    *over("tests", lambda t, x: (
        t.isnan(x), t.isinf(x), t.isfinite(x), x.isnan(), x.isinf(), x.isfinite(), t.isposinf(x),
        t.isneginf(x), t.isreal(x), t.signbit(x),
    ), [(SPECIAL,), (normal(2, 3),), (normal(),), (normal(0),), (integers(-2, 3, 5),)]),
    *over("nearness", lambda t, x, y: (
        t.isclose(x, y), t.isclose(x, y, equal_nan=True), t.isclose(x, y, rtol=0.5, atol=0.1),
        t.allclose(x, y), x.allclose(x), t.allclose(x, x, equal_nan=True), t.equal(x, y),
        x.equal(x),
    ), [
        (SPECIAL, OTHER), (normal(3, 4), normal(4)), (normal(0), normal(0)),
        (integers(0, 3, 9), integers(0, 3, 9)), (mask(4), mask(4)),
        (exactly([1.0, 1.0, 1e9]), exactly([1.0 + 1e-7, 1.0 + 1e-4, 1e9 + 1e3])),
    ]),
    OpCase("equal of shapes", lambda t, x, y: (
        t.equal(x, y), t.equal(x, x)
    ), (normal(3), normal(4))),
    *over("logic", lambda t, x, y: (
        t.logical_and(x, y), t.logical_or(x, y), t.logical_xor(x, y), t.logical_not(x),
        x.logical_and(y), x.logical_not(),
    ), [
        (mask(3, 4), mask(4)), (integers(0, 2, 9), integers(0, 2, 9)), (SPECIAL, OTHER),
        (integers(0, 2, 9), normal(9)), (mask(0), mask(0)), (mask(), mask()),
    ]),
    *over("bits", lambda t, x, y: (
        x & y, x | y, x ^ y, ~x, t.bitwise_and(x, y), t.bitwise_or(x, y), t.bitwise_xor(x, y),
        t.bitwise_not(x), x & True, True | x, x ^ True,
    ), [
        (mask(3, 4), mask(4)), (integers(-9, 9, 9), integers(-9, 9, 9)),
        (mask(9), integers(0, 9, 9)),
        (integers(0, 9, 9, dtype="uint8"), integers(0, 9, 9, dtype="uint8")), (mask(0), mask(0)),
    ]),
    *over("shifts", lambda t, x, y: (
        x << y, x >> y, x << 2, x >> 1, 3 << y, t.bitwise_left_shift(x, y),
        t.bitwise_right_shift(x, y),
    ), [
        (integers(-9, 9, 9), integers(0, 5, 9)),
        (integers(0, 9, 9, dtype="uint8"), integers(0, 9, 9, dtype="uint8")),
        (exactly([8, 8, -8, -8, 8, -8], "int64"), exactly([-1, 70, -1, 70, 63, 63], "int64")),
    ]),
    OpCase("numbers that wrap", lambda t, x: (x + 300, x * 300, x == 300, x < 300), (
        integers(40, 50, 20, dtype="int8"),
    )),
]  # fmt: skip
