"""Variance, standard deviation and norms, also where they are not smooth."""

from __future__ import annotations

import math

from tests.engine.ops.cases.case import OTHER_SIDE, OpCase, exactly, nonzero, normal, over, strided

inf = math.inf
CUBES = [(normal(2, 3, 4),), (strided(normal(2, 3, 4)),)]
ORDERS = (2, 1, inf, -inf, 0, 3, 1.5, 0.5, -1, -2, 2.5, "fro", None)
ORIGINS = [
    exactly([0.0, 0.0]), exactly([[1.0, -2.0], [0.0, 2.0]]), exactly([0.0]), exactly(0.0),
    exactly([3.0, -3.0, 3.0, 0.0]),
]  # fmt: skip

CASES: list[OpCase] = [
    *over("var", lambda t, x: (
        x.var(), x.var(False), t.var(x, unbiased=False), x.var(correction=0), x.std(),
        x.std(correction=2), t.std(x, unbiased=False),
    ), [(normal(3, 4),), (normal(5),), (strided(normal(3, 4)),)]),
    *over("var over dims", lambda t, x: (
        x.var(0), x.var(1, False), x.var(-1, False, True), x.var((0, 2)), x.var(1, keepdim=True),
        x.var(dim=2, correction=0.5), x.std(0), x.std((1, 2), unbiased=False),
        x.std(-1, True, True), t.std(x, 1, correction=0), x.detach().var(()), x.var(axis=1),
    ), CUBES),
    *over("var_mean", lambda t, x: (
        t.var_mean(x), t.var_mean(x, 1), t.std_mean(x, dim=1, keepdim=True), t.var_mean(x, False),
        t.std_mean(x, (0, 2), correction=0),
    ), CUBES),
    OpCase("std of equals", lambda t, x: x.std(0), (exactly([[1.0, 2.0], [1.0, 3.0]]),),
           second_order=False, not_pushed=OTHER_SIDE),
    *[
        case
        for p in ORDERS
        for case in over(f"norm {p}", lambda t, x, p=p: (t.norm(x, p), x.norm(p)), [
            (nonzero(3, 4),), (nonzero(5),), (nonzero(),), (strided(nonzero(3, 4)),),
        ])
    ],
    *[
        case
        for p in ORDERS
        for case in over(f"norm {p} over dims", lambda t, x, p=p: (
            t.norm(x, p, 1), x.norm(p, 0, True), x.norm(p, dim=(0, 1)),
        ), [(nonzero(3, 4),)])
    ],
    *[
        OpCase(f"norm {p} at zeros", lambda t, x, p=p: x.norm(p), (at,), second_order=False)
        for p in ORDERS
        for at in ORIGINS
    ],
    OpCase("norm of nothing", lambda t, x: (
        x.norm(), x.norm(1), x.norm(3), x.norm(0)
    ), (normal(0),), second_order=False),
    OpCase("norm keepdim", lambda t, x: x.norm(2, keepdim=True), (normal(3, 4),)),
]  # fmt: skip
