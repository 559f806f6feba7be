"""Consecutive slices reduced to one: sums, means, products and extremes of segments."""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.core.claims import REAL
from gradtool.engine._ops.core.unsupported import takes
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.indexing.scattering import scatter_reduce
from gradtool.engine._ops.shape.repeating import repeat_interleave
from gradtool.engine._tensor import Tensor

_REDUCTIONS = {"max": "amax", "min": "amin", "mean": "sum", "prod": "prod", "sum": "sum"}
_OF_NOTHING = {"max": -float("inf"), "min": float("inf"), "mean": 0.0, "prod": 1.0, "sum": 0.0}


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
    """What `reduce` (``sum``, ``mean``, ``max``, ``min``, ``prod``) makes of consecutive slices.

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


__all__ = ["segment_reduce"]
