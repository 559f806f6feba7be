"""Running products and extremes, differences and integrals, norms of differences, bins."""

from __future__ import annotations

import math

from tests.engine.ops.cases.case import (
    OpCase,
    distinct,
    exactly,
    integers,
    mask,
    normal,
    over,
    positive,
    strided,
)

nan = math.nan
CUBES = [(normal(2, 3, 4),), (strided(normal(3, 5)),), (normal(1, 1),), (normal(2, 0),)]

CASES: list[OpCase] = [
    *over("cumprod", lambda t, x: (t.cumprod(x, 0), x.cumprod(-1), x.cumprod(dim=1)), CUBES),
    OpCase("cumprod with zeros", lambda t, x: x.cumprod(0),
           (exactly([[1.0, 2.0], [0.0, 3.0], [2.0, 0.0], [0.0, 4.0], [3.0, 2.0]]),)),
    OpCase("cumprod of integers", lambda t, x: (x.cumprod(0), x.cumprod(0, dtype=t.float64)),
           (integers(-3, 4, 5),)),
    OpCase("cumprod of 0-d", lambda t, x: (x.cumprod(0), x.logcumsumexp(0)), (normal(),)),
    *over("logcumsumexp", lambda t, x: (t.logcumsumexp(x, 0), x.logcumsumexp(1)), CUBES[:3],
          tolerance=1e-11),  # PyTorch's adds up exponentials, which loses digits.
    OpCase("logcumsumexp of nothing", lambda t, x: t.logcumsumexp(x, 1), (normal(2, 0),),
           not_pushed="PyTorch's forward mode takes the largest of nothing"),
    *over("cummax", lambda t, x: (*t.cummax(x, 0), *x.cummin(-1)),
          [(distinct(3, 4),), (strided(distinct(4, 2)),), (distinct(),)]),
    OpCase("cummax of equals and NaN", lambda t, x: (*t.cummax(x, 0), *x.cummin(0)),
           (exactly([1.0, 1.0, 0.0, nan, 2.0, nan]),)),
    *over("diff", lambda t, x: (
        t.diff(x), x.diff(n=2, dim=0), x.diff(dim=0, prepend=x[:1], append=x), x.diff(n=0),
        x.diff(n=9),
    ), [(normal(4, 3),), (strided(normal(3, 5)),)]),
    OpCase("diff of booleans", lambda t, x: t.diff(x), (mask(5),)),
    OpCase("trapezoid", lambda t, y, x: (
        t.trapezoid(y), t.trapz(y, dx=2.0, dim=0), t.trapezoid(y, x), t.trapezoid(y, y, dim=0),
        t.cumulative_trapezoid(y), t.cumulative_trapezoid(y, x, dim=1),
    ), (normal(3, 4), normal(4))),
    *over("dist", lambda t, x, y: (t.dist(x, y), x.dist(y, 1), t.dist(x, y, 3)),
          [(distinct(3, 4), normal(4)), (distinct(3), normal())]),
    OpCase("renorm", lambda t, x: (t.renorm(x, 2, 0, 1.5), x.renorm(1, 1, 2.0), x.renorm(2, 0, 99)),
           (normal(3, 4),)),
    OpCase("aminmax", lambda t, x: (
        *t.aminmax(x), *x.aminmax(dim=0), *t.aminmax(x, dim=-1, keepdim=True)
    ), (distinct(3, 4),)),
    OpCase("bucketize", lambda t, x, b: (
        t.bucketize(x, b.detach()), t.bucketize(x, b.detach(), right=True, out_int32=True)
    ), (positive(3, 4), exactly([0.6, 1.0, 1.5]))),
    OpCase("histc", lambda t, x: (
        t.histc(x.detach(), 4), x.detach().histc(bins=3, min=0.7, max=1.5)
    ), (positive(3, 9),)),
    *over("gradient", lambda t, x: (
        *t.gradient(x), *t.gradient(x, spacing=2.0, dim=0, edge_order=2),
        *t.gradient(x, spacing=[0.5, 3.0]),
    ), [(normal(4, 3),), (strided(normal(3, 5)),)]),
    OpCase("gradient on uneven points", lambda t, x, p, q: (
        *t.gradient(x, spacing=(p, q)), *t.gradient(x, spacing=(q,), dim=1, edge_order=2),
    ), (normal(3, 4), exactly([0.0, 1.0, 3.0]), exactly([-1.0, 0.5, 1.0, 4.0]))),
    OpCase("gradient of integers", lambda t, x: t.gradient(x), (integers(0, 9, 3, 2),)),
]  # fmt: skip
