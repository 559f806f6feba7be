"""Turning, raising, joining and splitting along the first dimensions, grids, views by strides."""

from __future__ import annotations

from tests.engine.ops.cases.case import OpCase, normal, over, strided

ANY = [(normal(),), (normal(3),), (normal(2, 3),), (normal(2, 3, 2),)]

CASES: list[OpCase] = [
    *over("rot90", lambda t, x: (
        *[t.rot90(x, k) for k in range(-1, 5)], x.rot90(1, (1, 0)), x.rot90(2, [-1, 0])
    ), [(normal(2, 3),), (strided(normal(2, 3, 2)),)]),
    OpCase("fliplr", lambda t, x: (t.fliplr(x), x.flipud()), (normal(2, 3),)),
    *over("atleast", lambda t, x: (
        t.atleast_1d(x), t.atleast_2d(x), t.atleast_3d(x), t.atleast_2d(x, x), t.atleast_1d([x]),
    ), ANY),
    *over("stacks", lambda t, x, y: (t.dstack((x, y)), t.column_stack((x, y))), [
        (normal(3), normal(3)), (normal(2, 3), normal(2, 3)),
    ]),
    *over("hsplit", lambda t, x: (t.hsplit(x, 2), x.hsplit((1,)), t.hsplit(x, [1, 2])), [
        (normal(4),), (normal(3, 4),),
    ]),
    OpCase("vsplit", lambda t, x: (t.vsplit(x, 2), x.dsplit((1, 3))), (normal(4, 2, 3),)),
    OpCase("block_diag", lambda t, x, y, z: t.block_diag(x, y, z),
           (normal(2, 3), normal(2), normal())),
    OpCase("meshgrid", lambda t, x, y, z: (
        *t.meshgrid(x, y, z, indexing="ij"), *t.meshgrid([x, y], indexing="xy"),
    ), (normal(2), normal(3), normal())),
    OpCase("cartesian_prod", lambda t, x, y: (t.cartesian_prod(x, y), t.cartesian_prod(x)),
           (normal(2), normal(3))),
    OpCase("combinations", lambda t, x: (
        t.combinations(x), t.combinations(x, 3), t.combinations(x, with_replacement=True)
    ), (normal(4),)),
    OpCase("as_strided", lambda t, x: (
        t.as_strided(x, (2, 2), (1, 2)), x.as_strided((3, 2), (1, 1), 2), x.as_strided((), (), 1),
        t.as_strided(x, (2,), (0,)),
    ), (normal(3, 4),)),
    OpCase("cat with nothing", lambda t, x, y: t.cat([x, y, x]), (normal(0), normal(2, 3)),
           second_order=False),
    OpCase("copies of views", lambda t, x: (
        t.t_copy(x), t.view_copy(x, (4, 3)), *t.unbind_copy(x), *t.split_copy(x, 2, 1),
        t.slice_copy(x, 1, 1, None, 2), t.squeeze_copy(x[:1], 0),
    ), (normal(3, 4),)),
    OpCase("fill", lambda t, x, y: (t.fill(x, y) * 2, t.fill(x, 3.0) * x),
           (normal(3, 4), normal())),
]  # fmt: skip
