"""Tensors joined along a dimension, and taken apart along one.

Joining is linear in any number of tensors, so there is one primitive for each number of them.
The parts are views.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.engine._ops.core.batching import with_examples
from gradtool.engine._ops.core.dims import as_ints, wrap_dim
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive, Vjp
from gradtool.engine._ops.core.promotion import result_type
from gradtool.engine._ops.indexing.views import piece
from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine._levels import BatchLevel

# ---- joining --------------------------------------------------------------------------------


def _join_rule(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    parts = [with_examples(level, arg) for arg in args]
    out: Tensor = primitive(*parts, **{**params, "dim": params["dim"] + 1})
    return out


def _joined(xs: Sequence[Any], dim: int) -> Any:
    """Concatenate in row-major order; NumPy keeps the order of the parts."""
    out = np.concatenate(xs, dim)
    return out if out.flags.c_contiguous else np.ascontiguousarray(out)


@functools.cache
def _cat_of(count: int) -> Primitive:
    """Concatenation of so many tensors; the gradient of each is its piece."""

    def gradient(position: int) -> Vjp:
        return Vjp(
            lambda g, dim, starts: g.narrow(
                dim, starts[position], starts[position + 1] - starts[position]
            ),
            ("dim", "starts"),
        )

    return Primitive(
        "cat",
        lambda *xs, dim, starts: _joined(xs, dim),  # noqa: ARG005 - `starts` is for the vjp
        [gradient(position) for position in range(count)],
        arguments=tuple(f"x{position}" for position in range(count)),
        kind="linear",
        batch=_join_rule,
    )


@functools.cache
def _stack_of(count: int) -> Primitive:
    """So many tensors along a new dimension; the gradient of each is its slice."""

    def gradient(position: int) -> Vjp:
        return Vjp(lambda g, dim: g.select(dim, position), ("dim",))

    return Primitive(
        "stack",
        lambda *xs, dim: np.stack(xs, dim),
        [gradient(position) for position in range(count)],
        arguments=tuple(f"x{position}" for position in range(count)),
        kind="linear",
        batch=_join_rule,
    )


@op(aliases=("concat", "concatenate"))
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors end to end along a dimension; one of shape (0,) joins with anything.

    Raises:
        RuntimeError: they differ in another dimension.
    """
    given = _same_dtype(_listed(tensors, "cat"))
    if not given:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    shape = next((each.shape for each in given if each.shape != (0,)), (0,))
    dim = wrap_dim(dim, len(shape))
    nothing = (*shape[:dim], 0, *shape[dim + 1 :])
    joined = [each.reshape(nothing) if each.shape == (0,) else each for each in given]
    _check_joinable(joined, dim)
    starts = tuple(itertools.accumulate([each.shape[dim] for each in joined], initial=0))
    return _cat_of(len(joined))(*joined, dim=dim, starts=starts)


def _listed(tensors: Any, name: str) -> list[Tensor]:
    if isinstance(tensors, Tensor) or not all(isinstance(each, Tensor) for each in tensors):
        found = type(tensors).__name__
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {found}"
        )
    return list(tensors)


def _same_dtype(tensors: list[Tensor]) -> list[Tensor]:
    if len({each._array.dtype for each in tensors}) < 2:
        return tensors
    common = result_type(*tensors)
    return [each.to(common) for each in tensors]


def _check_joinable(tensors: list[Tensor], dim: int) -> None:
    first = tensors[0].shape
    for position, each in enumerate(tensors):
        shape = each.shape
        if not shape:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {position}) cannot be concatenated"
            )
        if len(shape) != len(first):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}"
            )
        for axis, (expected, extent) in enumerate(zip(first, shape, strict=True)):
            if axis != dim and extent != expected:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size "
                    f"{expected} but got size {extent} for tensor number {position} in the list."
                )


@op
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape along a new dimension."""
    given = _same_dtype(_listed(tensors, "stack"))
    if not given:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = given[0].shape
    for position, each in enumerate(given):
        if each.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 "
                f"and {list(each.shape)} at entry {position}"
            )
    return _stack_of(len(given))(*given, dim=wrap_dim(dim, len(first) + 1))


@op
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors side by side: along the second dimension, vectors along their only one."""
    given = [each if each.ndim else each.reshape(1) for each in _listed(tensors, "hstack")]
    return cat(given, 0 if given and given[0].ndim == 1 else 1)


@op(aliases=("row_stack",))
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors above one another: along the first dimension, vectors as rows."""
    given = _listed(tensors, "vstack")
    return cat([each if each.ndim > 1 else each.reshape(1, -1) for each in given])


# ---- taking apart ---------------------------------------------------------------------------


@op(method=True)
def split(
    tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Pieces of one size, the last perhaps smaller, or of the sizes given."""
    dim = _dimension(tensor, dim, "split")
    extent = tensor.shape[dim]
    if isinstance(split_size_or_sections, tuple | list):
        sizes = as_ints(split_size_or_sections)
        if sum(sizes) != extent:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {extent} (input tensor's "
                f"size at dimension {dim}), but got split_sizes={list(sizes)}"
            )
        return _pieces(tensor, dim, tuple(itertools.accumulate(sizes, initial=0)))
    (size,) = as_ints(split_size_or_sections)
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if size == 0 and extent:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {extent}"
        )
    starts = range(0, extent, size) if extent else (0,)
    return _pieces(tensor, dim, (*starts, extent))


def _pieces(x: Tensor, dim: int, bounds: Sequence[int]) -> tuple[Tensor, ...]:
    return tuple([piece(x, dim, start, end) for start, end in itertools.pairwise(bounds)])


def _dimension(x: Tensor, dim: int, name: str) -> int:
    if x.ndim == 0:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor")
    return wrap_dim(dim, x.ndim)


@op(method=True, node="SplitBackward0")
def chunk(x: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most so many pieces of one size, the last perhaps smaller."""
    dim = _dimension(x, dim, "chunk")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    extent = x.shape[dim]
    if extent == 0:
        return _pieces(x, dim, (0,) * (chunks + 1))
    return split(x, -(-extent // chunks), dim)


@op(method=True)
def split_with_sizes(x: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of the sizes given."""
    return split(x, list(split_sizes), dim)


@op(method=True)
def unsafe_split(x: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`split` whose pieces may each be changed in place."""
    return tuple([each.clone() for each in split(x, split_size, dim)])


@op(method=True)
def unsafe_chunk(x: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`chunk` whose pieces may each be changed in place."""
    return tuple([each.clone() for each in chunk(x, chunks, dim)])


@op(method=True, node="SliceBackward0")
def tensor_split(
    x: Tensor, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0
) -> tuple[Tensor, ...]:
    """Exactly so many pieces that differ by one at most, or cut at the positions given."""
    dim = _dimension(x, dim, "tensor_split")
    extent = x.shape[dim]
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, tuple | list):
        cuts = [slice(None, cut).indices(extent)[1] for cut in as_ints(indices_or_sections)]
        bounds = [0, *cuts, extent]
        return tuple(
            [piece(x, dim, start, max(start, end)) for start, end in itertools.pairwise(bounds)]
        )
    (sections,) = as_ints(indices_or_sections)
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    size, larger = divmod(extent, sections)
    starts = [position * size + min(position, larger) for position in range(sections + 1)]
    return _pieces(x, dim, starts)


@op(method=True, node="UnbindBackward0")
def unbind(x: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension, without it."""
    if x.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = wrap_dim(dim, x.ndim)
    return tuple([x.select(dim, position) for position in range(x.shape[dim])])
