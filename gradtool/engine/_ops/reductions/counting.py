"""Counting and finding: how often, before which bound, in which set, in runs of which length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dtype_support import (
    INTEGERS,
    MEASURED,
    REAL,
    TYPE_NAMES,
    refusing_bool_and_complex,
    refusing_complex,
    refusing_integers,
    takes,
)
from gradtool.engine._ops.core.kinds import constant
from gradtool.engine._ops.core.op import op
from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine._levels import BatchLevel


def _counted(x: Any, *, minlength: int) -> Any:
    _check_countable(x)
    return np.bincount(x, minlength=minlength).astype(np.int64)


def _weighed(x: Any, weights: Any, *, minlength: int) -> Any:
    _check_countable(x)
    sums = np.bincount(x, weights, minlength)
    return sums.astype(np.float32 if weights.dtype == np.float32 else np.float64)


def _check_countable(x: Any) -> None:
    if x.size and int(x.min()) < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")


_counts = constant("bincount", _counted, dtypes=INTEGERS)
_sums = constant("bincount_of_weights", _weighed, dtypes=MEASURED)


@op(method=True)
@takes(INTEGERS, "bincount_cpu")
def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count each of 0, 1, … in a vector, or sum the weights where it occurs.

    Of complex weights the real parts, with a warning, as of any cast of them.

    Raises:
        RuntimeError: it is no vector of non-negative integers, or the weights do not fit.
    """
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if x.ndim != 1:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return _counts(x, minlength=minlength)
    if weights.shape != x.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if weights.is_complex():
        weights = weights.to(_dtypes.float64)
    return _sums(x, weights, minlength=minlength)


# ---- sorted bounds --------------------------------------------------------------------------


def _places(bounds: Any, values: Any, *, side: Literal["left", "right"], dtype: Any) -> Any:
    if bounds.ndim == 1:
        return np.searchsorted(bounds, values, side).astype(dtype)
    out = np.empty_like(values, dtype=dtype)
    for row in np.ndindex(bounds.shape[:-1]):
        out[row] = np.searchsorted(bounds[row], values[row], side)
    return out


_searchsorted = constant(
    "searchsorted", refusing_bool_and_complex("searchsorted_out_cpu", _places), dtypes=MEASURED
)


@op
def searchsorted(
    sorted_sequence: Tensor,
    values: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Return the place of each value among bounds that are sorted along the last dimension.

    Before those that equal it, or with `right` behind them. `sorter` holds the order of bounds
    that are not sorted.

    Raises:
        RuntimeError: the shapes do not fit, or `side` and `right` contradict each other.
    """
    name = "torch.searchsorted()"
    if side not in (None, "left", "right"):
        raise RuntimeError(f"{name}: side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            f"{name}: side and right can't be set to opposites, got side of left while right was "
            "True"
        )
    bounds = sorted_sequence
    if sorter is not None:
        if sorter.shape != bounds.shape:
            raise RuntimeError(
                f"{name}: boundary and sorter must have the same size, but got boundary tensor "
                f"{list(bounds.shape)} and got sorter tensor {list(sorter.shape)}"
            )
        bounds = bounds.gather(-1, sorter)
    sought = values if isinstance(values, Tensor) else bounds.new_tensor(values)
    if bounds.ndim != 1 and bounds.shape[:-1] != sought.shape[:-1]:
        raise RuntimeError(
            f"{name}: boundaries tensor should be 1 dimension or the first N-1 dimensions of "
            "boundaries tensor and input value tensor must match, but we got boundaries tensor "
            f"{list(bounds.shape)} and input value tensor {list(sought.shape)}"
        )
    place = "right" if right or side == "right" else "left"
    return _searchsorted(bounds, sought, side=place, dtype=np.int32 if out_int32 else np.int64)


# ---- sets and runs --------------------------------------------------------------------------


@op
def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Return True for elements that are among the test elements, or with `invert` are not."""
    tensors = [each for each in (elements, test_elements) if isinstance(each, Tensor)]
    if not tensors:
        raise TypeError("isin() takes at least one tensor")
    sought, among = [
        each if isinstance(each, Tensor) else tensors[0].new_tensor(each)
        for each in (elements, test_elements)
    ]
    for each in (sought, among):
        if each.dtype not in MEASURED:
            raise RuntimeError(
                f"Unsupported input type encountered for isin(): {TYPE_NAMES[each.dtype.name]}"
            )
    found: Tensor = (sought.unsqueeze(-1) == among.reshape(-1)).any(-1)
    return ~found if invert else found


# ---- bins -------------------------------------------------------------------------------------


def _among_shared_bounds(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor | None:
    """Batch rule of each element's place among bounds, unless each example has its own."""
    x, bounds = args
    return None if level.owns(bounds) else primitive(level.below(x), bounds, **params)


_bucket = constant(
    "bucketize",
    refusing_bool_and_complex(
        "searchsorted_out_cpu",
        lambda x, bounds, *, right, dtype: np.searchsorted(
            bounds, x, side="right" if right else "left"
        ).astype(dtype),
    ),
    dtypes=MEASURED,
    batch=_among_shared_bounds,
)


@op
def bucketize(
    x: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Count the sorted boundaries below each value; with `right`, those equal too.

    Raises:
        RuntimeError: the boundaries are not a vector.
    """
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    values = x if isinstance(x, Tensor) else boundaries.new_tensor(x)
    return _bucket(values, boundaries, right=right, dtype=np.int32 if out_int32 else np.int64)


def _histogram(x: Any, *, bins: int, low: float, high: float) -> Any:
    if low == high == 0 and x.size:
        low, high = x.min().item(), x.max().item()
    if low == high:
        low, high = low - 1, high + 1
    return np.histogram(x, bins, (low, high))[0].astype(x.dtype)


_bins = constant(
    "histc",
    refusing_integers(
        "histogram_cpu",
        refusing_complex(
            "histogram_cpu",
            _histogram,
        ),
    ),
    dtypes=REAL,
)


@op(method=True)
def histc(x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Count the elements in each of `bins` equal parts of [min, max]; 0, 0 for all elements.

    Raises:
        RuntimeError: there is no bin, or the bounds are in the wrong order.
    """
    if bins <= 0:
        raise RuntimeError("bins must be > 0")
    if min > max:
        raise RuntimeError("max must be larger than min")
    return _bins(x, bins=bins, low=min, high=max)
