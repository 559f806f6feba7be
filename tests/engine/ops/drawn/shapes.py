"""What changes shapes, and takes apart, joins and repeats."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st

from tests.engine.ops.cases.case import Shape, normal
from tests.engine.ops.drawn.language import (
    ABSENT,
    FLOATS,
    NUMBERS,
    SMOOTH,
    WIDE,
    Call,
    Op,
    Pick,
    among,
    broadcastable,
    by_shape,
    dim,
    dims,
    each,
    of_one,
    op,
    optional,
    order,
    shapes,
    typed,
)

# ---- one tensor in another shape ------------------------------------------------------------


def reshaped(shape: Shape) -> st.SearchStrategy[Shape]:
    """The extents in another order, or in one dimension, or with one left open."""
    whole = st.permutations(shape).map(tuple)
    return whole | st.just((-1,)) | whole.map(lambda them: (*them[:-1], -1) if them else (1, 1))


def two(shape: Shape) -> st.SearchStrategy[tuple[int, int]]:
    """Two dimensions."""
    return st.tuples(dim(shape), dim(shape))


def _moved(pick: Pick, shape: Shape) -> Call:
    source = pick(dims(shape))
    target = pick(order(shape))[: len(source)]
    return Call((normal(*shape),), (source, target))


def _expanded(pick: Pick, shape: Shape) -> Call:
    small, wide = pick(broadcastable(2))
    lead = (2,) if pick(st.booleans()) else ()
    target = [*lead, *[max(pair) if 0 not in pair else 0 for pair in _aligned(small, wide)]]
    return Call((normal(*small),), (tuple(target),))


def _aligned(one: Shape, other: Shape) -> list[tuple[int, int]]:
    count = max(len(one), len(other))
    return list(zip(_padded(one, count), _padded(other, count), strict=True))


def _padded(shape: Shape, count: int) -> Shape:
    return (1,) * (count - len(shape)) + shape


def _summed(pick: Pick, shape: Shape) -> Call:
    kept = pick(st.integers(0, 2 ** len(shape) - 1)) if shape else 0
    target = tuple(side if kept >> at & 1 else 1 for at, side in enumerate(shape))
    return Call((normal(*shape),), (target[pick(st.integers(0, len(target))) :],))


def _strided(pick: Pick, shape: Shape) -> Call:
    size = pick(shapes(0, 2, 1))
    stride = tuple(pick(among(0, 1, 2)) for _ in size)
    reach = sum((extent - 1) * step for extent, step in zip(size, stride, strict=True)) + 3
    return Call((normal(reach),), (size, stride, pick(among(0, 1, 2))))


RESHAPED: dict[str, Op] = {
    **each("reshape Tensor.reshape Tensor.view", op(of_one(normal, reshaped, dtypes=SMOOTH))),
    **each("ravel Tensor.contiguous clone atleast_1d atleast_2d atleast_3d", op(of_one(normal))),
    **each("squeeze", op(of_one(normal, optional(dims), dtypes=WIDE), lambda t, x, at: (
        t.squeeze(x) if at is ABSENT else t.squeeze(x, at)))),
    **each("squeeze_copy", op(of_one(normal, optional(dims), dtypes=WIDE), lambda t, x, at: (
        t.squeeze_copy(x) if at is ABSENT else t.squeeze_copy(x, at)))),
    "alias_copy": op(of_one(normal, dtypes=SMOOTH)),
    "fill": op(of_one(normal, among(0, 2.5, True), dtypes=SMOOTH)),
    "view_as_real_copy": op(
        of_one(normal, dtypes=("float32", "float64"), smallest=1),
        lambda t, x: t.view_as_real_copy(x * 1j)),
    "view_as_complex_copy": op(
        of_one(normal, dtypes=("float32", "float64")),
        lambda t, x: t.view_as_complex_copy(t.stack([x, x], -1).detach())),
    "view_copy": op(of_one(normal, reshaped, dtypes=SMOOTH)),
    "permute_copy": op(of_one(normal, order, dtypes=SMOOTH)),
    "transpose_copy": op(of_one(normal, dim, dim, dtypes=WIDE, least=1)),
    "t_copy": op(of_one(normal, most=2)),
    "unsqueeze_copy": op(of_one(normal, lambda shape: dim((*shape, 1)), dtypes=WIDE)),
    "expand_copy": op(by_shape(_expanded), lambda t, x, *size: t.expand_copy(x, size)),
    "as_strided_copy": op(by_shape(_strided)),
    "unsqueeze": op(of_one(normal, lambda shape: dim((*shape, 1)), dtypes=WIDE)),
    "flatten": op(of_one(normal, start_dim=dim, end_dim=dim, dtypes=WIDE)),
    "unflatten": op(of_one(normal, dim, among((1, -1), (2, -1), (-1, 1)), least=1, dtypes=WIDE)),
    **each("permute Tensor.permute", op(of_one(normal, order, dtypes=SMOOTH))),
    **each("swapaxes", op(of_one(normal, dim, dim, dtypes=WIDE))),
    "moveaxis": op(by_shape(_moved)),
    "t": op(of_one(normal, most=3)),
    "adjoint": op(of_one(normal, dtypes=SMOOTH)),
    **each("broadcast_to Tensor.broadcast_to Tensor.expand", op(by_shape(_expanded))),
    "Tensor.sum_to_size": op(by_shape(_summed)),
    "as_strided": op(by_shape(_strided)),
    **each("Tensor.view_as Tensor.reshape_as", op(
        of_one(normal, dtypes=WIDE), lambda t, x: (x.reshape(-1).view_as(x), x.reshape_as(x.t()
        if x.ndim == 2 else x)))),
    "Tensor.expand_as": op(of_one(normal), lambda t, x: x.expand_as(t.zeros(2, *x.shape))),
    **each("fliplr flipud", op(of_one(normal))),
    "rot90": op(of_one(normal, among(-1, 0, 1, 2, 5), least=2, dtypes=SMOOTH)),
}  # fmt: skip

# ---- diagonals ------------------------------------------------------------------------------

OFFSET = among(-2, -1, 0, 1, 2)
DIAGONALS: dict[str, Op] = {
    **each("tril triu", op(of_one(normal, OFFSET, dtypes=NUMBERS, least=1))),
    "diag": op(of_one(normal, OFFSET, dtypes=SMOOTH)),
    "diag_embed": op(of_one(normal, offset=OFFSET, least=1, dtypes=WIDE)),
    "diagflat": op(of_one(normal, OFFSET, dtypes=WIDE)),
    "diagonal": op(of_one(normal, OFFSET, dim, dim, dtypes=WIDE)),
    "diagonal_copy": op(of_one(normal, OFFSET, dim, dim, dtypes=WIDE, least=2)),
    "linalg.diagonal": op(of_one(normal, offset=OFFSET, dtypes=WIDE)),
    "trace": op(of_one(normal, dtypes=SMOOTH, least=1)),
}

# ---- parts ----------------------------------------------------------------------------------


def _narrowed(pick: Pick, shape: Shape) -> Call:
    at = pick(dim(shape))
    start = pick(st.integers(0, shape[at]))
    length = pick(st.integers(0, shape[at] - start + 1))
    return Call((normal(*shape),), (at, start - shape[at] if start % 2 else start, length))


def _selected(pick: Pick, shape: Shape) -> Call:
    at = pick(dim(shape))
    return Call((normal(*shape),), (at, pick(st.integers(-shape[at], shape[at]))))


def _windowed(pick: Pick, shape: Shape) -> Call:
    at = pick(dim(shape))
    extent = shape[at] if shape else 1
    return Call((normal(*shape),), (at, pick(st.integers(1, extent + 1)), pick(among(1, 2, 3))))


def _sections(shape: Shape) -> st.SearchStrategy[Any]:
    return among(1, 2, 3, (1,), (1, 2), (0, 3), [-1])


def _pieces(pick: Pick, shape: Shape) -> Call:
    at = pick(dim(shape))
    extent = shape[at]
    first = pick(st.integers(0, extent))
    sizes = pick(among(1, 2, 3, [first, extent - first], [extent + 1]))
    return Call((normal(*shape),), (sizes, at))


def _sized(pick: Pick, shape: Shape) -> Call:
    at = pick(dim(shape))
    first = pick(st.integers(0, shape[at]))
    return Call((normal(*shape),), ([first, shape[at] - first], at))


PARTS: dict[str, Op] = {
    **each("narrow narrow_copy", op(by_shape(_narrowed, least=1))),
    **each("select select_copy", op(by_shape(_selected, least=1))),
    "slice_copy": op(
        of_one(normal, dim, among(0, 1, -1), among(None, 2, -1), among(1, 2), least=1)
    ),
    "unbind_copy": op(of_one(normal, dim, least=1)),
    **each("Tensor.unfold unfold_copy", op(by_shape(_windowed, least=0))),
    "split": op(by_shape(_pieces, least=1)),
    "split_copy": op(of_one(normal, among(1, 2, 3), dim, least=1, smallest=1)),
    **each("split_with_sizes split_with_sizes_copy", op(by_shape(_sized, least=1))),
    "unsafe_split": op(of_one(normal, among(1, 2, 3), dim, least=1, smallest=1)),
    "unsafe_chunk": op(of_one(normal, among(1, 2, 3, 5), dim, least=1)),
    "chunk": op(of_one(normal, among(1, 2, 3, 5), dim, least=1)),
    "tensor_split": op(of_one(normal, _sections, dim, least=1)),
    **each("hsplit", op(of_one(normal, among(1, 2, (1,), (0, 2)), least=1))),
    **each("vsplit", op(of_one(normal, among(1, 2, (1,), (0, 2)), least=2))),
    **each("dsplit", op(of_one(normal, among(1, 2, (1,), (0, 2)), least=2))),
    "unbind": op(of_one(normal, dim, least=1)),
}

# ---- several tensors ------------------------------------------------------------------------


def _joined(pick: Pick, shape: Shape) -> Call:
    """Tensors that differ in the dimension they are joined along, in shape and in dtype."""
    at = pick(dim(shape))
    count = pick(st.integers(1, 3))
    sides = [pick(among(0, 1, 2)) if shape else 1 for _ in range(count)]
    shaped = [(*shape[: at % len(shape)], side, *shape[at % len(shape) + 1 :]) if shape else ()
              for side in sides]  # fmt: skip
    tensors = [typed(normal(*each), pick(among(*WIDE))) for each in shaped]
    return Call(tuple(tensors), (), {"dim": at})


def _alike(pick: Pick, shape: Shape) -> Call:
    count = pick(st.integers(1, 3))
    return Call(tuple(typed(normal(*shape), pick(among(*FLOATS))) for _ in range(count)))


def _stacked(pick: Pick, shape: Shape) -> Call:
    return Call(_alike(pick, shape).tensors, (), {"dim": pick(dim((*shape, 1)))})


def _broadcast(pick: Pick, shape: Shape) -> Call:
    return Call(tuple(normal(*each) for each in pick(broadcastable(3))))


def gathered(name: str) -> Any:
    """A function of a list of tensors."""
    return lambda t, *tensors, **named: getattr(t, name)(list(tensors), **named)


def spread(name: str) -> Any:
    """A function of any number of tensors."""
    return lambda t, *tensors: getattr(t, name)(*tensors)


SEVERAL: dict[str, Op] = {
    "cat": op(by_shape(_joined), gathered("cat")),
    "stack": op(by_shape(_stacked), gathered("stack")),
    **{name: op(by_shape(_alike), gathered(name))
       for name in ("hstack", "row_stack", "dstack", "column_stack")},
    "broadcast_tensors": op(by_shape(_broadcast), spread("broadcast_tensors")),
    "block_diag": op(by_shape(_alike, most=2), spread("block_diag")),
    "cartesian_prod": op(by_shape(_alike, least=1, most=1), spread("cartesian_prod")),
    "meshgrid": op(by_shape(_alike, most=1),
                   lambda t, *tensors: t.meshgrid(*tensors, indexing="ij")),
    "combinations": op(of_one(normal, least=1, most=1, r=among(1, 2, 3),
                              with_replacement=st.booleans())),
    "einsum": op(of_one(normal, among("ij->ji", "ij,jk", "ii", "ij->", "i...,...i->..."), least=1),
                 lambda t, x, text: t.einsum(text, *[x] * (text.count(",") + 1))),
}  # fmt: skip

# ---- repetition -----------------------------------------------------------------------------

REPEATS = among((), (2,), (2, 1), (1, 0, 2), (2, 1, 2, 1))
REPEATED: dict[str, Op] = {
    "Tensor.repeat": op(of_one(normal, REPEATS, dtypes=WIDE)),
    **each("tile Tensor.tile", op(of_one(normal, REPEATS, dtypes=WIDE))),
    "repeat_interleave": op(of_one(normal, among(0, 1, 3), dim=optional(dim), dtypes=SMOOTH)),
    "linalg.vander": op(of_one(normal, N=among(1, 2, 4), least=1, most=2, dtypes=WIDE)),
    "vander": op(
        of_one(normal, N=among(1, 2, 4), increasing=st.booleans(), least=1, most=1),
        lambda t, x, **named: t.vander(x.detach(), **named),
        tolerance=1e-2,
    ),
}

TABLE: dict[str, Op] = {**RESHAPED, **DIAGONALS, **PARTS, **SEVERAL, **REPEATED}
