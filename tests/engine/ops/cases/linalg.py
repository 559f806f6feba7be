"""Products of vectors, matrices and batches."""

from __future__ import annotations

from tests.engine.ops.cases.case import OpCase, integers, normal, over, strided

PAIRS = [
    (normal(3, 4), normal(4, 2)), (normal(1, 1), normal(1, 1)),
    (strided(normal(3, 4)), normal(4, 3)),
    (normal(0, 4), normal(4, 2)), (normal(3, 0), normal(0, 2)), (normal(3, 4), normal(4, 0)),
]  # fmt: skip

RANKS = [
    (normal(3), normal(3)), (normal(3, 4), normal(4)), (normal(3), normal(3, 4)),
    (normal(2, 3, 4), normal(4)), (normal(3), normal(2, 3, 4)), (normal(2, 3, 4), normal(4, 2)),
    (normal(3, 4), normal(2, 4, 2)), (normal(2, 3, 4), normal(2, 4, 2)),
    (normal(2, 1, 3, 4), normal(3, 4, 2)), (normal(5, 1, 2, 2), normal(1, 3, 2, 2)),
    (normal(0, 3, 4), normal(4)), (normal(2, 0, 4), normal(4)), (normal(2, 3, 0), normal(0)),
    (normal(0), normal(0)), (normal(0), normal(2, 0, 3)), (normal(2, 3, 0), normal(0, 4)),
    (normal(1, 0, 4), normal(2, 4, 3)), (strided(normal(2, 3, 4)), strided(normal(2, 4, 3))),
]  # fmt: skip
"""Every combination of ranks that has a meaning of its own."""

CASES = [
    *over("mm", lambda t, x, y: x.mm(y), PAIRS),
    *over("matmul", lambda t, x, y: x @ y, [*PAIRS, *RANKS]),
    OpCase("matmul of integers", lambda t, x, y: t.matmul(x, y),
           (integers(-3, 3, 2, 3), integers(-3, 3, 3, 2))),
    OpCase("matmul with itself", lambda t, x: t.matmul(x, x), (normal(3, 3),)),
    *over("bmm", lambda t, x, y: t.bmm(x, y),
          [(normal(2, 3, 4), normal(2, 4, 2)), (normal(0, 3, 4), normal(0, 4, 2))]),
    *over("mv", lambda t, x, y: x.mv(y), [(normal(3, 4), normal(4)), (normal(3, 0), normal(0))]),
    *over("dot", lambda t, x, y: x.dot(y), [(normal(3), normal(3)), (normal(0), normal(0))]),
    OpCase("vdot", lambda t, x, y: t.vdot(x, y), (normal(3), normal(3))),
    *over("outer", lambda t, x, y: t.outer(x, y), [(normal(3), normal(2)), (normal(0), normal(2))]),
    OpCase("outer of two dtypes", lambda t, x, y: x.outer(y), (normal(3), integers(0, 5, 2))),
    OpCase("addmm", lambda t, b, x, y: t.addmm(b, x, y), (normal(2), normal(3, 4), normal(4, 2))),
    OpCase("addmm", lambda t, b, x, y: b.addmm(x, y, beta=0.5, alpha=-2),
           (normal(3, 1), normal(3, 4), normal(4, 2))),
    OpCase("addmm", lambda t, b, x, y: t.addmm(b, x, y, beta=0).exp(),
           (normal(3, 2), normal(3, 4), normal(4, 2))),
    OpCase("addmv", lambda t, b, x, y: t.addmv(b, x, y, alpha=3),
           (normal(3), normal(3, 4), normal(4))),
    OpCase("addr", lambda t, b, x, y: (t.addr(b, x, y), b.addr(x, y, beta=0.5, alpha=-2)),
           (normal(3, 1), normal(3), normal(2))),
    OpCase("addbmm", lambda t, b, x, y: (t.addbmm(b, x, y), b.addbmm(x, y, beta=0, alpha=2)),
           (normal(3, 1), normal(2, 3, 4), normal(2, 4, 2))),
    OpCase("added in place", lambda t, b, c, x, y, v, w: (
        (b * 1).addr_(w, w), (b * 1).addbmm_(x, y), (v * 1).addmv_(b, v), (c * 1).baddbmm_(x, y),
    ), (normal(3, 3), normal(2, 3, 3), normal(2, 3, 4), normal(2, 4, 3), normal(3), normal(3))),
    OpCase("baddbmm", lambda t, b, x, y: t.baddbmm(b, x, y, beta=2),
           (normal(1, 3, 1), normal(2, 3, 4), normal(2, 4, 2))),
]  # fmt: skip
