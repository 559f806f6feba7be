"""Largest and smallest elements, where they are, and who gets the gradient among equals."""

from __future__ import annotations

import math

from tests.engine.ops.cases.case import OpCase, distinct, exactly, integers, mask, over, strided

inf, nan = math.inf, math.nan
CUBES = [(distinct(2, 3, 4),), (strided(distinct(2, 3, 4)),), (distinct(1, 1, 1),)]
WITH_NAN = exactly([1.0, nan, 2.0, nan])
TIED = [
    (exactly([[1.0, 2.0, 2.0], [2.0, 0.0, 0.0]]),), (exactly([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),),
    (exactly([[inf, 1.0, inf], [-inf, -inf, 3.0]]),),
]  # fmt: skip

CASES: list[OpCase] = [
    *over("max", lambda t, x: (x.max(), t.max(x), x.min(), t.min(x)), [
        (distinct(3, 4),), (distinct(5),), (distinct(),), (distinct(1),), *TIED,
    ]),
    OpCase("max with NaN", lambda t, x: (x.max(), t.max(x), x.min(), t.min(x)), (WITH_NAN,),
           not_pushed="PyTorch looks for elements that equal NaN, and divides by their number, 0"),
    *over("max along", lambda t, x: (
        x.max(0), x.max(1, keepdim=True), t.max(x, -1), x.max(dim=1), x.min(0), x.min(-1, True),
        t.min(x, dim=1), x.max(1).values, x.min(1).indices, x.max(1)[0],
    ), CUBES),
    *over("max along with ties", lambda t, x: (x.max(1), x.min(0), x.max(0)), TIED),
    OpCase("max along with NaN", lambda t, x: (x.max(0), x.min(0)), (WITH_NAN,)),
    OpCase("max of 0-d along", lambda t, x: (x.max(0), x.min(-1, keepdim=True)), (distinct(),)),
    OpCase("max along an empty row", lambda t, x: (
        x.max(1), x.amax(1), x.argmin(1)
    ), (distinct(0, 3),)),
    *over("max of integers", lambda t, x: (
        x.max(), x.min(), x.max(0), x.amax(), x.amin(0), x.argmax(), x.argmin(0),
    ), [(integers(-5, 5, 3, 4),), (integers(0, 250, 3, 4, dtype="uint8"),)]),
    OpCase("max of booleans", lambda t, x: (x.max(), x.min(0), x.amax(0)), (mask(3, 4),)),
    *over("amax", lambda t, x: (
        x.amax(), x.amax(0), x.amax(-1, keepdim=True), x.amax((0, 2)), x.amax(()),
        t.amax(x, [1, 2]), x.amin(), x.amin(0), x.amin((0, 1), True), t.amin(x, dim=2),
    ), CUBES),
    *over("amax with ties", lambda t, x: (x.amax(), x.amin(), x.amax(0), x.amin(1)), TIED),
    OpCase("amax with NaN", lambda t, x: (x.amax(), x.amin(0)), (WITH_NAN,)),
    OpCase("amax of 0-d", lambda t, x: (
        x.amax(), x.amin(0), x.amax(-1, keepdim=True)
    ), (distinct(),)),
    *over("argmax", lambda t, x: (
        x.argmax(), x.argmax(0), x.argmax(1, keepdim=True), t.argmax(x, dim=-1), x.argmin(),
        x.argmin(1), t.argmin(x, keepdim=True), x.argmax(axis=0),
    ), [*CUBES, *TIED, (exactly([[1.0, nan], [nan, 2.0]]),)]),
    OpCase("argmax of 0-d", lambda t, x: (
        x.argmax(), x.argmin(0), x.argmax(keepdim=True)
    ), (distinct(),)),
]  # fmt: skip
