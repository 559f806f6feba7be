"""Elements gathered from, and scattered to, positions along a dimension: one for each element."""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import prod as product
from typing import Any

import numpy as np

from gradtool.device import add_at, module_of
from gradtool.engine._dtypes import int64
from gradtool.engine._ops.core.batching import together_along_dim
from gradtool.engine._ops.core.dims import Ints, wrap_dim
from gradtool.engine._ops.core.dtype_support import EVERY, SMOOTH, Dtypes, check_positions
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.core.node_names import saving
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.own_memory import of_own_memory
from gradtool.engine._ops.core.primitive import Primitive, vjp_of
from gradtool.engine._ops.core.scalars import scalar_for
from gradtool.engine._ops.indexing.indexing import check_bounds
from gradtool.engine._ops.shape.expansion import broadcast_shapes
from gradtool.engine._ops.shape.shape import reshape, reshape_own
from gradtool.engine._tensor import Tensor


def flat_places(index: Any, dim: int, shape: Ints) -> Any:
    """Positions in a contiguous array of this shape: `index` at `dim`, own positions elsewhere."""
    check_bounds(index, shape[dim], dim, error=RuntimeError, lowest=0)
    return _places(index, dim, shape)


def taken_along(x: Any, index: Any, *, dim: int) -> Any:
    """The elements at positions along a dimension, which are known to be there."""
    return x.reshape(-1).take(_places(index, dim, x.shape))


def _places(index: Any, dim: int, shape: Ints) -> Any:
    apart = product(shape[dim + 1 :])
    if index.size == 0 or (apart == 1 and index.ndim == 1):
        return index
    library = module_of(index)
    keeps = library is np and index.size <= _KEPT_PLACES
    starts = (_starts if keeps else _starts.__wrapped__)(library, index.shape, dim, shape)
    return (index * apart if apart > 1 else index) + starts


_KEPT_PLACES = 2**12
"""The most elements for whose index starts are kept for the next one: 32 kilobytes."""


@functools.lru_cache(maxsize=64)
def _starts(library: Any, extents: Ints, dim: int, shape: Ints) -> Any:
    """Positions in an array of this shape of the first element along `dim`, for each of others."""
    last, apart, start = len(extents) - 1, 1, library.zeros([1] * len(extents), dtype=np.int64)
    for axis in range(last, -1, -1):
        if axis != dim and extents[axis] > 1:
            own = library.arange(0, apart * extents[axis], apart)
            start = start + own.reshape(extents[axis], *[1] * (last - axis))
        apart *= shape[axis]
    return start


def _gathered(x: Any, index: Any, *, dim: int) -> Any:
    """`taken_along` of positions that a user gave."""
    check_bounds(index, x.shape[dim], dim, error=RuntimeError, lowest=0)
    return taken_along(x, index, dim=dim)


def _spread(g: Any, index: Any, *, shape: Ints, dim: int) -> Any:
    """Zeros with elements added at positions along a dimension: the transpose of gathering."""
    out = module_of(g).zeros(shape, dtype=g.dtype)
    add_at(out.reshape(-1), flat_places(index, dim, shape).reshape(-1), g.reshape(-1))
    return out


def gathering(
    name: str, gathered: Callable[..., Any] = taken_along, *, dtypes: Dtypes = EVERY
) -> Primitive:
    """A primitive that gathers, under the name that the graph shows."""
    return linear(
        name,
        gathered,
        lambda g, x_shape, index, dim: _gather_backward(g, index, shape=x_shape, dim=dim),
        of_arrays=lambda g, shape, index, dim: _spread(g, index, shape=shape, dim=dim),
        dtypes=dtypes,
        batch=together_along_dim,
    )


def _with_dim(x: Any, dim: int) -> Any:
    return x.reshape((*x.shape[:dim], 1, *x.shape[dim:]))


def picked_places(index: Any, dim: int, shape: Ints) -> Any:
    """Positions in a contiguous array of what `index` picks along a dimension that it drops."""
    return _places(_with_dim(index, dim), dim, shape).reshape(index.shape) if shape else index


def picked_along(x: Any, index: Any, *, dim: int) -> Any:
    """The elements at positions along a dimension, which it drops, known to be there."""
    return x.reshape(-1).take(picked_places(index, dim, x.shape)) if x.ndim else x.copy()


def picked_by_user(x: Any, index: Any, *, dim: int) -> Any:
    """The elements at positions along a dimension, which it drops, once they are known to exist."""
    if x.ndim:
        check_bounds(index, x.shape[dim], dim, error=RuntimeError, lowest=0)
    return picked_along(x, index, dim=dim)


def picking(
    name: str, picked: Callable[..., Any] = picked_along, *, dtypes: Dtypes = EVERY
) -> Primitive:
    """A primitive that gathers one element along a dimension, which it drops."""
    return linear(
        name,
        picked,
        lambda g, x_shape, index, dim: (
            _gather_backward(g.unsqueeze(dim), index.unsqueeze(dim), shape=x_shape, dim=dim)
            if x_shape
            else g
        ),
        of_arrays=lambda g, shape, index, dim: (
            _spread(_with_dim(g, dim), _with_dim(index, dim), shape=shape, dim=dim)
            if shape
            else g.copy()
        ),
        dtypes=dtypes,
        batch=together_along_dim,
    )


_gather = gathering("gather", _gathered).keeping("x")
_gather_backward: Primitive = linear(
    "gather_backward",
    _spread,
    lambda g, index, dim: g.gather(dim, index),
    dtypes=SMOOTH,
    batch=together_along_dim,
)


def _scattered(x: Any, src: Any, index: Any, *, dim: int) -> Any:
    out = x.copy()
    out.reshape(-1)[flat_places(index, dim, x.shape)] = src
    return out


def _scattered_sum(x: Any, src: Any, index: Any, *, dim: int) -> Any:
    out = x.copy()
    add_at(out.reshape(-1), flat_places(index, dim, x.shape).reshape(-1), src.reshape(-1))
    return out


_scatter = Primitive(
    "scatter",
    _scattered,
    (
        vjp_of(lambda g, index, dim: g.scatter(dim, index, 0)),
        vjp_of(lambda g, index, dim: g.gather(dim, index)),
    ),
    kind="linear",
    batch=together_along_dim,
)
_scatter_add = Primitive(
    "scatter_add",
    _scattered_sum,
    (vjp_of(lambda g: g), vjp_of(lambda g, index, dim: g.gather(dim, index))),
    kind="linear",
    batch=together_along_dim,
)


@op(method=True, node=saving("GatherBackward0", "x"))
def gather(x: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """The elements at positions along a dimension: ``out[i][j] = x[index[i][j]][j]`` for dim 0.

    Raises:
        RuntimeError: `index` has other dimensions, a larger extent, or is out of bounds.
    """
    dim = _checked(x, dim, index, "gather", "input")
    shape, extents = x._array.shape, index._array.shape
    if 0 in extents or not shape or not extents:
        return _gather_flat(x, index)
    if extents != shape:
        _check_extents(x.shape, dim, index.shape)
        x = _cut(x, index, dim)
    return _gather(x, index, dim=dim)


@of_own_memory
def _gather_flat(x: Tensor, index: Tensor) -> Tensor:
    """`gather` of no element, or of one from a tensor without dimensions, or at such an index."""
    if 0 in index.shape:
        return _gather(x.reshape(-1)[:0], index.new_zeros(0, dtype=int64), dim=0).reshape(
            index.shape
        )
    return reshape_own(gather(x.reshape(-1), 0, index.reshape(-1)), tuple(index.shape))


def _scatter_node(_x: Any, _dim: Any, _index: Any, src: Any = None, **_: Any) -> str:
    return f"ScatterBackward{int(not isinstance(src, Tensor))}"


@op(in_place=True, node=_scatter_node)
@of_own_memory
def scatter(
    x: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
) -> Tensor:
    """A copy with elements of `src`, or one number, written at positions along a dimension.

    With `reduce`, ``add`` or ``multiply``, they are combined with what is there.
    """
    given = src
    if not isinstance(src, Tensor):
        number = scalar_for(x, value if src is None else src)
        given = x.new_tensor(number).expand(index.shape)
    if reduce is not None:
        return _reduced(x, dim, index, given, reduce)
    return scattered_into(x, dim, index, given, _scatter, of_number=given is not src)


def _reduced(x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str) -> Tensor:
    from gradtool.engine._ops.indexing.scattering import scatter_reduce

    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    return scatter_reduce(x, dim, index, src, "sum" if reduce == "add" else "prod")


@op(in_place=True, node="ScatterAddBackward0")
@of_own_memory
def scatter_add(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy with elements of `src` added at positions along a dimension; repeats add up."""
    return scattered_into(x, dim, index, src, _scatter_add)


def scattered_into(
    x: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    primitive: Primitive,
    *,
    of_number: bool = False,
) -> Tensor:
    """Apply one of the primitives that bring `src` to positions along a dimension.

    Raises:
        RuntimeError: shapes, dtypes or positions do not fit.
    """
    dim = _checked(x, dim, index, "scatter", "self")
    if x._array.shape == index._array.shape == src._array.shape and _is_usual(x, src):
        return primitive(x, src, index, dim=dim)
    if src._array.dtype != x._array.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if 0 in index.shape:
        nowhere, vector = index.new_zeros(0, dtype=int64), x.reshape(-1)
        return reshape(primitive(vector, src.reshape(-1)[:0], nowhere, dim=0), x.shape)
    if x.ndim == 0 or index.ndim == 0:
        vectors = [each.reshape(-1) for each in (x, src, index)]
        out = scattered_into(vectors[0], 0, vectors[2], vectors[1], primitive)
        return reshape_own(out, tuple(x.shape))
    if max(src.ndim, 1) != x.ndim:
        if src.ndim:
            wrap_dim(x.ndim - 1, src.ndim)
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    _check_source(x.shape, dim, index.shape, None if of_number else src.shape)
    return primitive(x, _cut(src, index), index, dim=dim)


def _is_usual(x: Tensor, src: Tensor) -> bool:
    """Return True for tensors of one dtype, with elements and dimensions."""
    array = x._array
    return bool(array.size > 0 < array.ndim and array.dtype == src._array.dtype)


def _checked(x: Tensor, dim: int, index: Tensor, name: str, role: str) -> int:
    ndim, positions = x._array.ndim, index._array
    dim = wrap_dim(dim, ndim)
    if 0 in positions.shape:  # nothing is read or written, so nothing has to fit
        return dim
    if positions.dtype.kind != "i" or positions.itemsize < 4:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if max(positions.ndim, 1) != max(ndim, 1):
        raise RuntimeError(f"Index tensor must have the same number of dimensions as {role} tensor")
    return dim


def _check_extents(shape: Ints, dim: int, index_shape: Ints) -> None:
    pairs = enumerate(zip(shape, index_shape, strict=False))
    for axis, (extent, wanted) in pairs:
        if axis != dim and wanted > extent:
            raise RuntimeError(
                f"Size does not match at dimension {axis} expected index {list(index_shape)} to "
                f"be no larger than self {list(shape)} apart from dimension {dim}"
            )


def _cut(x: Tensor, index: Tensor, dim: int | None = None) -> Tensor:
    """`x` without what lies beyond the index, but for one dimension."""
    for axis, extent in enumerate(index.shape):
        if axis != dim and extent < x.shape[axis]:
            x = x.narrow(axis, 0, extent)
    return x


def _check_source(shape: Ints, dim: int, index_shape: Ints, src_shape: Ints | None) -> None:
    src_extents = index_shape if src_shape is None else src_shape or (1,)
    extents = enumerate(zip(index_shape, shape, src_extents, strict=True))
    if any(wanted > src or (axis != dim and wanted > x) for axis, (wanted, x, src) in extents):
        also = (
            "" if src_shape is None else (f" and to be no larger size than src {list(src_shape)}")
        )
        raise RuntimeError(
            f"Expected index {list(index_shape)} to be no larger than self {list(shape)} apart "
            f"from dimension {dim}{also}"
        )


@op(method=True, node="GatherBackward0")
def take_along_dim(x: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """`gather` that broadcasts; without `dim` the tensors are flattened first.

    Along `dim` positions beyond the extent wrap around.

    Raises:
        RuntimeError: `indices` are no int64, or have another number of dimensions.
    """
    check_positions(indices, "torch.take_along_dim(): dtype of indices should be Long but got {}")
    if dim is None:
        return gather(x.reshape(-1), 0, indices.reshape(-1))
    if x.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {x.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    dim = wrap_dim(dim, x.ndim)
    around = [(*each.shape[:dim], 1, *each.shape[dim + 1 :]) for each in (x, indices)]
    shape = broadcast_shapes(*around)
    x, indices = (
        each.expand((*shape[:dim], each.shape[dim], *shape[dim + 1 :])) for each in (x, indices)
    )
    return gather(x, dim, indices % x.shape[dim] if x.shape[dim] else indices)
