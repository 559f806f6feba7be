"""Order: sorted values, the largest, the middle one, the different ones.

An order is found once, as indices, which are piecewise constant; the values are gathered by
it, so that their derivative is a gather's. NaN counts as the largest number, as in torch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core import return_types
from gradtool.engine._ops.core.claims import ORDERED
from gradtool.engine._ops.core.dims import wrap_dim
from gradtool.engine._ops.core.kinds import constant, general
from gradtool.engine._ops.core.unsupported import refuse, refusing_bool_and_complex, takes
from gradtool.engine._ops.indexing.gathering import gathering, picking
from gradtool.engine._ops.shape.shape import reshape
from gradtool.engine._tensor import Tensor, wrap


def order_of(x: Any, *, dim: int, descending: bool) -> Any:
    """Indices that sort along a dimension; equal elements stay in their order."""
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    backwards = np.argsort(np.flip(x, dim), axis=dim, kind="stable")
    return x.shape[dim] - 1 - np.flip(backwards, dim)


def _median_index(x: Any, *, dim: int) -> Any:
    """Where the lower median is, or the first NaN."""
    order = order_of(x, dim=dim, descending=False)
    middle = order.take((x.shape[dim] - 1) // 2, axis=dim)
    if x.dtype.kind != "f":
        return middle
    missing = np.isnan(x)
    return np.where(missing.any(axis=dim), missing.argmax(axis=dim), middle)


def _lower_median(x: Any, *, dim: int) -> Any:
    if x.shape[dim]:
        index = np.expand_dims(_median_index(x, dim=dim), dim)
        return np.take_along_axis(x, index, dim).squeeze(dim)
    missing = np.nan if x.dtype.kind == "f" else 0
    return np.full_like(x, missing, shape=(*x.shape[:dim], *x.shape[dim + 1 :]))


def _shared_among_equals(g: Tensor, x: Tensor, out: Tensor, dim: int) -> Tensor:
    """The gradient in equal parts to all elements that equal the result."""
    middle = out.unsqueeze(dim)
    share = ((x == middle) | (x.isnan() & middle.isnan())).to(g.dtype)
    divided: Tensor = share * (g.unsqueeze(dim) / share.sum(dim, keepdim=True))
    return divided


_argsort = constant("argsort", order_of)
_median_index_of = constant("median_index", refusing_bool_and_complex("median_out", _median_index))
_sorted, _topk = gathering("sort"), gathering("topk")
_kthvalue, _median_along = picking("kthvalue"), picking("median")
_median = general(
    "median", refusing_bool_and_complex("median_cpu", _lower_median), _shared_among_equals
)


def sort(
    x: Tensor, dim: int = -1, descending: bool = False, stable: bool = False
) -> return_types.sort:
    """The elements in order along a dimension, and where each came from."""
    if x.ndim == 0:
        return return_types.sort(*[each.reshape(()) for each in sort(x.reshape(1), dim)])
    dim = wrap_dim(dim, x.ndim)
    order = argsort(x, dim, descending, stable)
    return return_types.sort(_sorted(x, order, dim=dim), order)


def argsort(x: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices that sort along a dimension.

    Raises:
        RuntimeError: the tensor is complex.
    """
    if x.is_complex():
        raise RuntimeError("Sort does not support complex dtypes")
    dim = wrap_dim(dim, x.ndim)
    if x.ndim == 0:
        return reshape(argsort(x.reshape(1)), ())
    return _argsort(x, dim=dim, descending=descending)


def topk(
    x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> return_types.topk:
    """The k largest, or smallest, elements along a dimension, and where they are."""
    if x.dtype is _dtypes.bool_:
        raise RuntimeError("topk does not support bool dtypes on CPU")
    dim = wrap_dim(dim, x.ndim)
    if not 0 <= k <= (x.shape[dim] if x.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if x.ndim == 0:
        found = topk(x.reshape(1), k)
        return return_types.topk(*[each.reshape(()) if k else each for each in found])
    order = argsort(x, dim, descending=largest).narrow(dim, 0, k).clone()
    return return_types.topk(_topk(x, order, dim=dim), order)


def kthvalue(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> return_types.kthvalue:
    """The k-th smallest element along a dimension, counted from one, and where it is."""
    refuse("b", "kthvalue_cpu", x._array)
    dim = wrap_dim(dim, x.ndim)
    if not 1 <= k <= (x.shape[dim] if x.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    if x.ndim == 0:
        return return_types.kthvalue(x.clone(), argsort(x))
    index = argsort(x, dim).select(dim, k - 1).clone()
    return return_types.kthvalue(*picked(_kthvalue, x, index, dim, keepdim))


def median(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of all elements, or along a dimension with its index: the lower of two.

    A NaN makes it NaN.
    """
    if dim is None:
        return _median(x.reshape(-1), dim=0)
    refuse("b", "median_out", x._array)
    dim = wrap_dim(dim, x.ndim)
    if x.ndim == 0:
        return return_types.median(x.clone(), argsort(x))
    if x.shape[dim] == 0:
        raise IndexError(f"median(): Expected reduction dim {dim} to have non-zero size.")
    index = _median_index_of(x, dim=dim)
    return return_types.median(*picked(_median_along, x, index, dim, keepdim))


def picked(
    primitive: Any, x: Tensor, index: Tensor, dim: int, keepdim: bool
) -> tuple[Tensor, Tensor]:
    """What `index` picks along a dimension, and the index, with that dimension or without."""
    values = primitive(x, index, dim=dim)
    return (values.unsqueeze(dim), index.unsqueeze(dim)) if keepdim else (values, index)


@takes(ORDERED, "unique")
def unique(
    x: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements, or slices along a dimension, in ascending order.

    Where asked for, followed by which of them each element is, and how many each stands for.
    """
    if dim is not None:
        dim = wrap_dim(dim, x.ndim)
    found = np.unique(x._array, return_inverse=True, return_counts=True, axis=dim, equal_nan=False)
    values, inverse, counts = map(wrap, found)
    inverse = inverse.reshape(x.shape if dim is None else (x.shape[dim],))
    extras = ((inverse, return_inverse), (counts, return_counts))
    wanted = [each for each, asked_for in extras if asked_for]
    return (values, *wanted) if wanted else values


__all__ = ["argsort", "kthvalue", "median", "sort", "topk", "unique"]
