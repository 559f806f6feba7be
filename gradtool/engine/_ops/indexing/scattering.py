"""Scattering with a reduction, and reductions of segments."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.device import combine_at
from gradtool.engine._ops.core.batching import together_along_dim
from gradtool.engine._ops.core.dims import wrap_dim
from gradtool.engine._ops.core.dtype_support import (
    MEASURED,
    ORDERED,
    REAL,
    check_taken,
    refuse,
    takes,
)
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import conjugate, general
from gradtool.engine._ops.core.node_names import saving
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.creation.creation import arange, ones_like
from gradtool.engine._ops.elementwise.arithmetic import div
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._ops.indexing.gathering import (
    flat_places,
    gather,
    scatter,
    scatter_add,
    scattered_into,
)
from gradtool.engine._ops.indexing.slicing import repeat_interleave
from gradtool.engine._tensor import Tensor

# ---- scattering ------------------------------------------------------------------------------
#
# Sums and means are made of `scatter_add`. Products and extremes are primitives; what is not to
# count of the tensor itself is first overwritten by what changes nothing: one, or the least value.


# ---- products --------------------------------------------------------------------------------


@ignore_fp_warnings
def _multiplied_at(x: Any, src: Any, index: Any, *, dim: int) -> Any:
    out = x.copy()
    combine_at(np.multiply, out.reshape(-1), flat_places(index, dim, x.shape), src)
    return out


def _prod_vjp_of_x(g: Tensor, x: Tensor, src: Tensor, index: Tensor, dim: int) -> Tensor:
    """The product of all that was brought to an element."""
    others: Tensor = conjugate(_scatter_prod(ones_like(x), src, index, dim=dim))
    return g * others


def _prod_vjp_of_src(g: Tensor, x: Tensor, src: Tensor, index: Tensor, dim: int) -> Tensor:
    """The product of the others, with that of zeros apart: nothing is divided by zero.

    Right up to the second derivative; beyond, where no three zeros meet.
    """
    is_zero, one = src == 0, ones_like(src)
    rest = _scatter_prod(x, where(is_zero, one, src), index, dim=dim)
    zeros = _scatter_prod(ones_like(x), where(is_zero, src, one), index, dim=dim)
    of_zero = gather(rest, dim, index) * _product_of_other_zeros(x, src, index, dim)
    of_others = gather(rest * zeros, dim, index) / where(is_zero, one, src)
    slope: Tensor = conjugate(where(is_zero, of_zero, of_others))
    return gather(g, dim, index) * slope


def _product_of_other_zeros(x: Tensor, src: Tensor, index: Tensor, dim: int) -> Tensor:
    """For a zero: one if it is alone, the other if there are two; more are zero to first order."""
    is_zero, nothing = src == 0, x.detach() * 0
    counts = scatter_add(nothing, dim, index, is_zero.to(src.dtype)).gather(dim, index)
    total = scatter_add(nothing, dim, index, src.masked_fill(~is_zero, 0)).gather(dim, index)
    other = where(counts == 2, total - src, 0)
    return where(counts == 1, ones_like(src), other)


_scatter_prod: Primitive = general(
    "scatter_prod", _multiplied_at, _prod_vjp_of_x, _prod_vjp_of_src, batch=together_along_dim
)

# ---- extremes --------------------------------------------------------------------------------


def _extreme(name: str) -> Primitive:
    """The larger or the smaller: equal ones share the gradient."""
    ufunc = {"scatter_amax": np.maximum, "scatter_amin": np.minimum}[name]

    def compute(x: Any, src: Any, index: Any, *, dim: int) -> Any:
        refuse("c", f"scatter_gather_tensor_cpu_reduce_{name.removeprefix('scatter_')}", x)
        out = x.copy()
        combine_at(ufunc, out.reshape(-1), flat_places(index, dim, x.shape), src)
        return out

    return general(
        name,
        compute,
        _extreme_vjp_of_x,
        _extreme_vjp_of_src,
        dtypes=ORDERED,
        batch=together_along_dim,
    )


def _part(
    g: Tensor, x: Tensor, src: Tensor, index: Tensor, out: Tensor, dim: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradient in equal parts, and to which elements of `x` and `src` they go."""
    from_x = (x == out).to(g.dtype)
    from_src = (src == gather(out, dim, index)).to(g.dtype)
    return g / scatter_add(from_x, dim, index, from_src), from_x, from_src


def _extreme_vjp_of_x(
    g: Tensor, x: Tensor, src: Tensor, index: Tensor, out: Tensor, dim: int
) -> Tensor:
    part, chosen, _ = _part(g, x, src, index, out, dim)
    return part * chosen


def _extreme_vjp_of_src(
    g: Tensor, x: Tensor, src: Tensor, index: Tensor, out: Tensor, dim: int
) -> Tensor:
    part, _, chosen = _part(g, x, src, index, out, dim)
    return gather(part, dim, index) * chosen


_EXTREMES = {
    "amax": _extreme("scatter_amax"),
    "amin": _extreme("scatter_amin"),
}


# ---- the functions ---------------------------------------------------------------------------

REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


@op(in_place=True, node=saving("ScatterReduceBackward0", "x", "src", "out"))
def scatter_reduce(
    x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A copy in which each position along a dimension holds what `reduce` makes of what it got.

    That is the elements of `src` whose index it is and, with `include_self`, its own.

    Raises:
        RuntimeError: there is no such reduction, or shapes, dtypes or positions do not fit.
    """
    if reduce not in REDUCTIONS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    if not include_self:
        x = scatter(x, dim, index, _neutral(x, reduce))
    if reduce == "sum":
        return scatter_add(x, dim, index, src)
    if reduce == "mean":
        return _averaged(x, dim, index, src, include_self)
    return scattered_into(x, dim, index, src, _EXTREMES.get(reduce, _scatter_prod))


def _neutral(x: Tensor, reduce: str) -> Any:
    """The element that changes nothing that it is reduced with."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    kind = x._array.dtype
    if kind.kind == "f":
        return -np.inf if reduce == "amax" else np.inf
    if kind.kind == "b":
        return reduce == "amin"
    refuse("c", f"scatter_gather_tensor_cpu_reduce_{reduce}", x._array)
    limits = np.iinfo(kind)
    return int(limits.min if reduce == "amax" else limits.max)


def _averaged(x: Tensor, dim: int, index: Tensor, src: Tensor, include_self: bool) -> Tensor:
    ones = ones_like(x.detach())
    start = ones if include_self else ones - ones
    counts = scatter_add(start, dim, index, ones_like(src.detach()))
    counts = counts.masked_fill(counts == 0, 1)
    total = scatter_add(x, dim, index, src)
    return div(total, counts, rounding_mode=None if x.dtype.is_differentiable else "floor")


@op(in_place=True, node=saving("IndexReduceBackward0", "x", "source", "out"))
def index_reduce(
    x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`scatter_reduce` of whole slices along a dimension, one position for each.

    Raises:
        RuntimeError: there is no such reduction, or shapes, dtypes or positions do not fit.
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    dim = wrap_dim(dim, x.ndim)
    if index.numel() != (source.shape[dim] if source.ndim else 1):
        raise RuntimeError(
            f"index_reduce_(): Number of indices ({index.numel()}) should be equal to "
            f"source.size(dim): ({source.shape[dim] if source.ndim else 1}), for dim: {dim}"
        )
    if not include_self:
        check_taken(x, MEASURED, "index_reduce_func_exclude_input_init")
    vector = index.reshape([-1 if axis == dim else 1 for axis in range(source.ndim)])
    places = vector.expand(source.shape)
    return scatter_reduce(x, dim, places, source, reduce, include_self=include_self)


# ---- segments --------------------------------------------------------------------------------


_REDUCTIONS = {"max": "amax", "min": "amin", "mean": "sum", "prod": "prod", "sum": "sum"}
_OF_NOTHING = {"max": -float("inf"), "min": float("inf"), "mean": 0.0, "prod": 1.0, "sum": 0.0}


@op(node="SegmentReduceBackward0")
@takes(REAL, "_segment_reduce_cpu")
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Tensor:
    """Reduce consecutive slices by ``sum``, ``mean``, ``max``, ``min`` or ``prod``.

    `lengths` says how many slices of the first dimension each segment has, or `offsets` where
    each begins and the last ends. `initial` is counted in with every segment.

    Raises:
        RuntimeError: there is no such reduction, or the lengths do not add up.
    """
    if reduce not in _REDUCTIONS:
        raise RuntimeError(
            f"segment_reduce(): reduce must be one of {', '.join(_REDUCTIONS)}, got {reduce}"
        )
    if offsets is not None:
        lengths = offsets.diff()
    if lengths is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if lengths.ndim != 1 or axis not in (0, -data.ndim):
        raise RuntimeError("segment_reduce(): only segments of the first dimension are supported")
    if not unsafe and int(lengths.sum()) != len(data):
        raise RuntimeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to "
            "data.size(lengths.dim()-1) when !unsafe."
        )
    return _reduced(data, reduce, lengths, initial)


def _reduced(data: Tensor, reduce: str, lengths: Tensor, initial: Any) -> Tensor:
    segments = repeat_interleave(arange(len(lengths), device=data.device), lengths)
    places = segments.reshape(-1, *[1] * (data.ndim - 1)).expand(data.shape)
    start = _OF_NOTHING[reduce] if initial is None else float(initial)
    out = data.new_full((len(lengths), *data.shape[1:]), start)
    found = scatter_reduce(out, 0, places, data, _REDUCTIONS[reduce])
    if reduce != "mean":
        return found
    counts = lengths.to(data.dtype).reshape(-1, *[1] * (data.ndim - 1))
    nothing = float("nan") if initial is None else start
    empty = (counts == 0).expand(found.shape)
    averages: Tensor = found / counts.masked_fill(counts == 0, 1)
    return averages.masked_fill(empty, nothing)
