"""where, clamp, maximum and minimum, with ties and at bounds."""

from __future__ import annotations

import math

from tests.engine.ops.cases.case import (
    OTHER_SIDE,
    SHAPE_PAIRS,
    OpCase,
    distinct,
    exactly,
    mask,
    normal,
    over,
)

inf, nan = math.inf, math.nan
PAIRS = [(normal(*one), normal(*other)) for one, other in SHAPE_PAIRS]
TIED = (exactly([1.0, 2.0, nan, 3.0, 0.0, inf]), exactly([1.0, 3.0, 1.0, nan, 0.0, inf]))

CASES: list[OpCase] = [
    *over("where", lambda t, c, x, y: t.where(c, x, y), [
        (mask(3, 4), normal(3, 4), normal(3, 4)), (mask(4), normal(3, 1), normal()),
        (mask(), normal(3), normal(2, 1)), (mask(3, 1), normal(4), normal(1)),
        (mask(), normal(), normal()), (mask(0), normal(0), normal(1)),
    ]),
    OpCase("where number", lambda t, c, x: (
        t.where(c, x, 2), t.where(c, 2.5, x), x.where(c, x * 2), t.where(c, 1.0, 2.0),
    ), (mask(3, 4), normal(4))),
    OpCase("where alone", lambda t, c: t.where(c), (mask(3, 4),)),
    *over("maximum", lambda t, x, y: t.maximum(x, y), PAIRS),
    *over("minimum", lambda t, x, y: t.minimum(x, y), PAIRS),
    OpCase("maximum of equals", lambda t, x, y: t.maximum(x, y), TIED, not_pushed=OTHER_SIDE),
    OpCase("minimum of equals", lambda t, x, y: t.minimum(x, y), TIED, not_pushed=OTHER_SIDE),
    *over("max of two", lambda t, x, y: (t.max(x, y), x.max(y), x.min(other=y)), PAIRS[:3]),
    *over("clamp", lambda t, x: (
        x.clamp(-0.2, 0.3), t.clamp(x, min=-0.2), t.clamp(x, max=0.2), x.clamp_min(0.1),
        t.clamp_max(x, 0.1), t.clip(x, -1, 1), x.clamp(0.3, -0.2),
    ), [(distinct(3, 4),), (distinct(),), (distinct(0),)]),
    OpCase("clamp at numbers", lambda t, x: (
        x.clamp(-1, 1), x.clamp(1, -1), x.clamp(min=-1), x.clamp(max=1), x.clamp(1, 1),
    ), (exactly([-2.0, -1.0, 0.0, 1.0, 2.0, nan, inf, -inf]),)),
    *over("clamp at tensors", lambda t, x, low, high: (
        t.clamp(x, low, high), x.clamp(min=low), x.clamp(max=high), x.clamp(low, high),
        x.clamp_min(low), t.clamp_max(x, high),
    ), [
        (normal(3, 4), normal(3, 4), normal(3, 4)), (normal(3, 4), normal(3, 1), normal()),
        (normal(0), normal(0), normal(1)),
    ]),
    OpCase("clamp at bounds", lambda t, x, low, high: (
        t.clamp(x, low, high), x.clamp(min=low), x.clamp(max=high), x.clamp(low, high),
    ), (exactly([-2.0, -1, 0, 1, 2, 0, 5, nan, 0, -2, 1, 5]),
        exactly([-1.0, -1, -1, -1, -1, 1, 1, 0, nan, 1, 1, 1]),
        exactly([1.0, 1, 1, 1, 1, -1, -1, 1, 1, 1, 1, 1])), not_pushed=OTHER_SIDE),
]  # fmt: skip
