"""Keys of every kind, and positions along a dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.engine.ops.cases.case import OpCase, exactly, integers, mask, normal, over, strided

Key = Callable[..., Any]

BASIC: dict[str, Key] = {
    "1": lambda t: 1,
    "-1": lambda t: -1,
    "1:": lambda t: slice(1, None),
    "::2": lambda t: slice(None, None, 2),
    "5:9": lambda t: slice(5, 9),
    "...": lambda t: ...,
    "None": lambda t: None,
    "0, 1": lambda t: (0, 1),
    "0, 1, 2": lambda t: (0, 1, 2),
    "..., 1": lambda t: (..., 1),
    "0, ..., None": lambda t: (0, ..., None),
    ":, None, 1:, ::2": lambda t: (slice(None), None, slice(1, None), slice(None, None, 2)),
    "True": lambda t: True,
    "0-d tensor": lambda t: t.tensor(1),
    "0-d tensor in a tuple": lambda t: (slice(None), t.tensor(-1)),
    "()": lambda t: (),
}
"""Keys of a tensor of shape (3, 4, 5)."""

ADVANCED: dict[str, Key] = {
    "list": lambda t: [0, 2, 0],
    "empty list": lambda t: [],
    "negative": lambda t: t.tensor([-1, 1]),
    "int32": lambda t: t.tensor([2, 1], dtype=t.int32),
    "matrix": lambda t: t.tensor([[0, 1], [2, 2]]),
    "pair": lambda t: ([0, 1, 1], [3, 3, 0]),
    "broadcast pair": lambda t: (t.tensor([[0], [2]]), t.tensor([1, 3, 1])),
    "apart": lambda t: ([0, 1], slice(None), [4, 2]),
    "second and third": lambda t: (slice(1, None), [0, 1], [4, 4]),
    "integer before, apart": lambda t: (0, slice(None), t.tensor([1, 1, 3])),
    "integer after, apart": lambda t: (t.tensor([1, 1, 2]), slice(None), 0),
    "integer beside": lambda t: (slice(None), 1, t.tensor([1, 1, 3])),
    "with None": lambda t: (None, [0, 1], slice(None, None, 2), None),
    "with ellipsis": lambda t: (..., t.tensor([4, 0])),
    "mask of all": lambda t: t.arange(60).reshape(3, 4, 5) % 7 == 2,
    "mask of rows": lambda t: t.tensor([True, False, True]),
    "mask in the middle": lambda t: (slice(None), t.tensor([True, False, False, True])),
    "mask of two": lambda t: t.arange(12).reshape(3, 4) % 5 == 0,
    "mask of two, then integer": lambda t: (t.arange(12).reshape(3, 4) % 5 == 0, 3),
    "mask and positions": lambda t: (t.tensor([True, False, True]), t.tensor([1, 3])),
    "mask of none": lambda t: t.zeros(3, 4, dtype=t.bool),
    "True and positions": lambda t: (True, [0, 2]),
    "False": lambda t: False,
}

GETITEM = [
    OpCase(f"x[{name}]", lambda t, x, key=key: x[key(t)] * 2, (arg,))
    for name, key in {**BASIC, **ADVANCED}.items()
    for arg in (normal(3, 4, 5), strided(normal(3, 4, 5)))
] + [
    OpCase("x[...]", lambda t, x: x[...], (normal(),)),
    OpCase("x[None]", lambda t, x: x[None], (normal(),)),
    OpCase("x[True]", lambda t, x: x[True], (normal(),)),
    OpCase("x[mask]", lambda t, x, m: x[m], (normal(), mask())),
    OpCase("x[1:]", lambda t, x: x[1:], (normal(0, 3),)),
    OpCase("x[[]]", lambda t, x: x[[]], (normal(2, 0, 3),)),
    OpCase("x[i] ** 3", lambda t, x, i: x[i] ** 3, (normal(4, 2), integers(-4, 4, 3, 2))),
]


def written(t: Any, x: Any, key: Any, value: Any) -> Any:
    copy = x.clone()
    copy[key] = value
    return copy * 2


SETITEM = [
    OpCase(f"x[{name}] = {kind}", lambda t, x, v, key=key: written(t, x, key(t), v),
           (normal(3, 4, 5), arg))
    for name, key in {**BASIC, **ADVANCED}.items()
    for kind, arg in (("0-d", normal()), ("without a gradient", exactly(3, "int64")))
    if kind == "0-d" or name in BASIC
] + [
    OpCase("x[1:] = row", lambda t, x, v: written(t, x, slice(1, None), v),
           (normal(3, 4), normal(4))),
    OpCase("x[0] = 1 x row", lambda t, x, v: written(t, x, 0, v), (normal(3, 4), normal(1, 4))),
    OpCase("x[i] = rows", lambda t, x, v: written(t, x, [2, 0], v), (normal(3, 4), normal(2, 4))),
    OpCase("x[0, :, i] = rows", lambda t, x, v: written(t, x, (0, slice(None), [1, 0]), v),
           (normal(2, 3, 4), normal(3, 2))),
    OpCase("x[mask] = number", lambda t, x, m: written(t, x, m, 1.5), (normal(3, 4), mask(3, 4))),
    OpCase("x[mask] = values", lambda t, x, v: written(t, x, t.tensor([True, False, True]), v),
           (normal(3), normal(2))),
    OpCase("0-d x[...] = number", lambda t, x: written(t, x, ..., 2), (normal(),)),
    OpCase("0-d x[()] = tensor", lambda t, x, v: written(t, x, (), v), (normal(), normal())),
]  # fmt: skip

INDEX_PUT = [
    OpCase("index_put", lambda t, x, v, i: t.index_put(x, (i,), v),
           (normal(4, 2), normal(2, 2), exactly([3, 0], "int64"))),
    OpCase("index_put", lambda t, x, v, i: x.index_put((i,), v, accumulate=True) ** 2,
           (normal(4, 2), normal(3, 2), exactly([3, 0, 3], "int64"))),
    OpCase("index_put broadcasts", lambda t, x, v, i: x.index_put((i,), v),
           (normal(4, 2), normal(2), exactly([3, 0], "int64"))),
    OpCase("index_put of a number", lambda t, x, i: x.index_put((i,), t.tensor(2.0, dtype=x.dtype)),
           (normal(4, 2), exactly([3, 0], "int64"))),
    OpCase("index_put twice indexed", lambda t, x, v, i: x.index_put((i, i), v, True),
           (normal(3, 3), normal(3), exactly([1, 0, 1], "int64"))),
    OpCase("index_put of a mask", lambda t, x, v, m: x.index_put((m,), v),
           (normal(3), normal(1), exactly([True, False, True], "bool"))),
]  # fmt: skip

VIEWS = [
    OpCase("select", lambda t, x: x.select(1, 2), (normal(3, 4),)),
    OpCase("select", lambda t, x: t.select(x, -1, -1) ** 2, (normal(2, 3, 4),)),
    OpCase("narrow", lambda t, x: x.narrow(1, 1, 2), (normal(3, 4),)),
    OpCase("narrow", lambda t, x: t.narrow(x, 0, -2, 2) ** 2, (normal(3, 4),)),
    OpCase("narrow", lambda t, x: x.narrow(0, 1, 0), (normal(3, 4),)),
]

ALONG = [
    OpCase("gather", lambda t, x, i: x.gather(0, i), (normal(3, 4), integers(0, 3, 5, 4))),
    OpCase("gather", lambda t, x, i: t.gather(x, -1, i) ** 2, (normal(3, 4), integers(0, 4, 2, 3))),
    OpCase("gather", lambda t, x, i: x.gather(1, i), (normal(2, 3, 2), integers(0, 3, 2, 1, 2))),
    OpCase("gather", lambda t, x, i: x.gather(0, i), (normal(), integers(0, 1))),
    OpCase("gather", lambda t, x, i: x.gather(0, i), (normal(3), integers(0, 3))),
    OpCase("gather", lambda t, x, i: x.gather(0, i), (normal(3, 2), integers(0, 3, 0, 2))),
    OpCase("scatter", lambda t, x, s, i: x.scatter(1, i, s),
           (normal(2, 5), normal(2, 3), exactly([[0, 4, 2], [3, 1, 0]], "int64"))),
    OpCase("scatter", lambda t, x, s, i: t.scatter(x, 0, i, s) ** 2,
           (normal(3, 4), normal(2, 4), exactly([[0, 1, 2, 0], [2, 0, 1, 1]], "int64"))),
    OpCase("scatter of a number", lambda t, x, i: x.scatter(1, i, 1.5),
           (normal(2, 5), integers(0, 5, 2, 3))),
    OpCase("scatter of a value", lambda t, x, i: x.scatter(0, i, value=-1),
           (normal(2, 5), integers(0, 2, 1, 3))),
    OpCase("scatter", lambda t, x, s, i: x.scatter(0, i, s), (normal(), normal(), integers(0, 1))),
    OpCase("scatter_add", lambda t, x, s, i: x.scatter_add(0, i, s),
           (normal(3, 4), normal(5, 4), integers(0, 3, 5, 4))),
    OpCase("scatter_add", lambda t, x, s, i: t.scatter_add(x, 1, i, s) ** 2,
           (normal(3, 4), normal(3, 6), integers(0, 4, 3, 6))),
    OpCase("scatter_add", lambda t, x, s, i: x.scatter_add(0, i, s),
           (normal(3, 2), normal(0, 2), integers(0, 3, 0, 2))),
    OpCase("take_along_dim", lambda t, x, i: t.take_along_dim(x, i, 1),
           (normal(3, 4), integers(0, 4, 1, 2))),
    OpCase("take_along_dim", lambda t, x, i: x.take_along_dim(i, dim=0),
           (normal(3, 1), integers(0, 3, 2, 4))),
    OpCase("take_along_dim", lambda t, x, i: x.take_along_dim(i),
           (normal(3, 2), integers(0, 6, 5))),
    OpCase("take", lambda t, x, i: x.take(i), (normal(3, 4), integers(-12, 12, 2, 3))),
    OpCase("take", lambda t, x, i: t.take(x, i) ** 2, (strided(normal(3, 4)), integers(0, 12, 5))),
]  # fmt: skip

SLICES = [
    OpCase("index_select", lambda t, x, i: x.index_select(0, i), (normal(3, 4), integers(0, 3, 5))),
    OpCase("index_select", lambda t, x, i: t.index_select(x, -1, i) ** 2,
           (normal(2, 3, 4), integers(0, 4, 2, dtype="int32"))),
    OpCase("index_select", lambda t, x, i: x.index_select(1, i), (normal(3, 4), integers(0, 4))),
    OpCase("index_select", lambda t, x, i: x.index_select(0, i), (normal(), integers(0, 1, 1))),
    OpCase("index_select", lambda t, x, i: x.index_select(0, i), (normal(3, 4), integers(0, 3, 0))),
    OpCase("index_add", lambda t, x, s, i: x.index_add(0, i, s),
           (normal(3, 4), normal(5, 4), integers(0, 3, 5))),
    OpCase("index_add", lambda t, x, s, i: t.index_add(x, 1, i, s, alpha=-0.5) ** 2,
           (normal(3, 4), normal(3, 2), integers(0, 4, 2))),
    OpCase("index_add", lambda t, x, s, i: x.index_add(0, i, s),
           (normal(), normal(), integers(0, 1, 1))),
    OpCase("index_copy", lambda t, x, s, i: x.index_copy(0, i, s),
           (normal(3, 4), normal(2, 4), exactly([2, 0], "int64"))),
    OpCase("index_copy", lambda t, x, s, i: t.index_copy(x, 1, i, s) ** 2,
           (normal(3, 4), normal(3, 2), exactly([1, 3], "int64"))),
]  # fmt: skip

MASKS = [
    OpCase("masked_fill", lambda t, x, m: x.masked_fill(m, 2.5), (normal(3, 4), mask(3, 4))),
    OpCase("masked_fill", lambda t, x, m: t.masked_fill(x, m, -1) ** 2, (normal(3, 4), mask(4))),
    OpCase("masked_fill", lambda t, x, m: x.masked_fill(m, 0), (normal(4), mask(3, 4))),
    OpCase("masked_fill", lambda t, x, m: x.masked_fill(m, 0), (normal(), mask(3))),
    OpCase("masked_fill", lambda t, x, m: x.masked_fill(m, 0), (normal(0), mask(0))),
    OpCase("masked_fill with a tensor", lambda t, x, v, m: x.masked_fill(m, v) ** 2,
           (normal(3, 4), normal(), mask(3, 4))),
    OpCase("masked_fill of integers", lambda t, x, m: x.masked_fill(m, 7.5),
           (integers(0, 9, 3), mask(3))),
    OpCase("masked_select", lambda t, x, m: x.masked_select(m), (normal(3, 4), mask(3, 4))),
    OpCase("masked_select", lambda t, x, m: t.masked_select(x, m) ** 2, (normal(4), mask(3, 1))),
    OpCase("masked_select", lambda t, x, m: x.masked_select(m), (normal(), exactly(True, "bool"))),
    *over("nonzero", lambda t, x: x.nonzero(),
          [(mask(3, 4),), (mask(5),), (mask(),), (mask(0, 2),)]),
    *over("nonzero", lambda t, x: t.nonzero(x, as_tuple=True), [(mask(3, 4),), (mask(),)]),
    OpCase("argwhere", lambda t, x: t.argwhere(x), (integers(0, 2, 3, 3),)),
]  # fmt: skip

CASES = [*GETITEM, *SETITEM, *INDEX_PUT, *VIEWS, *ALONG, *SLICES, *MASKS]
