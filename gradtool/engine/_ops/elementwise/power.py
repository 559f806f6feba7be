"""Powers. Exponents are tensors or numbers, and numbers are by far the most common."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

from gradtool.engine._modes import modes
from gradtool.engine._ops.core.kinds import REAL_NUMBERS, Product, binary, elementwise, zeros_like
from gradtool.engine._ops.core.promotion import result_type
from gradtool.engine._ops.core.quiet import quiet
from gradtool.engine._ops.core.unsupported import not_implemented
from gradtool.engine._ops.elementwise.elementwise import log
from gradtool.engine._tensor import Tensor, wrap

# ---- a number as the exponent ---------------------------------------------------------------


@quiet
def _to_number(x: Any, *, exponent: Any) -> Any:
    """NumPy's operator has short cuts for squares, roots and reciprocals; two more are ours."""
    if x.dtype.kind == "b":
        return x.copy() if exponent else np.ones_like(x)
    if exponent == 3:
        return x * x * x
    return 1 / np.sqrt(x) if exponent == -0.5 else x**exponent


def _to_number_vjp(g: Tensor, x: Tensor, exponent: Any) -> Tensor:
    if exponent == 2:
        return g * (x + x)
    if exponent == 1:
        return g
    if exponent == 0:
        return zeros_like(g)
    rate: Tensor = _power_to_number(x, exponent=exponent - 1) * exponent
    return g * rate


_power_to_number = elementwise("pow", _to_number, Product(_to_number_vjp), arguments=("x",))


def _pow_number(x: Tensor, exponent: Any) -> Tensor:
    common = result_type(x, exponent)
    if not common.is_differentiable and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return _power_to_number(x if x.dtype is common else x.to(common), exponent=exponent)


# ---- a tensor as the exponent ---------------------------------------------------------------


@quiet
def _power(x: Any, y: Any) -> Any:
    if x.dtype.kind == "b":
        raise not_implemented("pow", x.dtype)
    if x.dtype.kind in "iu":
        return _integer_power(x, y)
    return np.power(x, y)


def _integer_power(x: Any, y: Any) -> Any:
    """Powers of integers; to a negative one: that of 1 and -1, and 0 for the rest."""
    power = np.power(x, np.maximum(y, 0))
    of_unit = np.where((x == -1) & (y % 2 == 1), -1, 1)
    inverse = np.where((x == 1) | (x == -1), of_unit, 0)
    return np.where(y < 0, inverse, power).astype(x.dtype)


def _by_base(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Zero for a zero exponent, whatever the base."""
    rate: Tensor = (y * pow(x, y - 1)).masked_fill(y == 0, 0)
    return g * rate


def _by_exponent(g: Tensor, x: Any, y: Tensor, out: Tensor) -> Tensor:
    """Zero where zero is raised to what is not negative: the limit, though log is infinite."""
    if isinstance(x, Tensor):
        rate: Tensor = (out * log(x)).masked_fill((x == 0) & _is_not_negative(y), 0)
    elif x != 0:
        rate = out * _log_of_number(x, y)
    else:
        rate = (out * -math.inf).masked_fill(_is_not_negative(y), 0)
    return g * rate


def _is_not_negative(y: Tensor) -> Tensor:
    found: Tensor = (y.real >= 0) & (y.imag == 0) if y.is_complex() else y >= 0
    return found


def _log_of_number(x: Any, y: Tensor) -> Any:
    """The logarithm, complex where the exponent is, else NaN for a negative number."""
    if isinstance(x, complex) or y.is_complex():
        return cmath.log(x)
    return math.log(x) if x > 0 else math.nan


_pow_tensor = binary("pow", _power, (Product(_by_base), Product(_by_exponent)))


def pow(x: Any, exponent: Any) -> Tensor:
    """`x` to the power of `exponent`; one of them may be a number.

    Raises:
        RuntimeError: an integer tensor is raised to a negative integer number.
    """
    if x.__class__ is Tensor and exponent.__class__ in REAL_NUMBERS and x._array.dtype.kind in "fc":
        out = wrap(_to_number(x._array, exponent=exponent))
        if x._requires_grad and modes.grad:
            _power_to_number.record((0,), (x,), {"exponent": exponent}, out)
        return out
    if isinstance(exponent, Tensor):
        return _pow_tensor(x, exponent)
    if isinstance(x, Tensor) and isinstance(exponent, int | float | complex | np.generic):
        number = exponent.item() if isinstance(exponent, np.generic) else exponent
        return _pow_number(x, number)
    raise TypeError(
        f"pow(): needs a tensor and a number or a tensor, not {type(x).__name__} and "
        f"{type(exponent).__name__}"
    )


__all__ = ["pow"]
