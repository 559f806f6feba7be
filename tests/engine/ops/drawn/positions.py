"""What takes from positions and masks, and what writes to them."""

from __future__ import annotations

import math
from typing import Any

import hypothesis.strategies as st
import numpy as np

from tests.engine.ops.cases.case import Arg, Shape, distinct, mask, nonzero, normal
from tests.engine.ops.cases.scattering import NO_TANGENT, NOT_FORWARD
from tests.engine.ops.drawn.language import (
    BOOL,
    NUMBERS,
    WIDE,
    Call,
    Kind,
    Op,
    Pick,
    among,
    broadcastable,
    by_shape,
    dim,
    each,
    integers,
    of_one,
    op,
    positions,
    typed,
)

COUNTED = "the size of the result depends on values"


def _replaced(shape: Shape, at: int, side: int) -> Shape:
    if not shape:
        return shape
    at %= len(shape)
    return (*shape[:at], side, *shape[at + 1 :])


def _extent(shape: Shape, at: int) -> int:
    return shape[at] if shape else 1


def taking(along: bool, least: int = 0) -> st.SearchStrategy[Call]:
    """Positions along a dimension: as many dimensions as the tensor has, or a vector."""

    def build(pick: Pick, shape: Shape) -> Call:
        at = pick(dim(shape))
        count = pick(among(0, 1, 3, 5)) if _extent(shape, at) else 0
        index_shape = _replaced(shape, at, count) if along else (count,)
        if not shape:
            index_shape = ()
        return Call((normal(*shape), positions(_extent(shape, at), index_shape)), (at,))

    return by_shape(build, least, smallest=1)


def writing(
    along: bool,
    kind: Kind = normal,
    dtypes: tuple[str, ...] = WIDE,
    apart: bool = False,
    *rest: Any,
    **named: Any,
) -> st.SearchStrategy[Call]:
    """A tensor, a dimension, positions along it (each once, if `apart`), and what to write."""

    def build(pick: Pick, shape: Shape) -> Call:
        at = pick(dim(shape))
        extent = _extent(shape, at)
        count = pick(st.integers(0, extent if apart else 4)) if extent and shape else extent
        source = _replaced(shape, at, count)
        index_shape = source if along else ((count,) if shape else ())
        dtype = pick(st.sampled_from(dtypes))
        index = some_order(extent, index_shape, source, at) if apart else positions(
            extent, index_shape)  # fmt: skip
        tensors = (typed(kind(*shape), dtype), index, typed(kind(*source), dtype))
        return Call(
            tensors,
            (at, *[pick(each) for each in rest]),
            {name: pick(each) for name, each in named.items()},
        )

    return by_shape(build, smallest=1)


def some_order(extent: int, index_shape: Shape, source: Shape, at: int) -> Arg:
    """Positions each of which comes once along the dimension."""

    def draw(rng: Any) -> Any:
        if not source:
            return np.zeros(index_shape, dtype=np.int64)
        count = source[at]
        chosen = rng.permutation(extent)[:count]
        if len(index_shape) == 1:
            return chosen
        shape = [count if axis == at % len(source) else 1 for axis in range(len(source))]
        return np.broadcast_to(chosen.reshape(shape), index_shape).copy()

    return Arg(f"positions apart {index_shape}", draw)


def _into(method: str, named: bool = False) -> Any:
    """Calls ``x.method(dim, index, source, …)`` of tensors given first."""
    return lambda t, x, index, source, at, *rest, **options: getattr(t, method)(
        x, at, index, source, *rest, **options)  # fmt: skip


TAKEN: dict[str, Op] = {
    "gather": op(taking(along=True), lambda t, x, index, at: t.gather(x, at, index)),
    "take_along_dim": op(taking(along=True),
                         lambda t, x, index, at: t.take_along_dim(x, index, at)),
    "index_select": op(taking(along=False), lambda t, x, index, at: t.index_select(x, at, index)),
    "take": op(by_shape(lambda pick, shape: Call((
        normal(*shape), positions(int(math.prod(shape)), pick(among((), (3,), (2, 2))),
                                  negative=True))), smallest=1)),
    "nn.functional.embedding": op(by_shape(lambda pick, shape: Call((
        positions(4, shape), normal(4, pick(among(1, 3))))), smallest=1), lambda t, i, w: (
            t.nn.functional.embedding(i, w))),
    "nn.functional.one_hot": op(by_shape(lambda pick, shape: Call((positions(3, shape),), (3,)))),
    **each("nonzero argwhere", op(of_one(integers, dtypes=NUMBERS), not_batched=COUNTED)),
}  # fmt: skip

WRITTEN: dict[str, Op] = {
    "scatter": op(writing(True, apart=True), _into("scatter")),
    "scatter_add": op(writing(True), _into("scatter_add")),
    **{
        f"scatter_reduce {reduce}": op(
            writing(True, nonzero if reduce == "prod" else normal, include_self=BOOL),
            lambda t, x, index, source, at, include_self, reduce=reduce: t.scatter_reduce(
                x, at, index, source, reduce, include_self=include_self),
            not_pushed=NO_TANGENT if reduce == "prod" else "",
            second_order=reduce != "prod",
        )
        for reduce in ("sum", "mean", "amax", "amin", "prod")
    },
    "index_add": op(writing(False, alpha=among(1, 0.5)), _into("index_add")),
    "index_copy": op(writing(False, apart=True), _into("index_copy")),
    "index_reduce": op(writing(False, distinct), lambda t, x, index, source, at: t.index_reduce(
        x, at, index, source, "mean"), not_pushed=NOT_FORWARD),
    "index_fill": op(taking(along=False), lambda t, x, index, at: t.index_fill(x, at, index, 2.5)),
    "put": op(by_shape(lambda pick, shape: Call((
        normal(*shape), positions(int(math.prod(shape)), (3,)), normal(3)),
        (True,)), smallest=1)),
    "index_put": op(by_shape(lambda pick, shape: Call((
        normal(*shape), positions(shape[0], (3,), negative=True), normal(3, *shape[1:]))),
        least=1, smallest=1), lambda t, x, index, source: t.index_put(x, (index,), source, True)),
}  # fmt: skip


def masked(*kinds: Kind) -> st.SearchStrategy[Call]:
    """A tensor, a mask that broadcasts with it, and what else there is."""

    def build(pick: Pick, shape: Shape) -> Call:
        one, other = pick(broadcastable(2))
        return Call((normal(*one), mask(*other), *[kind() for kind in kinds]))

    return by_shape(build)


def _part(pick: Pick, shape: Shape) -> Call:
    at = pick(dim(shape))
    index = pick(st.integers(-shape[at], shape[at] - 1))
    left = tuple(side for axis, side in enumerate(shape) if axis != at % len(shape))
    return Call((normal(*shape), normal(*left)), (at, index))


def _slices(pick: Pick, shape: Shape) -> Call:
    at = pick(dim(shape))
    start, step = pick(st.integers(0, shape[at])), pick(among(1, 2))
    end = pick(st.integers(start, shape[at] + 1))
    count = len(range(start, min(end, shape[at]), step))
    return Call((normal(*shape), normal(*_replaced(shape, at, count))), (at, start, end, step))


def _diagonal(pick: Pick, shape: Shape) -> Call:
    offset = pick(among(-1, 0, 1))
    first, second = pick(st.permutations(range(len(shape))))[:2]
    rows, columns = shape[first] + min(offset, 0), shape[second] - max(offset, 0)
    left = tuple(side for axis, side in enumerate(shape) if axis not in (first, second))
    source = normal(*left, max(min(rows, columns), 0))
    return Call((normal(*shape), source), (offset, first - len(shape), second))


def _strided(pick: Pick, shape: Shape) -> Call:
    size, stride, offset = pick(among(((2, 3), (3, 1), 0), ((2, 2), (1, 4), 2), ((3,), (2,), 1)))
    return Call((normal(9), normal(*size)), (size, stride, offset))


KEYS = {
    "1:": lambda t: slice(1, None), "None": lambda t: None, "...": lambda t: ...,
    "0": lambda t: 0, "[-1, 0]": lambda t: [-1, 0], "(0, [0, 0])": lambda t: (0, [0, 0]),
    "True": lambda t: True, "(..., ::2)": lambda t: (..., slice(None, None, 2)),
    "(:, [0])": lambda t: (slice(None), t.tensor([0])), "mask": lambda t: t.tensor([True, False]),
}  # fmt: skip

REPLACED: dict[str, Op] = {
    "masked_fill": op(masked(normal)),
    "masked_select": op(masked(), not_batched="how many elements a mask picks depends on values"),
    "masked_scatter": op(by_shape(lambda pick, shape: Call((
        normal(*shape), mask(*shape), normal(*shape))))),
    "select_scatter": op(by_shape(_part, least=1, smallest=1)),
    "slice_scatter": op(by_shape(_slices, least=1, smallest=1)),
    "as_strided_scatter": op(by_shape(_strided, most=0), lambda t, x, source, *args: (
        t.as_strided_scatter(x.detach(), source, *args))),  # PyTorch leaves the wrong part of g.
    "diagonal_scatter": op(by_shape(_diagonal, least=2, smallest=1)),
    "Tensor.__getitem__": op(of_one(normal, among(*KEYS), dtypes=WIDE),
                             lambda t, x, key: x[KEYS[key](t)]),
    "Tensor.__setitem__": op(of_one(normal, among(*KEYS), dtypes=WIDE), lambda t, x, key: (
        _set(x * 2, KEYS[key](t), x.sum()))),
}  # fmt: skip


def _set(x: Any, key: Any, value: Any) -> Any:
    x[key] = value
    return x


TABLE: dict[str, Op] = {**TAKEN, **WRITTEN, **REPLACED}
