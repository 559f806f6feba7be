"""Choosing between values: where, clamp, maximum, minimum, and elements under a mask."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from gradtool.device.differences import full_like
from gradtool.engine import _dtypes
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.batching import lined_up
from gradtool.engine._ops.core.choice import chosen
from gradtool.engine._ops.core.dtype_support import (
    C_NAMES,
    MEASURED,
    ORDERED,
    not_implemented,
    refuse_complex_gradient,
    refusing_complex,
)
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import (
    REAL_NUMBERS,
    Product,
    binary,
    elementwise,
    promoted,
)
from gradtool.engine._ops.core.node_names import numbered, saving, with_node_name
from gradtool.engine._ops.core.op import method, op
from gradtool.engine._ops.core.primitive import Primitive, vjp_of
from gradtool.engine._ops.core.promotion import cast, result_type
from gradtool.engine._ops.core.scalars import element_for, scalar_for
from gradtool.engine._ops.elementwise.comparison import isneginf, isposinf
from gradtool.engine._ops.shape.expansion import broadcast_tensors
from gradtool.engine._tensor import Tensor, wrap

if TYPE_CHECKING:
    from gradtool.engine._levels import BatchLevel

# ---- where ----------------------------------------------------------------------------------


@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...
@overload
def where(condition: Tensor, input: Any, other: Any) -> Tensor: ...
@op
def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Elements of the first value where the condition holds, of the second where it does not.

    Without values: the positions where it holds, one tensor of them for each dimension.

    Raises:
        RuntimeError: the condition is not boolean.
        TypeError: only one value is given.
    """
    if condition.__class__ is Tensor and condition._array.dtype.kind == "b":
        quick = _quick_where(condition, input, other)
        if quick is not None:
            return quick
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if input is None or other is None:
        raise TypeError("where() takes a condition and two values, or a condition alone")
    values = [_beside_complex_number(*pair) for pair in ((input, other), (other, input))]
    return promoted(_where, (_as_condition(condition), *values), conditions=1)


def _quick_where(condition: Tensor, x: Any, y: Any) -> Tensor | None:
    """`where` of floating values of one dtype, one of which may be a number: the usual call."""
    kinds = [each._array.dtype for each in (x, y) if each.__class__ is Tensor]
    if not kinds or kinds[0].kind != "f" or kinds[0] is not kinds[-1]:
        return None
    values = []
    for each in (x, y):
        if each.__class__ is not Tensor and each.__class__ not in REAL_NUMBERS:
            return None
        values.append(each._array if each.__class__ is Tensor else kinds[0].type(each))
    try:
        out = wrap(chosen(condition._array, *values))
    except (ValueError, TypeError, RuntimeWarning):
        return None
    if modes.grad:
        _where.record_needed((condition, x, y), {}, out)
    return out


def _beside_complex_number(value: Any, other: Any) -> Any:
    """A value as a complex tensor beside a complex number: only so its gradient is brought back."""
    if isinstance(other, complex) and isinstance(value, Tensor):
        return value.to(result_type(value, other))
    return value


@method("where")
def _chosen_where(x: Tensor, condition: Tensor, other: Any) -> Tensor:
    """The method, whose condition comes second."""
    return where(condition, x, other)


_where = elementwise(
    "where",
    chosen,
    Product(lambda _g: None),
    Product(
        lambda g, mask, x_dtype: _of_kind(x_dtype, where(mask, g, 0)),
        of_arrays=lambda g, mask, _dtype: chosen(mask, g, g.dtype.type(0)),
    ),
    Product(
        lambda g, mask, y_dtype: _of_kind(y_dtype, where(mask, 0, g)),
        of_arrays=lambda g, mask, _dtype: chosen(mask, g.dtype.type(0), g),
    ),
    arguments=("mask", "x", "y"),
)


def _of_kind(dtype: _dtypes.dtype, grad: Tensor) -> Tensor:
    """The gradient, unless it is complex and its tensor is not, which torch does not bring back."""
    if grad.is_complex() and dtype.is_floating_point:
        raise RuntimeError(
            "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) "
            "to be true, but got false.  (Could this error message be improved?  If so, please "
            "report an enhancement request to PyTorch.)"
        )
    return grad


def _as_condition(condition: Tensor) -> Tensor:
    kind = condition.dtype
    if kind is _dtypes.uint8:
        warnings.warn(
            "where received a uint8 condition tensor. This behavior is deprecated; "
            "use a boolean condition instead.",
            UserWarning,
            stacklevel=3,
        )
        return condition != 0
    if kind is not _dtypes.bool_:
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{kind.name}"
        )
    return condition


# ---- maximum and minimum --------------------------------------------------------------------


def _tangent_of(chosen: Callable[[Tensor, Tensor], Tensor], *, second: bool) -> Any:
    """The factor times the tangent of the first of two, or of the second: the rest of it.

    `chosen` is the factor of the first: 1 where the result is this one, and not the other.
    """

    def forward(t: Tensor, x: Tensor, y: Tensor) -> Tensor:
        factor = chosen(x, y).to(t.dtype)
        return t * (1 - factor if second else factor)

    return forward


def _larger_or_half(x: Tensor, y: Tensor) -> Tensor:
    return (x > y) + (x == y) * 0.5


def _smaller_or_half(x: Tensor, y: Tensor) -> Tensor:
    return (x < y) + (x == y) * 0.5


def _half_of_ties(g: Tensor, x: Tensor, y: Tensor, beaten: Tensor) -> Tensor:
    """The gradient of `x`: all of `g` where it was chosen, half where both are equal."""
    shared: Tensor = where(x == y, g / 2, g).masked_fill(beaten, 0)
    return shared


def _half_in_arrays(g: Any, x: Any, y: Any, beaten: Any) -> Any:
    shared = chosen(beaten, g.dtype.type(0), g)
    tied = x == y
    return np.where(tied, g / 2, shared) if tied.any() else shared


_maximum = binary(
    "maximum",
    refusing_complex("maximum", np.maximum),
    (
        Product(
            lambda g, x, y: _half_of_ties(g, x, y, x < y),
            _tangent_of(_larger_or_half, second=False),
            lambda g, x, y: _half_in_arrays(g, x, y, x < y),
        ),
        Product(
            lambda g, x, y: _half_of_ties(g, x, y, y < x),
            _tangent_of(_larger_or_half, second=True),
            lambda g, x, y: _half_in_arrays(g, x, y, y < x),
        ),
    ),
    dtypes=ORDERED,
)
_minimum = binary(
    "minimum",
    refusing_complex("minimum", np.minimum),
    (
        Product(
            lambda g, x, y: _half_of_ties(g, x, y, x > y),
            _tangent_of(_smaller_or_half, second=False),
            lambda g, x, y: _half_in_arrays(g, x, y, x > y),
        ),
        Product(
            lambda g, x, y: _half_of_ties(g, x, y, y > x),
            _tangent_of(_smaller_or_half, second=True),
            lambda g, x, y: _half_in_arrays(g, x, y, y > x),
        ),
    ),
    dtypes=ORDERED,
)


@op(method=True)
def maximum(x: Tensor, other: Tensor) -> Tensor:
    """The larger of each pair; NaN if one is. Equal ones share the gradient."""
    _require_tensors("maximum", x, other)
    return _maximum(x, other)


@op(method=True)
def minimum(x: Tensor, other: Tensor) -> Tensor:
    """The smaller of each pair; NaN if one is. Equal ones share the gradient."""
    _require_tensors("minimum", x, other)
    return _minimum(x, other)


def _require_tensors(name: str, *operands: Any) -> None:
    for position, operand in enumerate(operands):
        if not isinstance(operand, Tensor):
            raise TypeError(
                f"{name}(): argument {position + 1} must be Tensor, not {type(operand).__name__}"
            )


# ---- clamp ----------------------------------------------------------------------------------


def _within_numbers(x: Any, *, low: Any, high: Any) -> Any:
    if low is not None:
        x = np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def _within_numbers_vjp(g: Tensor, x: Tensor, low: Any, high: Any) -> Tensor:
    """All of `g` where `x` lies within the bounds, which belong to it."""
    if low is not None:
        g = g.masked_fill(~(x >= low), 0)
    return g if high is None else g.masked_fill(~(x <= high), 0)


def _within_numbers_in_arrays(g: Any, x: Any, low: Any, high: Any) -> Any:
    inside = x <= high if low is None else x >= low
    if low is not None and high is not None:
        inside = inside & (x <= high)
    return chosen(inside, g, g.dtype.type(0))


_clamp_to_numbers = elementwise(
    "clamp",
    _within_numbers,
    Product(_within_numbers_vjp, of_arrays=_within_numbers_in_arrays),
    arguments=("x",),
    dtypes=MEASURED,
)


def _moved(name: str, compute: Any, kept: Callable[..., Any], moved: Callable[..., Any]) -> Any:
    """A bound that is a tensor: where `x` is kept, and where it is the bound.

    The tangent is that of the bound where `x` is not kept, NaN among them.
    """

    def bounded(keeps: Callable[..., Any]) -> Any:
        return binary(
            name,
            compute,
            (
                Product(
                    lambda g, x, y: g.masked_fill(~kept(x, y), 0),
                    lambda t, x, y: t.masked_fill(~keeps(x, y), 0),
                ),
                Product(
                    lambda g, x, y: g.masked_fill(~moved(x, y), 0),
                    lambda t, x, y: t.masked_fill(keeps(x, y), 0),
                ),
            ),
            dtypes=MEASURED,
        )

    # At the bound `clamp` and `clamp_min` differ.
    return bounded(kept), bounded(lambda x, y: kept(x, y) & (x != y))


_at_least, _above = _moved("clamp_min", np.maximum, lambda x, y: x >= y, lambda x, y: x < y)
_at_most, _below = _moved("clamp_max", np.minimum, lambda x, y: x <= y, lambda x, y: x > y)
_between = elementwise(
    "clamp",
    lambda x, low, high: np.minimum(np.maximum(x, low), high),
    Product(
        lambda g, x, low, high: g.masked_fill(~((x >= low) & (x <= high)), 0),
        lambda t, x, low, high: t.masked_fill((x < low) | (x > high) | (low > high), 0),
    ),
    Product(lambda g, x, low, high: g.masked_fill(~((x < low) & (low < high)), 0)),
    Product(lambda g, x, low, high: g.masked_fill(~((x > high) | (high < low)), 0)),
    dtypes=MEASURED,
)


def _clamp_overload(_x: Any, min: Any = None, max: Any = None) -> bool:
    """Return True for bounds that are numbers, or one beside a tensor that holds another."""
    return any(bound is not None and not isinstance(bound, Tensor) for bound in (min, max))


@op(aliases=("clip",), in_place=True, node=numbered("Clamp", _clamp_overload))
def clamp(x: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """`x` with what lies outside the bounds moved to them; `max` wins over `min`.

    The bounds are numbers, or tensors that broadcast with `x`. At a bound, `x` gets the gradient.
    Beside a number, a tensor of no dimensions is a number too, unless it requires a gradient.

    Raises:
        RuntimeError: there is no bound at all.
        TypeError: one bound is another tensor and the other is a number.
    """
    if x.__class__ is Tensor and x._array.dtype.kind == "f" and _are_bounds(min, max):
        return _clamp_to_numbers(x, low=min, high=max)
    if isinstance(min, Tensor) != isinstance(max, Tensor) and min is not None and max is not None:
        min, max = _as_number(min), _as_number(max)
    bounds = [bound for bound in (min, max) if bound is not None]
    if not bounds:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    common = result_type(x, *bounds)
    if common.is_complex or common is _dtypes.bool_:
        raise not_implemented("clamp", common.numpy)
    of_tensors = [isinstance(bound, Tensor) for bound in bounds]
    if all(of_tensors):
        return _clamp_to_tensors(x, min, max)
    if any(of_tensors):
        raise TypeError("clamp() takes two numbers or two tensors as bounds, not one of each")
    x = x if x.dtype is common else x.to(common)
    return _clamp_to_numbers(x, low=_bound(min, common), high=_bound(max, common))


def _as_number(bound: Any) -> Any:
    """The number that a tensor of no dimensions without gradient holds; else the bound itself."""
    is_number = isinstance(bound, Tensor) and bound.ndim == 0 and not bound.requires_grad
    return bound.item() if is_number else bound


def _are_bounds(low: Any, high: Any) -> bool:
    """Return True for two numbers, or one and None."""
    if low is None:
        return high.__class__ in REAL_NUMBERS
    return low.__class__ in REAL_NUMBERS and (high is None or high.__class__ in REAL_NUMBERS)


def _bound(value: Any, common: _dtypes.dtype) -> Any:
    """A number that is compared within `common`, as which NumPy takes no larger integer."""
    return value if value is None or common.is_differentiable else cast(value, common.numpy)


def _clamp_to_tensors(x: Tensor, low: Tensor | None, high: Tensor | None) -> Tensor:
    made: Tensor
    if low is None:
        made = _below(x, high)
    else:
        made = _above(x, low) if high is None else promoted(_between, (x, low, high))
    return made


@op(in_place=True, node="ClampMinBackward0")
def clamp_min(x: Tensor, min: Any) -> Tensor:
    """`x`, but `min` where that is larger."""
    return _at_least(x, min) if isinstance(min, Tensor) else clamp(x, min=min)


@op(in_place=True, node="ClampMaxBackward0")
def clamp_max(x: Tensor, max: Any) -> Tensor:
    """`x`, but `max` where that is smaller."""
    return _at_most(x, max) if isinstance(max, Tensor) else clamp(x, max=max)


# ---- NaN as a missing value -------------------------------------------------------------------


def _isnan(x: Tensor) -> Tensor:
    return x != x


fmax = op(
    binary(
        "fmax",
        ignore_fp_warnings(refusing_complex("fmax", np.fmax)),
        (
            Product(
                lambda g, x, y: g.masked_fill(~((x >= y) | _isnan(y)), 0),
                lambda t, x, y: t.masked_fill(~((x > y) | _isnan(y)), 0),
            ),
            Product(
                lambda g, x, y: g.masked_fill((x >= y) | _isnan(y), 0),
                lambda t, x, y: t.masked_fill((x > y) | _isnan(y), 0),
            ),
        ),
        dtypes=ORDERED,
    ),
    method=True,
)
fmin = op(
    binary(
        "fmin",
        ignore_fp_warnings(refusing_complex("fmin", np.fmin)),
        (
            Product(lambda g, x, y: g.masked_fill(~((x <= y) | _isnan(y)), 0)),
            Product(lambda g, x, y: g.masked_fill((x <= y) | _isnan(y), 0)),
        ),
        dtypes=ORDERED,
    ),
    method=True,
)


_NAN_TO_NUM = saving("NanToNumBackward0", "x")


def _made_finite(
    x: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    if not x.is_floating_point():
        return x.clone()
    limits = _dtypes.finfo(x.dtype)
    largest = float(limits.max) if posinf is None else posinf
    smallest = float(limits.min) if neginf is None else neginf
    finite = x.masked_fill(_isnan(x), 0.0 if nan is None else nan)
    return finite.masked_fill(isposinf(x), largest).masked_fill(isneginf(x), smallest)


@op(in_place=with_node_name(_made_finite, _NAN_TO_NUM), node=_NAN_TO_NUM)
def nan_to_num(
    x: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """NaN and infinities replaced by numbers: zero, and the largest and smallest there are.

    Raises:
        RuntimeError: a complex tensor requires a gradient.
    """
    refuse_complex_gradient("nan_to_num", x)
    return _made_finite(x, nan, posinf, neginf)


# ---- masks -----------------------------------------------------------------------------------


def _fill_rule(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    """Choose by `where` among several values, of which the primitive takes one."""
    x, value, mask = lined_up(level, args)
    out: Tensor = where(mask, value, x) if level.owns(args[1]) else primitive(x, value, mask)
    return out


def _summed_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Sum an array over the axes along which an array of this shape was broadcast to it."""
    total: Any = wrap(x).sum_to_size(shape)
    return total._array


_masked_fill = Primitive(
    "masked_fill",
    lambda x, value, mask: chosen(mask, value, x),
    (
        vjp_of(
            lambda g, mask, x_shape: g.masked_fill(mask, 0).sum_to_size(x_shape),
            lambda g, mask, shape: (
                chosen(mask, g.dtype.type(0), g)
                if g.shape == shape
                else _summed_to(chosen(mask, g.dtype.type(0), g), shape)
            ),
        ),
        vjp_of(lambda g, mask: g.masked_fill(~mask, 0).sum()),
    ),
    kind="linear",
    batch=_fill_rule,
)


@op(in_place=True, node=numbered("MaskedFill", lambda _x, _mask, value: isinstance(value, Tensor)))
def masked_fill(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A copy with one value, a number or a 0-d tensor, where the mask is true.

    Raises:
        RuntimeError: the mask is not boolean, or the value has dimensions or does not fit the
            dtype.
    """
    if mask._array.dtype.kind != "b":
        kind = C_NAMES.get(mask._array.dtype.name, mask.dtype)
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {kind}"
        )
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if isinstance(value, Tensor):
        fill = element_for(x, value)
    elif x.__class__ is Tensor and x._array.dtype == np.float64 and value.__class__ is float:
        fill = wrap(full_like(x._array, value, ()))
    else:
        fill = x.new_tensor(scalar_for(x, value))
    return _masked_fill(x, fill, mask)


@op(method=True, node=saving("MaskedSelectBackward0", "x"))
def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask, broadcast with them, is true, in one dimension."""
    if mask._array.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    values, picked = broadcast_tensors(x, mask)
    return values[picked]


@op(method=True)
def nonzero(x: Tensor, *, as_tuple: bool = False) -> Any:
    """The positions of the non-zero elements: one row each, or one tensor for each dimension."""
    found = np.nonzero(np.atleast_1d(x._array))
    if as_tuple:
        return tuple([wrap(positions) for positions in found])
    return wrap(np.stack(found)[: x.ndim].T)


@op(method=True)
def nonzero_static(x: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first `size` rows of `nonzero`, with rows of `fill_value` after the last.

    Raises:
        RuntimeError: the size is negative.
    """
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = nonzero(x)
    rows: Tensor = found.new_full((size, x.ndim), fill_value)
    count = min(size, len(found))
    rows[:count] = found[:count]
    return rows


@op(method=True)
def argwhere(x: Tensor) -> Tensor:
    """The positions of the non-zero elements, one row each."""
    places: Tensor = nonzero(x)
    return places
