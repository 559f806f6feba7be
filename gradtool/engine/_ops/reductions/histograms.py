"""Histograms over one or several dimensions, and the hash of all elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtool.device import module_of
from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import as_ints, wrap_dims
from gradtool.engine._ops.core.dtype_support import FLOATS, takes
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.core.scalars import cpp_name
from gradtool.engine._ops.creation.creation import linspace
from gradtool.engine._tensor import Tensor, wrap


@return_type("histogram")
class Histogram(NamedTuple):
    """Counts, or sums of weights, and the edges of the bins."""

    hist: Tensor
    bin_edges: Tensor


@return_type("histogramdd")
class Histogramdd(NamedTuple):
    """Counts, or sums of weights, and the edges of the bins of each dimension."""

    hist: Tensor
    bin_edges: tuple[Tensor, ...]


@op(method=True)
@takes(FLOATS, "histogramdd")
def histogram(
    x: Tensor,
    bins: int | Tensor,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogram:
    """Count the elements in each bin: so many of one width, or those between edges.

    Raises:
        RuntimeError: bins, range and weights do not fit each other or the elements.
    """
    rows = x.detach().reshape(-1, 1)
    found = _counted(rows, [bins], range, weight, density=density, name="torch.histogram()")
    return Histogram(found.hist, found.bin_edges[0])


@op
@takes(FLOATS, "histogramdd")
def histogramdd(
    x: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogramdd:
    """Count the points in each bin, where the last dimension holds the coordinates.

    Raises:
        RuntimeError: bins, range and weights do not fit each other or the points.
    """
    if x.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    count = x.shape[-1]
    each = [bins] * count if isinstance(bins, int) else list(bins)
    if len(each) != count:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    rows = x.detach().reshape(-1, count)
    return _counted(rows, each, range, weight, density=density, name="torch.histogramdd()")


def _counted(
    rows: Tensor,
    bins: Sequence[Any],
    given: Sequence[float] | None,
    weight: Tensor | None,
    *,
    density: bool,
    name: str,
) -> Histogramdd:
    ends = _ends(rows, given) if any(isinstance(each, int) for each in bins) else []
    edges = [_edges(rows, at, each, ends, name) for at, each in enumerate(bins)]
    weights = None if weight is None else _weights(rows, weight)
    shape = [max(len(each) - 1, 0) for each in edges]
    hist = wrap(_summed(rows._array, [each._array for each in edges], weights, shape))
    if density:
        hist = hist / hist.sum()
        for at, each in enumerate(edges):
            hist = hist / each.diff().reshape([-1 if dim == at else 1 for dim in _all(edges)])
    return Histogramdd(hist, tuple(edges))


def _all(edges: Sequence[Tensor]) -> list[int]:
    return list(range(len(edges)))


def _ends(rows: Tensor, given: Sequence[float] | None) -> list[tuple[float, float]]:
    """The lowest and the highest value of each dimension that count."""
    count = rows.shape[1]
    if given is not None:
        if len(given) != 2 * count:
            raise RuntimeError(
                f"torch.histogramdd: for a {count}-dimensional histogram range should have "
                f"{2 * count} elements, but got {len(given)}"
            )
        ends = [(given[2 * at], given[2 * at + 1]) for at in range(count)]
    elif rows.shape[0]:
        lows, highs = rows.amin(0).tolist(), rows.amax(0).tolist()
        ends = list(zip(lows, highs, strict=True))
    else:
        ends = [(0.0, 1.0)] * count
    return [_checked_ends(at, *pair) for at, pair in enumerate(ends)]


def _checked_ends(at: int, low: float, high: float) -> tuple[float, float]:
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(
            f"torch.histogramdd: dimension {at}'s range [{low:g}, {high:g}] is not finite"
        )
    if low > high:
        raise RuntimeError(
            f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for "
            f"dimension {at}"
        )
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _edges(rows: Tensor, at: int, bins: Any, ends: Sequence[Any], name: str) -> Tensor:
    if isinstance(bins, Tensor):
        if bins.ndim != 1:
            raise RuntimeError(
                "torch.histogramdd: bins tensor should have one dimension, but got "
                f"{bins.ndim} dimensions in the bins tensor for dimension {at}"
            )
        if bins.dtype is not rows.dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but "
                f"got input with dtype {cpp_name(rows.dtype)} and bins for dimension {at} with "
                f"dtype {cpp_name(bins.dtype)}"
            )
        return bins.detach().clone()
    if bins <= 0:
        raise RuntimeError(f"{name}: bins must be > 0, but got {bins} for dimension {at}")
    return linspace(*ends[at], bins + 1, dtype=rows.dtype, device=rows.device)


def _weights(rows: Tensor, weight: Tensor) -> Any:
    if weight.numel() != rows.shape[0]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the "
            f"input tensor excluding its innermost dimension, but got input with shape "
            f"{list(rows.shape)} and weight with shape {list(weight.shape)}"
        )
    if weight.dtype is not rows.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor "
            f"should have the same dtype, but got input({cpp_name(rows.dtype)}), and "
            f"weight({cpp_name(weight.dtype)})"
        )
    return weight.detach().reshape(-1)._array


def _summed(rows: Any, edges: Sequence[Any], weights: Any, shape: Sequence[int]) -> Any:
    """The sums of the weights in each bin; the last bin of a dimension has its upper end."""
    library = module_of(rows)
    size = int(np.prod(shape))
    inside, place = library.ones(len(rows), bool), library.zeros(len(rows), np.int64)
    for at, bounds in enumerate(edges):
        column = rows[:, at]
        inside &= (column >= bounds[0]) & (column <= bounds[-1])
        found = library.searchsorted(bounds, column, side="right") - 1
        place = place * shape[at] + library.minimum(found, shape[at] - 1)
    chosen = None if weights is None else weights[inside]
    return library.bincount(place[inside], chosen, size).astype(rows.dtype).reshape(shape)


# ---- hashes ----------------------------------------------------------------------------------


@op
def hash_tensor(x: Tensor, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> Tensor:
    """The exclusive or of the bits of elements of eight bytes, over some dimensions or all.

    Raises:
        RuntimeError: there is no such mode.
    """
    if mode != 0:
        raise RuntimeError(f"hash_tensor: Unknown mode {mode}")
    wide = x.detach().to(_dtypes.float64 if x.is_floating_point() else _dtypes.int64)
    dims = wrap_dims(as_ints(dim), x.ndim) if x.ndim else ()
    bits = module_of(wide._array).ascontiguousarray(wide._array).view(np.uint64)
    reduce: Any = np.bitwise_xor.reduce
    found = reduce(bits.reshape(x.shape), axis=dims or tuple(range(x.ndim)), keepdims=keepdim)
    return wrap(found)
