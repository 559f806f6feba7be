"""Order: sort, k-th values, medians, quantiles and modes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.device import accumulated, module_of
from gradtool.device.differences import full_like
from gradtool.engine import _dtypes
from gradtool.engine._levels import Outline
from gradtool.engine._ops.core.batching import along_dim
from gradtool.engine._ops.core.dims import wrap_dim
from gradtool.engine._ops.core.dtype_support import (
    MEASURED,
    ORDERED,
    refuse,
    refusing_bool_and_complex,
    refusing_complex,
)
from gradtool.engine._ops.core.kinds import constant, general
from gradtool.engine._ops.core.node_names import along_dimension, numbered
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.own_memory import of_own_memory
from gradtool.engine._ops.core.primitive_node import save_also
from gradtool.engine._ops.core.return_types import ValuesAndIndices, return_type
from gradtool.engine._ops.elementwise.comparison import isnan
from gradtool.engine._ops.elementwise.elementwise import ceil, floor, round
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._ops.indexing.gathering import gather, gathering, picking, taken_along
from gradtool.engine._ops.reductions.reduction import largest_of, numpy_names
from gradtool.engine._ops.shape.shape import reshape_own
from gradtool.engine._tensor import Tensor

# ---- sorted, largest, middle and distinct values ---------------------------------------------
#
# An order is found once, as indices, which are piecewise constant; the values are gathered by
# it, so that their derivative is a gather's. NaN counts as the largest number, as in torch.


def order_of(x: Any, *, dim: int, descending: bool) -> Any:
    """Indices that sort along a dimension; equal elements stay in their order."""
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    reverse = _slice_at(dim, slice(None, None, -1))
    backwards = np.argsort(x[reverse], axis=dim, kind="stable")
    return x.shape[dim] - 1 - backwards[reverse]


def _places_of_most(x: Any, *, dim: int, k: int, largest: bool) -> Any:
    """Indices of the k largest, or smallest, along a dimension, in their order."""
    refuse("c", "topk_cpu", x)
    extent = x.shape[dim]
    if 4 * k > extent or k == 0:
        return _slice(order_of(x, dim=dim, descending=largest), dim, slice(k)).copy()
    place = extent - k if largest else k - 1
    if _is_partitioned_fast(x, dim):
        places = _most_by_partition(x, place, k, largest)
        if places is not None:
            return places
    chosen = slice(place, None) if largest else slice(k)
    found = np.sort(_slice(np.argpartition(x, place, axis=dim), dim, chosen), axis=dim)
    order = order_of(taken_along(x, found, dim=dim), dim=dim, descending=largest)
    return taken_along(found, order, dim=dim)


def _most_by_partition(x: Any, place: int, k: int, largest: bool) -> Any:
    """The same along the last dimension without NaN; None where the least of them has equals."""
    bound = _element_at(x, place)
    found = _only_positions(x >= bound if largest else x <= bound, k)
    if found is None:
        return None
    values = x.reshape(-1).take(found)
    is_negated = largest and x.dtype.kind == "f"  # sooner than an order from behind
    if is_negated:
        np.negative(values, out=values)
    order = order_of(values, dim=1, descending=largest and not is_negated)
    return (taken_along(found, order, dim=1) % x.shape[-1]).reshape(*x.shape[:-1], k)


def _is_partitioned_fast(x: Any, dim: int) -> bool:
    """Return True for an array along whose last dimension NumPy selects sooner than it sorts."""
    if dim != x.ndim - 1 or x.__class__ is not np.ndarray or not x.size:
        return False
    return x.dtype.kind != "f" or not np.isnan(largest_of(x, None))


def _element_at(x: Any, place: int) -> Any:
    """The element that sorting would bring to a place along the last dimension, which is kept."""
    return np.partition(x, place, axis=-1)[..., place, None]


def _only_positions(chosen: Any, count: int) -> Any:
    """Positions of what is true, a row for each along the last dimension of the flattened array.

    None unless there are `count` of them along each.
    """
    found = np.flatnonzero(chosen)
    if found.size * chosen.shape[-1] != chosen.size * count:
        return None
    return found.reshape(-1, count)


def _slice_at(dim: int, places: slice) -> tuple[slice, ...]:
    return (*[slice(None)] * dim, places)


def _slice(x: Any, dim: int, places: slice) -> Any:
    return x[_slice_at(dim, places)]


def _median_index(x: Any, *, dim: int) -> Any:
    """Return the place of the lower median, or of the first NaN."""
    at = (x.shape[dim] - 1) // 2
    if _is_partitioned_fast(x, dim):
        found = _only_positions(x == _element_at(x, at), 1)
        if found is not None:
            return (found % x.shape[-1]).reshape(x.shape[:-1])
    order = order_of(x, dim=dim, descending=False)
    middle = order.take(at, axis=dim)
    if x.dtype.kind != "f":
        return middle
    missing = x != x
    if not missing.any():
        return middle
    return np.where(missing.any(axis=dim), missing.argmax(axis=dim), middle)


def _lower_median(x: Any, *, dim: int) -> Any:
    if x.shape[dim]:
        index = np.expand_dims(_median_index(x, dim=dim), dim)
        return np.take_along_axis(x, index, dim).squeeze(dim)
    missing = np.nan if x.dtype.kind == "f" else 0
    return full_like(x, missing, (*x.shape[:dim], *x.shape[dim + 1 :]))


def _shared_among_equals(g: Tensor, x: Tensor, out: Tensor, dim: int) -> Tensor:
    """The gradient in equal parts to all elements that equal the result."""
    middle = out.unsqueeze(dim)
    equal = (x == middle) | (x.isnan() & middle.isnan())
    part = g.unsqueeze(dim) / equal.to(g.dtype).sum(dim, keepdim=True)
    divided: Tensor = part.expand(x.shape).masked_fill(~equal, 0)
    return divided


def _mean_of_equals(tangents: Any, x: Tensor, out: Tensor, dim: int) -> Tensor:
    """The mean of the tangents of elements that equal the result, of which a NaN has none."""
    share = (x == out.unsqueeze(dim)).to(tangents[0].dtype)
    found: Tensor = (tangents[0] * share).sum(dim) / share.sum(dim)
    return found


_argsort = constant("argsort", order_of, dtypes=ORDERED, batch=along_dim)
_median_index_of = constant(
    "median_index",
    refusing_bool_and_complex("median_out", _median_index),
    dtypes=MEASURED,
    batch=along_dim,
)
_topk_places = constant("topk_places", _places_of_most, dtypes=MEASURED, batch=along_dim)
_sorted, _topk = gathering("sort", dtypes=ORDERED), gathering("topk", dtypes=MEASURED)
_kthvalue, _median_along = picking("kthvalue", dtypes=MEASURED), picking("median", dtypes=MEASURED)
_median = general(
    "median",
    refusing_bool_and_complex("median_cpu", _lower_median),
    _shared_among_equals,
    jvp=_mean_of_equals,
    dtypes=MEASURED,
    batch=along_dim,
)


def _node_of_sort(*args: Any, **params: Any) -> str:
    """Return the name of the overload: that with `stable` is another."""
    return f"SortBackward{int('stable' in params)}"


@return_type("sort")
class Sorted(ValuesAndIndices):
    """Result of `sort`."""

    __slots__ = ()


@op(method=True, node=_node_of_sort)
def sort(x: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Sorted:
    """The elements in order along a dimension, and where each came from."""
    if x.ndim == 0:
        values, index = [reshape_own(each, ()) for each in sort(x.reshape(1), dim)]
        save_also(values, {"indices": index})
        return Sorted(values, index)
    dim = wrap_dim(dim, x.ndim)
    order = argsort(x, dim, descending, stable)
    return Sorted(_sorted(x, order, dim=dim), order)


@op(method=True)
def argsort(x: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices that sort along a dimension.

    Raises:
        RuntimeError: the tensor is complex.
    """
    if x.is_complex():
        raise RuntimeError("Sort does not support complex dtypes")
    dim = wrap_dim(dim, x.ndim)
    if x.ndim == 0:
        return reshape_own(argsort(x.reshape(1)), ())
    return _argsort(x, dim=dim, descending=descending)


@return_type("topk")
class TopK(ValuesAndIndices):
    """Result of `topk`."""

    __slots__ = ()


@op(method=True, node="TopkBackward0")
def topk(x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> TopK:
    """The k largest, or smallest, elements along a dimension, and where they are."""
    if x.dtype is _dtypes.bool_:
        raise RuntimeError("topk does not support bool dtypes on CPU")
    dim = wrap_dim(dim, x.ndim)
    if not 0 <= k <= (x.shape[dim] if x.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if x.ndim == 0:
        found = topk(x.reshape(1), k)
        return TopK(*[reshape_own(each, ()) if k else each for each in found])
    order = _topk_places(x, dim=dim, k=k, largest=largest)
    return TopK(_topk(x, order, dim=dim), order)


@return_type("kthvalue")
class Kthvalue(ValuesAndIndices):
    """Result of `kthvalue`."""

    __slots__ = ()


@op(method=True, node="KthvalueBackward0")
@of_own_memory
def kthvalue(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Kthvalue:
    """The k-th smallest element along a dimension, counted from one, and where it is."""
    refuse("b", "kthvalue_cpu", x._array)
    dim = wrap_dim(dim, x.ndim)
    if not 1 <= k <= (x.shape[dim] if x.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    if x.ndim == 0:
        return Kthvalue(*_only(_kthvalue, x))
    index = argsort(x, dim).select(dim, k - 1).clone()
    return Kthvalue(*picked(_kthvalue, x, index, dim, keepdim))


@return_type("median")
class Median(ValuesAndIndices):
    """Result of `median` along a dimension."""

    __slots__ = ()


@op(method=True, node=numbered("Median", along_dimension))
@of_own_memory
def median(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of all elements, or along a dimension with its index: the lower of two.

    A NaN makes it NaN.
    """
    if dim is None:
        return _median(x.reshape(-1), dim=0)
    refuse("b", "median_out", x._array)
    dim = wrap_dim(dim, x.ndim)
    if x.ndim == 0:
        return Median(*_only(_median_along, x))
    if x.shape[dim] == 0:
        raise IndexError(f"median(): Expected reduction dim {dim} to have non-zero size.")
    index = _median_index_of(x, dim=dim)
    return Median(*picked(_median_along, x, index, dim, keepdim))


def _only(primitive: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the only element, and its place."""
    index = argsort(x)
    return (x.clone() if x._level is not None else primitive(x, index, dim=0)), index


def picked(
    primitive: Any, x: Tensor, index: Tensor, dim: int, keepdim: bool
) -> tuple[Tensor, Tensor]:
    """Return the values at `index` along a dimension, and the index; keep the dimension or not."""
    values = primitive(x, index, dim=dim)
    return (values.unsqueeze(dim), index.unsqueeze(dim)) if keepdim else (values, index)


# ---- quantiles -------------------------------------------------------------------------------

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


@op(method=True, node="SqueezeBackward4")
@numpy_names
@of_own_memory
def quantile(
    x: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """The values below which a share `q` of all elements, or of those along a dimension, lies.

    Several shares make a dimension in front. A NaN makes it NaN.

    Raises:
        RuntimeError: a share is not in [0, 1], there are no elements, or a dtype does not fit.
    """
    return _quantile("quantile", x, q, dim, keepdim, interpolation)


@op(method=True, node="SqueezeBackward4")
@numpy_names
@of_own_memory
def nanquantile(
    x: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """`quantile` of the elements that are not NaN.

    Raises:
        RuntimeError: a share is not in [0, 1], there are no elements, or a dtype does not fit.
    """
    return _quantile("nanquantile", x, q, dim, keepdim, interpolation)


def _quantile(
    name: str, x: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str
) -> Tensor:
    shares = _shares(name, x, q, interpolation)
    rank, many = x.ndim, shares.ndim == 1
    rows = x.reshape(1, -1) if dim is None else x.reshape(x.shape or (1,)).movedim(dim, -1)
    found = _at_ranks(name, rows, shares.reshape(-1), interpolation)
    found = found.movedim(-1, 0)
    if dim is None:
        found = found.reshape(-1, *([1] * rank if keepdim else []))
    elif rank and keepdim:
        found = found.unsqueeze(wrap_dim(dim, rank) + 1)
    elif not rank:
        found = found.reshape(-1)
    return found if many else found.squeeze(0)


def _shares(name: str, x: Tensor, q: Any, interpolation: str) -> Tensor:
    """The shares as a tensor of at most one dimension, checked against the rest."""
    if x.dtype not in (_dtypes.float32, _dtypes.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if x.numel() == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    shares = q if isinstance(q, Tensor) else x.new_tensor(q)
    if shares.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if shares.dtype is not x.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    values = shares._array
    if not isinstance(values, Outline) and not bool(((values >= 0) & (values <= 1)).all()):
        given = "values must be" if isinstance(q, Tensor) else "must be"
        found = "" if isinstance(q, Tensor) else f" but got {q}"
        raise RuntimeError(f"{name}() q {given} in the range [0, 1]{found}")
    return shares


def _at_ranks(name: str, rows: Tensor, shares: Tensor, interpolation: str) -> Tensor:
    """Of each row along the last dimension, one value for each share."""
    ordered = sort(rows, -1)[0]
    missing = isnan(rows).sum(-1, keepdim=True)
    last = rows.shape[-1] - 1
    if name == "nanquantile":
        ranks = shares * (last - missing).clamp(min=0).to(rows.dtype)
    else:
        spread = (shares * last).expand(*rows.shape[:-1], -1)
        ranks = where(missing > 0, rows.new_full((), last), spread)
    if interpolation in ("lower", "higher", "nearest"):
        place = {"lower": floor, "higher": ceil, "nearest": round}[interpolation](ranks.detach())
        return gather(ordered, -1, place.to(_dtypes.int64))
    below = floor(ranks.detach())
    weights = ranks - below if interpolation == "linear" else ranks * 0 + 0.5
    if interpolation == "midpoint":
        weights = where(ranks == below, ranks * 0, weights)
    low = gather(ordered, -1, below.to(_dtypes.int64))
    high = gather(ordered, -1, ceil(ranks.detach()).to(_dtypes.int64))
    between: Tensor = low.lerp(high, weights)
    return between


# ---- medians without NaN ---------------------------------------------------------------------


def _present_median_index(x: Any, *, dim: int) -> Any:
    """Return the place of the lower median of what is not NaN; the first if all is NaN."""
    order = order_of(x, dim=dim, descending=False)
    missing = np.isnan(x).sum(axis=dim, keepdims=True) if x.dtype.kind == "f" else 0
    middle = np.maximum((x.shape[dim] - missing - 1) // 2, 0)
    places = np.broadcast_to(middle, (*x.shape[:dim], 1, *x.shape[dim + 1 :]))
    return np.take_along_axis(order, places, dim).squeeze(dim)


def _present_median(x: Any, *, dim: int) -> Any:
    index = np.expand_dims(_present_median_index(x, dim=dim), dim)
    return np.take_along_axis(x, index, dim).squeeze(dim)


_nanmedian_index_of = constant(
    "nanmedian_index",
    refusing_bool_and_complex("median_out", _present_median_index),
    dtypes=MEASURED,
    batch=along_dim,
)
_nanmedian_along = picking("nanmedian", dtypes=MEASURED)
_nanmedian = general(
    "nanmedian",
    refusing_bool_and_complex("median_out", _present_median),
    _shared_among_equals,
    dtypes=MEASURED,
    batch=along_dim,
)


@return_type("nanmedian")
class Nanmedian(ValuesAndIndices):
    """Result of `nanmedian` along a dimension."""

    __slots__ = ()


@op(method=True, node=numbered("Nanmedian", along_dimension))
@numpy_names
@of_own_memory
def nanmedian(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of what is not NaN, of all or along a dimension with its index."""
    if dim is None:
        flat = x.reshape(-1)
        if flat.numel() == 0:
            return flat.sum() * np.nan
        return _nanmedian(flat, dim=0)
    return Nanmedian(*_along("nanmedian", _nanmedian_index_of, _nanmedian_along, x, dim, keepdim))


# ---- the most frequent value -----------------------------------------------------------------


def _mode_index(x: Any, *, dim: int) -> Any:
    """The last place of the smallest of the values that come most often."""
    order = np.moveaxis(order_of(x, dim=dim, descending=False), dim, -1)
    ordered = np.take_along_axis(np.moveaxis(x, dim, -1), order, -1)
    places = module_of(x).arange(x.shape[dim])
    starts = np.ones(ordered.shape, bool) if module_of(x) is np else ordered == ordered
    starts[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    first = accumulated(np.maximum, np.where(starts, places, 0), ordered.ndim - 1)
    longest = (places - first).argmax(axis=-1)
    return np.take_along_axis(order, longest[..., None], -1)[..., 0]


_mode_index_of = constant(
    "mode_index", refusing_complex("mode_cpu", _mode_index), dtypes=ORDERED, batch=along_dim
)
_mode_along = picking("mode", dtypes=ORDERED)


@return_type("mode")
class Mode(ValuesAndIndices):
    """Result of `mode`."""

    __slots__ = ()


@op(method=True, node="ModeBackward0")
@numpy_names
@of_own_memory
def mode(x: Tensor, dim: int = -1, keepdim: bool = False) -> Mode:
    """The most frequent value along a dimension, the smallest of several, and where it is."""
    return Mode(*_along("mode", _mode_index_of, _mode_along, x, dim, keepdim))


def _along(
    name: str, find: Any, pick: Any, x: Tensor, dim: int, keepdim: bool
) -> tuple[Tensor, Tensor]:
    dim = wrap_dim(dim, x.ndim)
    if x.ndim == 0:
        values, places = _along(name, find, pick, x.reshape(1), 0, False)
        return values, places
    if x.shape[dim] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")
    return picked(pick, x, find(x, dim=dim), dim, keepdim)


@op(method=True, node="SortBackward0")
def msort(x: Tensor) -> Tensor:
    """The elements in order along the first dimension."""
    return sort(x, 0)[0]
