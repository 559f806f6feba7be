"""Arithmetic of two tensors or numbers, broadcast and promoted as torch does."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.device import differences
from gradtool.engine._ops.core.batching import unchanged
from gradtool.engine._ops.core.dtype_support import (
    C_NAMES,
    FLOATS,
    MEASURED,
    NUMBERS,
    REAL,
    SMOOTH,
    not_implemented,
    refusing_integers,
    takes,
)
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import (
    REAL_NUMBERS,
    Operation,
    Product,
    are_alike,
    binary,
    elementwise,
    linear,
    product_by_operators,
    promoted,
    zeros_like,
)
from gradtool.engine._ops.core.missing import no_kernel
from gradtool.engine._ops.core.node_names import (
    give_name,
    named_node,
    numbered,
    saving,
    with_node_name,
)
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.core.promotion import require_tensor, result_type
from gradtool.engine._ops.elementwise.elementwise import reciprocal
from gradtool.engine._tensor import Tensor

# ---- the four operations --------------------------------------------------------------------


def _is_bool(operand: Any) -> bool:
    if isinstance(operand, Tensor):
        return bool(operand._array.dtype.kind == "b")
    return isinstance(operand, bool)


def _refuse_bool(x: Any, y: Any) -> None:
    bools = [_is_bool(each) for each in (x, y)]
    if all(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )
    if any(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
            "trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )


bare_add = binary("add", np.add, (1.0, 1.0))
bare_sub = binary("sub", np.subtract, (1.0, -1.0), refuse=_refuse_bool, dtypes=NUMBERS)
mul = op(binary("mul", np.multiply, ("y", "x")), aliases=("multiply",), in_place=True)
bare_div = binary(
    "div",
    ignore_fp_warnings(np.true_divide),
    (
        product_by_operators(lambda g, y: g / y),
        product_by_operators(lambda g, x, y: -g * ((x / y) / y)),
    ),
    of_integers="float",
    dtypes=NUMBERS,
)


@op(in_place=True)
def add(x: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """``x + alpha * y``."""
    return bare_add(x, _scaled(x, other, alpha))


@op(aliases=("subtract",), in_place=True)
def sub(x: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """``x - alpha * y``.

    Raises:
        RuntimeError: an operand is boolean.
    """
    if alpha != 1:
        _refuse_bool(x, other)
    return bare_sub(x, _scaled(x, other, alpha))


def _scaled(x: Any, y: Any, alpha: Any) -> Any:
    """``alpha * y``, if the dtypes of the operands allow it."""
    common = result_type(x, y)
    if isinstance(alpha, bool) and common.name != "bool":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and not common.is_differentiable:
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    if alpha == 1:
        return y
    if isinstance(y, Tensor) and not y.dtype.is_differentiable:
        return y.to(common) * (bool(alpha) if common.name == "bool" else alpha)
    if isinstance(y, Tensor) and y.dtype.is_differentiable and isinstance(alpha, int | float):
        return _multiple(y, alpha=alpha)
    return y * alpha


# Unlike a product, it saves nothing.
_multiple: Primitive = linear(
    "multiple",
    lambda x, *, alpha: x * alpha,
    lambda g, alpha: _multiple(g, alpha=alpha),
    dtypes=SMOOTH,
    batch=unchanged,
)


@op(aliases=("divide",), in_place=True)
def div(x: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """``x / y``, or that rounded: ``floor`` downwards, ``trunc`` towards zero.

    Raises:
        RuntimeError: there is no such rounding mode, or an integer is divided by zero.
    """
    if rounding_mode not in _DIVISIONS:
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
            f"but found '{rounding_mode}'"
        )
    out: Tensor = _DIVISIONS[rounding_mode](x, other)
    if rounding_mode is not None and out._requires_grad:
        give_name(out, "DivBackward2", call=(div, (x, other), {"rounding_mode": rounding_mode}))
    return out


# ---- division that rounds, and remainders ---------------------------------------------------


def _truncated(x: Any, y: Any) -> Any:
    if x.dtype.kind == "f":
        return np.trunc(np.true_divide(x, y))
    quotient = np.floor_divide(x, y)
    inexact = quotient * y != x
    return quotient + (inexact & ((x < 0) != (y < 0))).astype(quotient.dtype)


def _of_whole_numbers(name: str, compute: Any) -> Any:
    """`compute`, which torch refuses booleans, and zero as an integer's divisor."""

    @ignore_fp_warnings
    def checked(x: Any, y: Any) -> Any:
        if x.dtype.kind == "b":
            raise not_implemented(name, x.dtype)
        if x.dtype.kind in "iu" and (y == 0).any():
            raise RuntimeError("ZeroDivisionError")
        return compute(x, y)

    return checked


_floored = _of_whole_numbers("div_floor", differences.floor_divide)

floor_divide = op(
    binary(
        "floor_divide",
        _floored,
        (no_kernel("floor_divide"), no_kernel("floor_divide")),
        dtypes=MEASURED,
    ),
    in_place=True,
)
_NO_SLOPES = (0.0, Product(lambda g, _x: zeros_like(g), lambda _t, _x: None))
_divide_and_floor = binary("div", _floored, _NO_SLOPES, dtypes=NUMBERS, keeps=("y",))
_divide_and_trunc = binary(
    "div", _of_whole_numbers("div_trunc", _truncated), _NO_SLOPES, dtypes=NUMBERS, keeps=("y",)
)
_DIVISIONS: dict[str | None, Operation] = {
    None: bare_div,
    "floor": _divide_and_floor,
    "trunc": _divide_and_trunc,
}

_remainder_of = _of_whole_numbers("remainder", differences.remainder)
_remainder_by = binary(
    "remainder",
    _remainder_of,
    (1.0, Product(lambda g, x, y: -(g * _divide_and_floor(x, y)))),
    dtypes=MEASURED,
)
_remainder_of_number = binary(
    "remainder_of_number",
    _remainder_of,
    (no_kernel("remainder"), no_kernel("remainder")),
    dtypes=MEASURED,
)


def _remainder(by: Operation, of_number: Operation) -> Operation:
    """The function or the operator, of the two ways in which torch computes it."""
    by = with_node_name(by, numbered("Remainder", lambda _x, y: isinstance(y, Tensor)))

    def remainder(x: Any, other: Any) -> Tensor:
        """The remainder of `x` after division by `other`, with the sign of `other`.

        As in torch, the remainder of a number by a tensor is recorded and has no derivative.
        """
        is_of_number = isinstance(other, Tensor) and not isinstance(x, Tensor)
        return (of_number if is_of_number else by)(x, other)

    return remainder


remainder: Any = op(_remainder(_remainder_by, _remainder_of_number), in_place=True)
remainder.operator = _remainder(
    _remainder_by.operator,  # type: ignore[attr-defined]  # `binary` gives it one
    _remainder_of_number.operator,  # type: ignore[attr-defined]  # the same
)
fmod = op(
    binary(
        "fmod",
        _of_whole_numbers("fmod", np.fmod),
        (1.0, Product(lambda g, x, y: -(g * _divide_and_trunc(x, y)))),
        dtypes=MEASURED,
    ),
    in_place=True,
    node=numbered("Fmod", lambda _x, y: isinstance(y, Tensor)),
)

# ---- the plane ------------------------------------------------------------------------------


def _inverse_square(x: Any, y: Any) -> Tensor:
    """``1 / (x² + y²)``, and zero at the origin."""
    square: Tensor = x * x + y * y
    inverse: Tensor = reciprocal(square).masked_fill(square == 0, 0)
    return inverse


def _inverse_of_arrays(x: Any, y: Any) -> Any:
    square = x * x + y * y
    zero = square == 0
    return np.where(zero, square, 1 / square) if zero.any() else 1 / square


atan2 = op(
    binary(
        "atan2",
        np.arctan2,
        (
            Product(
                lambda g, x, y: g * (y * _inverse_square(x, y)),
                of_arrays=lambda g, x, y: g * (y * _inverse_of_arrays(x, y)),
            ),
            Product(
                lambda g, x, y: g * (-x * _inverse_square(x, y)),
                of_arrays=lambda g, x, y: g * (-x * _inverse_of_arrays(x, y)),
            ),
        ),
        of_integers="float",
        dtypes=REAL,
    ),
    aliases=("arctan2",),
    in_place=True,
)
hypot = op(
    binary(
        "hypot",
        refusing_integers("hypot", ignore_fp_warnings(np.hypot)),
        (
            product_by_operators(lambda g, x, out: g * (x / out)),
            product_by_operators(lambda g, y, out: g * (y / out)),
        ),
        dtypes=REAL,
    ),
    in_place=True,
)

# ---- made of the above ----------------------------------------------------------------------


@ignore_fp_warnings
def _with_product(x: Any, tensor1: Any, tensor2: Any, *, value: float) -> Any:
    out = tensor1 * tensor2
    if value != 1:
        out *= value
    out += x
    return out


def _of_factor(g: Any, other: Any, value: float) -> Any:
    return (g if value == 1 else g * value) * other


_addcmul = elementwise(
    "addcmul",
    _with_product,
    1.0,
    product_by_operators(lambda g, tensor2, value: _of_factor(g, tensor2, value)),
    product_by_operators(lambda g, tensor1, value: _of_factor(g, tensor1, value)),
    arguments=("x", "tensor1", "tensor2"),
    dtypes=FLOATS,
)


@op(in_place=True)
def addcmul(x: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """``x + value * tensor1 * tensor2``."""
    if value.__class__ in REAL_NUMBERS and are_alike(x, tensor1, tensor2):
        return _addcmul(x, tensor1, tensor2, value=value)
    return _addcmul_of_others(x, tensor1, tensor2, value=value)


@named_node(saving("AddcmulBackward0", tensor1="tensor2", tensor2="tensor1"))
@takes(NUMBERS, "addcmul_cpu_out")
def _addcmul_of_others(x: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    return bare_add(x, _weighted(mul(tensor1, tensor2), value))


@op(in_place=True, node=saving("AddcdivBackward0", "tensor2", tensor1="tensor2"))
def addcdiv(x: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """``x + value * tensor1 / tensor2``.

    Raises:
        RuntimeError: both are of integers.
    """
    if not result_type(tensor1, tensor2).is_differentiable:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported: convert tensor1 or tensor2 to "
            "a floating point dtype, or use (input + value * torch.trunc(tensor1 / tensor2))."
        )
    return bare_add(x, _weighted(bare_div(tensor1, tensor2), value))


def _weighted(x: Tensor, value: Any) -> Tensor:
    """``value * x``; a fraction is cut off where `x` is of integers."""
    if value == 1:
        return x
    return mul(x, int(value) if not x.dtype.is_differentiable else value)


@ignore_fp_warnings
def _between(x: Any, end: Any, weight: Any) -> Any:
    """From the nearer end, so that a weight of one gives the other exactly."""
    far = np.abs(weight) >= 0.5
    if far.ndim == 0:
        return end - (end - x) * (1 - weight) if far else x + weight * (end - x)
    moved = (weight - far) * (end - x)
    moved += np.where(far, end, x)
    return moved


_lerp = elementwise(
    "lerp",
    _between,
    product_by_operators(lambda g, weight: g * (1 - weight)),
    product_by_operators(lambda g, weight: g * weight),
    product_by_operators(lambda g, x, end: g * (end - x)),
    arguments=("x", "end", "weight"),
    dtypes=SMOOTH,
).keeping("weight")


def _lerp_node(_x: Any, _end: Any, weight: Any) -> str:
    return f"LerpBackward{int(isinstance(weight, Tensor))}"


@op(in_place=True)
def lerp(x: Tensor, end: Tensor, weight: Any) -> Tensor:
    """``x + weight * (end - x)``.

    Raises:
        RuntimeError: the dtypes differ.
        NotImplementedError: they are not floating.
    """
    if are_alike(x, end, weight):
        return _lerp(x, end, weight)
    return _lerp_of_others(x, end, weight)


@named_node(saving(_lerp_node, weight="weight"))
def _lerp_of_others(x: Tensor, end: Tensor, weight: Any) -> Tensor:
    require_tensor("lerp", x)
    _require_dtype_of(x, "end", end)
    if isinstance(weight, Tensor):
        if weight.ndim:
            _require_dtype_of(x, "weight", weight)
        weight = weight.to(x.dtype)
    elif isinstance(weight, complex) and not x.is_complex():
        raise RuntimeError(
            f"value cannot be converted to type {C_NAMES[x.dtype.name]} without overflow"
        )
    if not x.dtype.is_differentiable:
        kernel = "lerp_kernel_tensor" if isinstance(weight, Tensor) else "lerp_kernel_scalar"
        raise not_implemented(kernel, x._array.dtype)
    return promoted(_lerp, (x, end, weight))


def _require_dtype_of(x: Tensor, name: str, other: Tensor) -> None:
    if other.dtype is not x.dtype:
        names = [C_NAMES[each.dtype.name] for each in (x, other)]
        raise RuntimeError(f"expected dtype {names[0]} for `{name}` but got dtype {names[1]}")


@op(node=numbered("Rsub", lambda _x, y, **_: not isinstance(y, Tensor)))
def rsub(x: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``y - alpha * x``."""
    return sub(other, x, alpha=alpha)


true_divide = op(bare_div, name="true_divide", in_place=True)

OPERATORS = {"add": bare_add, "sub": bare_sub, "div": bare_div}
"""What ``+``, ``-`` and ``/`` call: the functions of these names without keywords to look at."""
