"""Tensors joined along a dimension.

Joining is linear in any number of tensors, so there is one primitive for each number of them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.engine._ops.core.batching import changing, of_examples, with_examples
from gradtool.engine._ops.core.dims import wrap_dim
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive, Vjp
from gradtool.engine._ops.core.promotion import result_type
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
    return out if out.flags.c_contiguous else out.copy(order="C")


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


def _stacked(*xs: Any, dim: int) -> Any:
    """Return ``np.stack(xs, dim)`` of arrays, which need no more than this."""
    key = (*[slice(None)] * dim, None)
    return np.concatenate([x[key] for x in xs], dim)


@functools.cache
def _stack_of(count: int) -> Primitive:
    """So many tensors along a new dimension; the gradient of each is its slice."""

    def gradient(position: int) -> Vjp:
        return Vjp(lambda g, dim: g.select(dim, position), ("dim",))

    return Primitive(
        "stack",
        _stacked,
        [gradient(position) for position in range(count)],
        arguments=tuple(f"x{position}" for position in range(count)),
        kind="linear",
        batch=_join_rule,
    )


_nothing = linear(
    "nothing",
    lambda x, *, shape: x.reshape(shape),
    lambda g: g.new_zeros(0),
    batch=changing(shape=of_examples),
)
"""A tensor of shape (0,) in the shape that joins with the others; no gradient comes back."""


@op(aliases=("concat", "concatenate"))
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors end to end along a dimension; one of shape (0,) joins with anything.

    Raises:
        RuntimeError: they differ in another dimension.
    """
    starts = _quick_starts(tensors, dim)
    if starts is not None:
        dim = dim + tensors[0]._array.ndim if dim < 0 else dim
        return _cat_of(len(tensors))(*tensors, dim=dim, starts=starts)
    given = _same_dtype(_listed(tensors, "cat"))
    if not given:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    _check_not_single(given)
    shape = next((each.shape for each in given if each.shape != (0,)), (0,))
    dim = wrap_dim(dim, len(shape)) if shape != (0,) else 0
    nothing = (*shape[:dim], 0, *shape[dim + 1 :])
    joined = [_nothing(each, shape=nothing) if each.shape == (0,) else each for each in given]
    _check_joinable(joined, dim)
    starts = tuple(itertools.accumulate([each.shape[dim] for each in joined], initial=0))
    return _cat_of(len(joined))(*joined, dim=dim, starts=starts)


def _quick_starts(tensors: Any, dim: int) -> tuple[int, ...] | None:
    """The start of each of tensors that fit in the whole; None where a closer look is needed."""
    if tensors.__class__ not in (list, tuple) or not tensors or dim.__class__ is not int:
        return None
    first = tensors[0]
    if first.__class__ is not Tensor or not -first._array.ndim <= dim < first._array.ndim:
        return None
    dtype, expected = first._array.dtype, list(first._array.shape)
    starts, start = [0], 0
    for each in tensors:
        array = each._array if each.__class__ is Tensor else None
        if array is None or array.dtype is not dtype or array.ndim != len(expected):
            return None
        if array.size == 0:
            return None
        shape = array.shape
        expected[dim] = shape[dim]
        if shape != tuple(expected):
            return None
        start += shape[dim]
        starts.append(start)
    return tuple(starts)


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


def _check_not_single(tensors: list[Tensor]) -> None:
    for position, each in enumerate(tensors):
        if each.ndim == 0:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {position}) cannot be concatenated"
            )


def _check_joinable(tensors: list[Tensor], dim: int) -> None:
    first = tensors[0].shape
    for position, each in enumerate(tensors):
        shape = each.shape
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
    first = given[0]._array.shape
    dim = wrap_dim(dim, len(first) + 1)
    for position, each in enumerate(given):
        if each._array.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 "
                f"and {list(each.shape)} at entry {position}"
            )
    return _stack_of(len(given))(*given, dim=dim)


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


@op(name="_chunk_cat")
def chunk_cat(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> Tensor:
    """Tensors cut into so many chunks along `dim`, with zeros at the end, joined chunk by chunk."""
    dim = wrap_dim(dim, tensors[0].ndim)
    rows = []
    for each in tensors:
        missing = -each.shape[dim] % num_chunks
        zeros = each.new_zeros([missing if at == dim else n for at, n in enumerate(each.shape)])
        whole = cat([each, zeros], dim) if missing else each
        rows.append(whole.reshape(*each.shape[:dim], num_chunks, -1))
    return cat(rows, dim + 1)
