"""Running sums, logsumexp, softmax and log_softmax, also where exponentials overflow."""

from __future__ import annotations

import math

from tests.engine.ops.cases.case import OpCase, between, exactly, integers, normal, over, strided

inf = math.inf
NOTHING = (normal(2, 0, 3),)
CUBES = [
    (normal(2, 3, 4),), (strided(normal(2, 3, 4)),), (normal(1, 1, 1),),
    (between(-500, 500, 2, 3, 4),),
]  # fmt: skip

CASES: list[OpCase] = [
    *over("cumsum", lambda t, x: (x.cumsum(0), t.cumsum(x, -1), x.cumsum(dim=1)),
          [*CUBES[:3], NOTHING]),
    OpCase("cumsum of 0-d", lambda t, x: x.cumsum(0), (normal(),)),
    OpCase("cumsum in a dtype", lambda t, x: x.cumsum(0, dtype=t.float64), (integers(0, 5, 3, 4),)),
    *over("logsumexp", lambda t, x: (
        t.logsumexp(x, 0), x.logsumexp(-1, keepdim=True), x.logsumexp((0, 2)), x.logsumexp(dim=1),
        t.logsumexp(x, (0, 1, 2)),
    ), CUBES),
    OpCase("logsumexp of nothing", lambda t, x: (
        t.logsumexp(x, 0), x.logsumexp(-1, keepdim=True), x.logsumexp((0, 2)), x.logsumexp(dim=1),
        t.logsumexp(x, (0, 1, 2)),
    ), NOTHING, not_pushed="PyTorch weighs no tangents by exp(-inf + inf)"),
    OpCase("logsumexp of 0-d", lambda t, x: x.logsumexp(0), (normal(),)),
    OpCase("logsumexp of integers", lambda t, x: x.logsumexp(0), (integers(0, 5, 3, 4),),
           tolerance=1e-6),
    *over("logsumexp of infinities", lambda t, x: x.logsumexp(0), [
        (exactly([inf, 1.0]),), (exactly([-inf, -inf]),), (exactly([-inf, 1.0, 2.0]),),
    ], second_order=False),
    *over("softmax", lambda t, x: (
        t.softmax(x, 0), x.softmax(-1), x.softmax(dim=1), t.log_softmax(x, 0), x.log_softmax(-1),
        x.log_softmax(dim=1),
    ), [*CUBES, NOTHING]),
    OpCase("softmax of 0-d", lambda t, x: (x.softmax(0), x.log_softmax(-1)), (normal(),)),
    OpCase("softmax in a dtype", lambda t, x: (
        x.softmax(0, dtype=t.float64), x.log_softmax(0, dtype=t.float64)
    ), (integers(0, 5, 3, 4),)),
    *over("softmax of infinities", lambda t, x: (x.softmax(0), x.log_softmax(0)), [
        (exactly([-inf, 0.0, 1.0]),), (exactly([-inf, -inf]),),
    ], second_order=False),
]  # fmt: skip
