"""Sums, products, means, and what reductions share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._levels import Outline
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.batching import (
    all_later,
    along_dim,
    changing,
    of_examples,
    over_dims,
)
from gradtool.engine._ops.core.dims import Ints, as_ints, wrap_dim, wrap_dims
from gradtool.engine._ops.core.dtype_support import SMOOTH, TYPE_NAMES, not_implemented
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import conjugate, constant, general, linear
from gradtool.engine._ops.core.node_names import along_dimension, give_name, numbered, saving
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.creation.creation import ones_like
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor, alias, wrap

# ---- dimensions, and gradients back over them ------------------------------------------------
#
# Everywhere here `dims` is a tuple of dimension numbers from the front. The empty tuple stands
# for no dimension, which is what reducing the one dimension that a 0-d tensor counts as having
# amounts to.


Function = TypeVar("Function", bound=Callable[..., Any])


def dims_of(dim: Any, ndim: int) -> Ints:
    """The dimensions that ``dim=`` names; all of them for None and for an empty sequence.

    Raises:
        IndexError: there is no such dimension.
        RuntimeError: one is named twice.
    """
    if dim.__class__ is int and -ndim <= dim < ndim:
        return (dim + ndim if dim < 0 else dim,)
    if dim is None or names_none(dim):
        return tuple(range(ndim))
    wrapped = wrap_dims(as_ints(dim), ndim)
    return wrapped if ndim else ()


def names_none(dim: Any) -> bool:
    """Return True for a ``dim=`` that is an empty sequence."""
    return isinstance(dim, tuple | list) and len(dim) == 0


def kept_shape(shape: Ints, dims: Ints) -> Ints:
    """The shape with the extents of `dims` one."""
    return tuple([1 if dim in dims else extent for dim, extent in enumerate(shape)])


def count_over(shape: Ints, dims: Ints) -> int:
    """Count the elements of a tensor of this shape that are reduced to one."""
    count = 1
    for dim in dims:
        count *= shape[dim]
    return count


def _spread_out(x: Any, *, shape: Ints, dims: Ints) -> Any:
    if x.__class__ is np.ndarray and x.size == 1:
        # What broadcast_to would return, at a seventh of its price.
        return np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
    kept = x.reshape(kept_shape(shape, dims))
    view = np.broadcast_to(kept, shape)
    if isinstance(view, np.ndarray) and kept.flags.writeable:
        view.flags.writeable = True  # its elements may all have places of their own
    return view


_spread: Any = linear(
    "spread",
    _spread_out,
    lambda g, x_shape, dims: g.sum(dims, keepdim=True).reshape(x_shape),
    is_view=True,
    dtypes=SMOOTH,
    batch=changing(shape=of_examples, dims=all_later),
)


def spread(reduced: Tensor, shape: Ints, dims: Ints) -> Tensor:
    """Repeat a result, its `dims` kept or not, in every place that it was reduced from."""
    if not dims:
        return reduced
    if reduced.__class__ is Tensor and not modes.grad:
        # A gradient on its way: shares memory with `reduced`, but has no history to keep.
        return alias(_spread_out(reduced._array, shape=shape, dims=dims), reduced._shared_storage())
    spread_out: Tensor = _spread(reduced, shape=shape, dims=dims)
    return spread_out


_add_up: Any = np.add.reduce
_multiply_up: Any = np.multiply.reduce
_reduce_to_largest: Any = np.maximum.reduce
_reduce_to_smallest: Any = np.minimum.reduce


def added_up(x: Any, dims: Any, keepdim: bool = False, dtype: Any = None) -> Any:
    """``x.sum`` along dimensions; of NumPy's arrays without the calls in between."""
    if x.__class__ is np.ndarray:
        return _add_up(x, dims, dtype, None, keepdim)
    return x.sum(axis=dims, keepdims=keepdim, dtype=dtype)


def largest_of(x: Any, dims: Any, keepdim: bool = False) -> Any:
    """``x.max`` along dimensions; of NumPy's arrays without the calls in between."""
    if x.__class__ is np.ndarray:
        return _reduce_to_largest(x, dims, None, None, keepdim)
    return x.max(axis=dims, keepdims=keepdim)


def smallest_of(x: Any, dims: Any, keepdim: bool = False) -> Any:
    """``x.min`` along dimensions; of NumPy's arrays without the calls in between."""
    if x.__class__ is np.ndarray:
        return _reduce_to_smallest(x, dims, None, None, keepdim)
    return x.min(axis=dims, keepdims=keepdim)


def accumulating(compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute` in silence, with half precision added up in single precision, as torch does."""

    @ignore_fp_warnings
    @functools.wraps(compute)
    def wide(x: Any, **params: Any) -> Any:
        if x.dtype.char == "e":
            return compute(x.astype(np.float32), **params).astype(np.float16)
        return compute(x, **params)

    return wide


def numpy_names(function: Function) -> Function:
    """Let ``axis`` and ``keepdims`` stand for ``dim`` and ``keepdim``, as torch does."""

    @functools.wraps(function)
    def named(*args: Any, **params: Any) -> Any:
        if params:
            for theirs, ours in (("axis", "dim"), ("keepdims", "keepdim")):
                if theirs in params:
                    params[ours] = params.pop(theirs)
        return function(*args, **params)

    return named  # type: ignore[return-value]  # it has the signature of `function`, and more


# ---- sum and mean ----------------------------------------------------------------------------


@accumulating
def _summed(x: Any, *, dims: Ints, keepdim: bool) -> Any:
    dtype = np.int64 if x.dtype.kind in "iub" else None
    return added_up(x, dims, keepdim, dtype)


def _sum_vjp(g: Tensor, x_shape: Ints, dims: Ints) -> Tensor:
    """A tensor of its own even where nothing was added up, as gradients may be asked for it."""
    return spread(g, x_shape, dims) if dims or not modes.grad else g.expand(x_shape)


_sum = linear("sum", _summed, _sum_vjp, batch=over_dims)


@op(method=True)
@numpy_names
def sum(
    x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: _dtypes.dtype | None = None
) -> Tensor:
    """The sum of all elements, or over some dimensions. Integers add up to int64.

    Raises:
        IndexError: there is no such dimension.
        RuntimeError: a dimension is given twice.
    """
    if dim is None and dtype is None and x.__class__ is Tensor:
        array = x._array
        if array.__class__ is np.ndarray and array.dtype.char in "df":
            return _sum_of_all(x, array, keepdim)
    if dtype is not None:
        x = x.to(dtype)
    found = _sum(x, dims=dims_of(dim, x._array.ndim), keepdim=keepdim)
    if dim is not None and found._requires_grad:
        give_name(found, "SumBackward1")
    return found if dtype is None else found.to(dtype)


_empty = np.empty
_ALL = [tuple(range(ndim)) for ndim in range(65)]
_ONLY = (0,)
_NO_PARAMS: dict[str, Any] = {}


def _sum_of_all(x: Tensor, array: Any, keepdim: bool) -> Tensor:
    """`_sum` written out for the sum that ends most computations: the hot path."""
    dims = _ALL[array.ndim]
    into = None if keepdim else _empty((), array.dtype)
    try:
        out = wrap(_add_up(array, None, None, into, keepdim))
    except RuntimeWarning:
        return _sum(x, dims=dims, keepdim=keepdim)
    if x._requires_grad and modes.grad:
        _sum.record(_ONLY, (x,), _NO_PARAMS, out, saved=(array.shape, dims))
    return out


@accumulating
def _averaged(x: Any, *, dims: Ints, keepdim: bool) -> Any:
    total = added_up(x, dims, keepdim)
    mean = total / np.float64(count_over(x.shape, dims))
    return mean if mean.dtype is x.dtype else mean.astype(x.dtype)


def _mean_vjp(g: Tensor, shape: Ints, dims: Ints) -> Tensor:
    """An equal part everywhere: in torch in memory of its own, here once that is written to."""
    count = count_over(shape, dims) or 1
    if dims and g.__class__ is Tensor and not modes.grad:
        return wrap(_spread_out((g / count)._array, shape=shape, dims=dims))
    return spread(g, shape, dims) / count


_mean = linear(
    "mean",
    _averaged,
    lambda g, x_shape, dims: _mean_vjp(g, x_shape, dims),
    dtypes=SMOOTH,
    batch=over_dims,
)


@op(method=True)
@numpy_names
def mean(
    x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: _dtypes.dtype | None = None
) -> Tensor:
    """The mean of all elements, or over some dimensions. That of nothing is NaN.

    Raises:
        RuntimeError: the elements are neither floating nor complex and no such dtype is given.
    """
    if dtype is not None:
        x = x.to(dtype)
    if x._array.dtype.kind != "f" and not x.dtype.is_differentiable:
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {TYPE_NAMES[x.dtype.name]}"
        )
    found = _mean(x, dims=dims_of(dim, x._array.ndim), keepdim=keepdim)
    if dim is not None and found._requires_grad:
        give_name(found, "MeanBackward1")
    return found


# ---- prod ------------------------------------------------------------------------------------


@accumulating
def _multiplied(x: Any, *, dim: int, keepdim: bool) -> Any:
    dtype = np.int64 if x.dtype.kind in "iub" else None
    if x.__class__ is np.ndarray and x.ndim:
        return _multiply_up(x, dim, dtype, None, keepdim)
    return x.prod(axis=dim if x.ndim else None, keepdims=keepdim, dtype=dtype)


def _prod_vjp(g: Tensor, x: Tensor, out: Tensor, dim: int) -> Tensor:
    """The derivative by one element is the product of the others.

    Without zeros a division gives it. Whether there are any is not asked of batched tensors,
    which hold one answer for each example. Asked of all others alike, so that the other
    transforms change no last digit.
    """
    if x.ndim == 0:
        return g
    if not isinstance(x._array, Outline) and x._array.all():
        rest = spread(out, x.shape, (dim,)) / x
    else:
        rest = _products_before(x, dim) * _products_after(x, dim)
    others: Tensor = conjugate(rest)
    return spread(g, x.shape, (dim,)) * others


def _products_before(x: Tensor, dim: int) -> Tensor:
    """For each element the product of those before it; by doubling, in log n steps."""
    extent = x.shape[dim]
    if extent == 0:
        return x
    first = ones_like(x.narrow(dim, 0, 1))
    products = cat([first, x.narrow(dim, 0, extent - 1)], dim)
    step = 1
    while step < extent:
        grown = products.narrow(dim, step, extent - step) * products.narrow(dim, 0, extent - step)
        products = cat([products.narrow(dim, 0, step), grown], dim)
        step *= 2
    return products


def _products_after(x: Tensor, dim: int) -> Tensor:
    """For each element the product of those after it."""
    extent = x.shape[dim]
    if extent == 0:
        return x
    last = ones_like(x.narrow(dim, 0, 1))
    products = cat([x.narrow(dim, 1, extent - 1), last], dim)
    step = 1
    while step < extent:
        rest = extent - step
        grown = products.narrow(dim, 0, rest) * products.narrow(dim, step, rest)
        products = cat([grown, products.narrow(dim, rest, step)], dim)
        step *= 2
    return products


_prod = general("prod", _multiplied, _prod_vjp, batch=along_dim)


@op(method=True, node=numbered("Prod", along_dimension))
@numpy_names
def prod(
    x: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dtype: _dtypes.dtype | None = None,
) -> Tensor:
    """The product of all elements, or along one dimension. That of integers is int64.

    Raises:
        IndexError: there is no such dimension.
    """
    if dtype is not None:
        x = x.to(dtype)
    if dim is None:
        found = _prod(x.reshape(-1) if x.ndim else x, dim=0, keepdim=False)
    else:
        found = _prod(x, dim=wrap_dim(dim, x._array.ndim), keepdim=keepdim)
    return found if dtype is None else found.to(dtype)


# ---- truth and counts ------------------------------------------------------------------------


def _truth(function: Any) -> Any:
    def compute(x: Any, *, dims: Ints, keepdim: bool) -> Any:
        found = function(x, axis=dims, keepdims=keepdim)
        return found.astype(np.uint8) if x.dtype == np.uint8 else found

    return compute


_all = constant("all", _truth(np.all), batch=over_dims)
_any = constant("any", _truth(np.any), batch=over_dims)


def _named_dims(dim: Any, ndim: int) -> Ints:
    """`dims_of`, but an empty sequence names no dimension."""
    return () if names_none(dim) else dims_of(dim, ndim)


@op(method=True)
@numpy_names
def all(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return True where all elements, or all over some dimensions, are not zero."""
    return _all(x, dims=_named_dims(dim, x._array.ndim), keepdim=keepdim)


@op(method=True)
@numpy_names
def any(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return True where any element, or any over some dimensions, is not zero."""
    return _any(x, dims=_named_dims(dim, x._array.ndim), keepdim=keepdim)


_count_nonzero = constant(
    "count_nonzero", lambda x, *, dims: (x != 0).sum(axis=dims, dtype=np.int64), batch=over_dims
)


@op(method=True)
def count_nonzero(x: Tensor, dim: Any = None) -> Tensor:
    """Count the elements, of all or over some dimensions, that are not zero."""
    return _count_nonzero(x, dims=dims_of(dim, x._array.ndim))


# ---- sums and means of what is not NaN --------------------------------------------------------


def _isnan(x: Tensor) -> Tensor:
    return x != x


@op(method=True, node=saving("NansumBackward0", "x"))
@numpy_names
def nansum(x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum of what is not NaN.

    Raises:
        RuntimeError: the numbers are complex.
    """
    if x.is_complex():
        raise RuntimeError("nansum does not support complex inputs")
    if dtype is not None:
        x = x.to(dtype)
    return sum(x.masked_fill(_isnan(x), 0), dim, keepdim, dtype=dtype)


@op(method=True)
@numpy_names
def nanmean(x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of what is not NaN.

    Raises:
        NotImplementedError: the numbers are integers.
        RuntimeError: they are complex.
    """
    if not x.dtype.is_differentiable:
        raise not_implemented("nanmean", x._array.dtype)
    if x.is_complex():
        raise RuntimeError("nansum on CPU does not support complex inputs")
    count = sum((~_isnan(x)).to(_dtypes.int64), dim, keepdim)
    total = sum(x.masked_fill(_isnan(x), 0), dim, keepdim, dtype=dtype)
    return total / count
