"""The largest and smallest elements, and where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradtool.device import differences
from gradtool.engine._ops.core.batching import along_dim, over_dims
from gradtool.engine._ops.core.dims import Ints, wrap_dim
from gradtool.engine._ops.core.dtype_support import ORDERED, not_implemented
from gradtool.engine._ops.core.kinds import constant, general
from gradtool.engine._ops.core.node_names import along_dimension
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.own_memory import of_own_memory
from gradtool.engine._ops.core.primitive import Primitive, vjp_of
from gradtool.engine._ops.core.return_types import ValuesAndIndices, return_type
from gradtool.engine._ops.elementwise.selection import maximum, minimum
from gradtool.engine._ops.indexing.gathering import picking
from gradtool.engine._ops.reductions.reduction import (
    added_up,
    dims_of,
    kept_shape,
    largest_of,
    names_none,
    numpy_names,
    smallest_of,
    spread,
)
from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine._levels import BatchLevel

# ---- values, over any dimensions ------------------------------------------------------------


def _extremes(name: str, function: Any) -> Any:
    def compute(x: Any, *, dims: Ints, keepdim: bool) -> Any:
        if x.dtype.kind == "c":
            raise not_implemented(name, x.dtype)
        return function(x, dims, keepdim)

    return compute


def _shared_among_equals(g: Tensor, x: Tensor, out: Tensor, dims: Ints) -> Tensor:
    """Equal extremes get equal parts of the gradient."""
    return _shared(g, x == spread(out, x.shape, dims), dims)


def _shared_among_equals_or_nan(g: Tensor, x: Tensor, out: Tensor, dims: Ints) -> Tensor:
    """The same, where a NaN is as extreme as any other."""
    extreme = spread(out, x.shape, dims)
    chosen = (x == extreme) | ((x != x) & (extreme != extreme))
    part = spread(g, x.shape, dims) / chosen.sum(dims, keepdim=True)
    return part.masked_fill(~chosen, 0)  # where none is any more, that is all


def _shared(g: Tensor, chosen: Tensor, dims: Ints) -> Tensor:
    part: Tensor = spread(g, chosen.shape, dims) * chosen / chosen.sum(dims, keepdim=True)
    return part


def _mean_of_equals(tangents: Any, x: Tensor, out: Tensor, dims: Ints, keepdim: bool) -> Tensor:
    """The mean of the tangents of equal extremes, of which a NaN has none."""
    chosen = x == spread(out, x.shape, dims)
    found: Tensor = (tangents[0] * chosen).sum(dims, keepdim) / chosen.sum(dims, keepdim)
    return found


def _shared_in_arrays(g: Any, x: Any, out: Any, dims: Ints) -> Any:
    kept = kept_shape(x.shape, dims)
    chosen = x == out.reshape(kept)
    count = added_up(chosen, dims, keepdim=True).astype(g.dtype)
    return chosen * (g.reshape(kept) / count)


_shared_gradient = vjp_of(_shared_among_equals, _shared_in_arrays)
_amax = general(
    "amax", _extremes("amax", largest_of), _shared_gradient, dtypes=ORDERED, batch=over_dims
)
_amin = general(
    "amin", _extremes("amin", smallest_of), _shared_gradient, dtypes=ORDERED, batch=over_dims
)
_max = general(
    "max",
    _extremes("max_all", largest_of),
    _shared_among_equals_or_nan,
    jvp=_mean_of_equals,
    dtypes=ORDERED,
    batch=over_dims,
)
_min = general(
    "min",
    _extremes("min_all", smallest_of),
    _shared_among_equals_or_nan,
    jvp=_mean_of_equals,
    dtypes=ORDERED,
    batch=over_dims,
)


@op(method=True)
@numpy_names
def amax(x: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The largest of all elements, or over some dimensions. Ties share the gradient.

    Raises:
        IndexError: there is no such dimension, or it has no elements.
        RuntimeError: there are no elements at all.
    """
    return _amax(x, dims=_dims_with_elements("amax", x, dim), keepdim=keepdim)


@op(method=True)
@numpy_names
def amin(x: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The smallest of all elements, or over some dimensions. Ties share the gradient.

    Raises:
        IndexError: there is no such dimension, or it has no elements.
        RuntimeError: there are no elements at all.
    """
    return _amin(x, dims=_dims_with_elements("amin", x, dim), keepdim=keepdim)


def _dims_with_elements(
    name: str, x: Tensor, dim: Any, error: type[Exception] = RuntimeError
) -> Ints:
    """The dimensions to reduce, each of which must have something to choose from."""
    shape = x._array.shape
    dims = dims_of(dim, len(shape))
    if x._array.size:
        return dims
    if dim is None or names_none(dim):
        raise error(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    for each in dims:
        if shape[each] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {each} to have non-zero size.")
    return dims


# ---- values and their places, along one dimension -------------------------------------------


def _node_of(name: str) -> Callable[..., str | None]:
    """Return the rule for the node's name: along a dimension, of all elements, or of a pair."""

    def node(x: Any, dim: Any = None, *rest: Any, **params: Any) -> str | None:
        if isinstance(dim, Tensor) or "other" in params:
            return None
        return f"{name}Backward{int(not along_dimension(x, dim, *rest, **params))}"

    return node


@return_type("max")
class Max(ValuesAndIndices):
    """Result of `max` along a dimension."""

    __slots__ = ()


@op(method=True, node=_node_of("Max"))
@numpy_names
@of_own_memory
def max(x: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The largest element; with `dim`: values and indices along it; with a tensor: `maximum`.

    Ties share the gradient of the largest of all; along a dimension the first one gets it.

    Raises:
        IndexError: there is no such dimension, or it has no elements.
        RuntimeError: there are no elements at all.
    """
    other = dim if isinstance(dim, Tensor) else other
    if other is not None:
        return maximum(x, other)
    if dim is None:
        return _max(x, dims=_dims_with_elements("max", x, None), keepdim=False)
    return Max(*_along("max", _argmax, x, dim, keepdim))


@return_type("min")
class Min(ValuesAndIndices):
    """Result of `min` along a dimension."""

    __slots__ = ()


@op(method=True, node=_node_of("Min"))
@numpy_names
@of_own_memory
def min(x: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The smallest element; with `dim`: values and indices along it; with a tensor: `minimum`.

    Ties share the gradient of the smallest of all; along a dimension the first one gets it.

    Raises:
        IndexError: there is no such dimension, or it has no elements.
        RuntimeError: there are no elements at all.
    """
    other = dim if isinstance(dim, Tensor) else other
    if other is not None:
        return minimum(x, other)
    if dim is None:
        return _min(x, dims=_dims_with_elements("min", x, None), keepdim=False)
    return Min(*_along("min", _argmin, x, dim, keepdim))


_picked = picking("max", dtypes=ORDERED)


def _along(
    name: str, search: Primitive, x: Tensor, dim: int, keepdim: bool
) -> tuple[Tensor, Tensor]:
    _dims_with_elements(name, x, (dim,))
    dim = wrap_dim(dim, x._array.ndim)
    indices = search(x, dim=dim, keepdim=False)
    if x.ndim == 0 and x._level is not None:
        return x.clone(), indices
    values = _picked(x, indices, dim=dim)
    if not keepdim or x.ndim == 0:
        return values, indices
    return values.unsqueeze(dim), indices.unsqueeze(dim)


# ---- places ---------------------------------------------------------------------------------


def _places(name: str, function: Any) -> Any:
    def compute(x: Any, *, dim: int | None, keepdim: bool) -> Any:
        if x.dtype.kind == "c":
            raise not_implemented(name, x.dtype)
        found = function(x, axis=dim if x.ndim else None)
        dims = tuple(range(x.ndim)) if dim is None else (dim,)
        return found.reshape(kept_shape(x.shape, dims)) if keepdim else found

    return compute


def _place_rule(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor | None:
    """Batch rule along a dimension, or among all elements of an example."""
    if params["dim"] is not None:
        return along_dim(level, primitive, args, params)
    found: Tensor = primitive(level.below(args[0]).reshape(level.size, -1), dim=1, keepdim=False)
    return found.reshape(level.size, *[1] * args[0].ndim) if params["keepdim"] else found


_argmax = constant(
    "argmax", _places("argmax", differences.argmax), dtypes=ORDERED, batch=_place_rule
)
_argmin = constant(
    "argmin", _places("argmin", differences.argmin), dtypes=ORDERED, batch=_place_rule
)


@op(method=True)
@numpy_names
def argmax(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The index of the first largest element, among all or along a dimension.

    Raises:
        IndexError: there is no such dimension, or nothing to choose from.
        RuntimeError: the elements are booleans.
    """
    return _argmax(x, dim=_place_dim("argmax", x, dim), keepdim=keepdim)


@op(method=True)
@numpy_names
def argmin(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The index of the first smallest element, among all or along a dimension.

    Raises:
        IndexError: there is no such dimension, or nothing to choose from.
        RuntimeError: the elements are booleans.
    """
    return _argmin(x, dim=_place_dim("argmin", x, dim), keepdim=keepdim)


def _place_dim(name: str, x: Tensor, dim: int | None) -> int | None:
    if x.dtype.category == 0:
        raise RuntimeError(f"{name}(): does not support bool input")
    if dim is None:
        _dims_with_elements(name, x, None, IndexError)
        return None
    _dims_with_elements(name, x, (dim,))
    return wrap_dim(dim, x._array.ndim)
