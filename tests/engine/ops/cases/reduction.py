"""Sums, means, products and counts: over all, one and several dimensions."""

from __future__ import annotations

import math

from tests.engine.ops.cases.case import (
    OpCase,
    exactly,
    integers,
    mask,
    nonzero,
    normal,
    over,
    strided,
)

nan = math.nan
CUBES = [(normal(2, 3, 4),), (strided(normal(2, 3, 4)),), (normal(2, 0, 3),), (normal(1, 1, 1),)]
ANY_SHAPE = [(normal(3, 4),), (normal(5),), (normal(),), (normal(0),), (normal(2, 0),)]

CASES: list[OpCase] = [
    *over("sum", lambda t, x: (x.sum(), t.sum(x)), ANY_SHAPE),
    *over("sum over dims", lambda t, x: (
        x.sum(0), x.sum(-1), x.sum(1, keepdim=True), x.sum((0, 2)), x.sum((-1, 0), True),
        x.sum(()), x.sum([0, 1, 2]), t.sum(x, dim=1), x.sum(axis=1), x.sum(axis=1, keepdims=True),
        x.sum(dim=None), x.sum(None, True),
    ), CUBES),
    *over("sum of 0-d", lambda t, x: (x.sum(0), x.sum(-1, keepdim=True), x.mean(0), x.prod(0)), [
        (normal(),),
    ]),
    OpCase("sum in another dtype", lambda t, x: x.sum(dtype=t.float32), (normal(3, 4),),
           tolerance=1e-6),
    *over("sum of integers", lambda t, x: (
        x.sum(), x.sum(0), x.sum(dtype=t.float64), x.prod(), x.prod(0), x.cumsum(0), x.all(),
        x.any(0), t.count_nonzero(x), t.count_nonzero(x, 0),
    ), [
        (integers(-5, 5, 3, 4),), (integers(0, 250, 3, 4, dtype="uint8"),), (mask(3, 4),),
        (integers(-5, 5, 3, dtype="int32"),), (mask(0),),
    ]),
    *over("mean", lambda t, x: (x.mean(), t.mean(x)), ANY_SHAPE),
    *over("mean over dims", lambda t, x: (
        x.mean(0), x.mean(-1, keepdim=True), x.mean((0, 2)), x.mean([1]), t.mean(x, dim=(1, 2)),
        x.mean(()), x.mean(axis=0),
    ), CUBES),
    OpCase("mean in a dtype", lambda t, x: (
        x.mean(dtype=t.float64), x.mean(0, dtype=t.float64)
    ), (integers(-5, 5, 3, 4),)),
    *over("prod", lambda t, x: x.prod(), [
        (normal(3, 4),), (normal(1),), (normal(),), (normal(0),), (strided(normal(3, 4)),),
    ]),
    *over("prod over a dim", lambda t, x: (
        x.prod(0), x.prod(1, keepdim=True), t.prod(x, -1), x.prod(dim=1),
    ), [(nonzero(2, 3, 4),), (normal(2, 5, 3),), (normal(2, 0, 3),), (normal(1, 1, 1),)]),
    *over("prod with zeros", lambda t, x: x.prod(), [
        (exactly([0.0, 2.0, 3.0]),), (exactly([0.0, 2.0, 0.0, 3.0]),), (exactly([[2.0, 0.0]]),),
        (exactly([0.0, 0.0, 0.0]),), (exactly(0.0),), (exactly([0.0]),),
    ]),
    *over("prod over a dim with zeros", lambda t, x: (x.prod(0), x.prod(1)), [
        (exactly([[0.0, 2.0, 3.0], [1.0, 0.0, 0.0], [4.0, 5.0, 6.0]]),),
    ]),
    *over("truth", lambda t, x: (
        x.all(), x.any(), x.all(0), x.any(1), x.all(1, keepdim=True), x.any(dim=-1), t.all(x),
        t.any(x, 0), x.all(dim=(0, 1)), x.any(()), t.count_nonzero(x), t.count_nonzero(x, 1),
        t.count_nonzero(x, (0, 1)), x.count_nonzero(-1),
    ), [
        (mask(3, 4),), (integers(0, 2, 3, 4),), (normal(3, 4),), (mask(0, 2),), (mask(2, 0),),
        (exactly([[0.0, nan], [1.0, 0.0]]),), (integers(0, 2, 3, 4, dtype="uint8"),),
    ]),
    OpCase("truth of 0-d", lambda t, x: (x.all(), x.any(0), t.count_nonzero(x)), (mask(),)),
]  # fmt: skip
