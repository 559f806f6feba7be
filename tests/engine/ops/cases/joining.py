"""Joining tensors and taking them apart."""

from __future__ import annotations

from tests.engine.ops.cases.case import OpCase, integers, normal, over, strided

JOINING = [
    OpCase("cat", lambda t, x, y: t.cat([x, y]), (normal(3, 4), normal(2, 4))),
    OpCase("cat", lambda t, x, y: t.cat((x, y, x), dim=-1) ** 2, (normal(3, 4), normal(3, 1))),
    OpCase("cat", lambda t, x: t.cat([x]), (strided(normal(3, 4)),)),
    OpCase("cat", lambda t, x, y: t.cat([x, y]), (normal(3, 4), normal(0))),
    OpCase("cat", lambda t, x, y: t.cat([x, y], 1), (normal(3, 0), normal(3, 2))),
    OpCase("cat", lambda t, x, y: t.cat([x, y]), (normal(3), integers(0, 5, 2))),
    OpCase("concat", lambda t, x, y: t.concat([x, y]), (normal(3), normal(2))),
    OpCase("concatenate", lambda t, x, y: t.concatenate([x, y]), (normal(3), normal(2))),
    OpCase("stack", lambda t, x, y: t.stack([x, y]), (normal(3, 4), normal(3, 4))),
    OpCase("stack", lambda t, x, y: t.stack((x, y, x), -1) ** 2, (normal(3, 4), normal(3, 4))),
    OpCase("stack", lambda t, x, y: t.stack([x, y]), (normal(), normal())),
    OpCase("stack", lambda t, x, y: t.stack([x, y], 1), (normal(2, 0), normal(2, 0))),
    *over("hstack", lambda t, x, y: t.hstack([x, y]), [
        (normal(3), normal(2)), (normal(2, 3), normal(2, 1)), (normal(), normal()),
    ]),
    *over("vstack", lambda t, x, y: t.vstack((x, y)), [
        (normal(3), normal(3)), (normal(2, 3), normal(3)), (normal(), normal()),
    ]),
]  # fmt: skip

TAKING_APART = [
    OpCase("split", lambda t, x: x.split(2), (normal(5, 2),)),
    OpCase("split", lambda t, x: t.split(x, [1, 0, 3], dim=1)[2] ** 2, (normal(2, 4),)),
    OpCase("split", lambda t, x: x.split(2), (normal(0, 3),)),
    OpCase("chunk", lambda t, x: x.chunk(3, dim=-1), (normal(2, 7),)),
    OpCase("chunk", lambda t, x: t.chunk(x, 5)[1] ** 2, (normal(4, 2),)),
    OpCase("chunk", lambda t, x: x.chunk(3), (normal(0, 3),)),
    OpCase("tensor_split", lambda t, x: t.tensor_split(x, 3), (normal(7),)),
    OpCase("tensor_split", lambda t, x: x.tensor_split((1, 3, 9), 1), (normal(2, 4),)),
    OpCase("tensor_split", lambda t, x: x.tensor_split([3, 1]), (normal(5),)),
    OpCase("unbind", lambda t, x: x.unbind(), (normal(3, 2),)),
    OpCase("unbind", lambda t, x: t.unbind(x, dim=-1)[1] ** 2, (normal(3, 2),)),
    OpCase("unbind", lambda t, x: x.unbind(1), (normal(2, 0, 3),)),
    OpCase("iteration", lambda t, x: [row * at for at, row in enumerate(x)], (normal(3, 2),)),
]

CASES = [*JOINING, *TAKING_APART]
