"""Comparisons, tests of single elements, logic, bits, and neighbours on the number line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradtool.engine._ops.core.batching import unchanged
from gradtool.engine._ops.core.dtype_support import (
    BITS,
    EVERY,
    INTEGERS,
    ORDERED,
    REAL,
    TYPE_NAMES,
    Dtypes,
    not_implemented,
    refusing_complex,
    refusing_floats,
    refusing_integers,
)
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import (
    REAL_NUMBERS,
    Operation,
    Product,
    binary,
    computed,
    constant,
    elementwise,
    promoted,
    without_derivative,
    zeros_like,
)
from gradtool.engine._ops.core.missing import no_kernel
from gradtool.engine._ops.core.node_names import numbered
from gradtool.engine._ops.core.op import method, op
from gradtool.engine._ops.core.promotion import require_tensor
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._tensor import Tensor

# ---- comparisons of two tensors or numbers ---------------------------------------------------


def _comparison(name: str, compute: Callable[..., Any], *, dtypes: Dtypes = EVERY) -> Operation:
    primitive = elementwise(name, compute, arguments=("x", "y"), dtypes=dtypes)

    def operation(x: Tensor, other: Any) -> Tensor:
        if x.__class__ is Tensor:
            a = x._array
            if other.__class__ is Tensor and other._array.dtype is a.dtype:
                return computed(primitive, (a, other._array))
            if other.__class__ in REAL_NUMBERS and a.dtype.kind in "fc":
                return computed(primitive, (a, other))
        return promoted(primitive, (x, other))

    operation.__name__ = operation.__qualname__ = name
    primitive.operation = operation
    return operation


eq = op(_comparison("eq", np.equal), in_place=True)
ne = op(_comparison("ne", np.not_equal), in_place=True)
lt = op(_comparison("lt", refusing_complex("lt", np.less), dtypes=ORDERED), in_place=True)
le = op(_comparison("le", refusing_complex("le", np.less_equal), dtypes=ORDERED), in_place=True)
gt = op(_comparison("gt", refusing_complex("gt", np.greater), dtypes=ORDERED), in_place=True)
ge = op(_comparison("ge", refusing_complex("ge", np.greater_equal), dtypes=ORDERED), in_place=True)

greater_equal = op(ge, name="greater_equal", in_place=True)
greater = op(gt, name="greater", in_place=True)
less_equal = op(le, name="less_equal", in_place=True)
less = op(lt, name="less", in_place=True)
not_equal = op(ne, name="not_equal", in_place=True)

# ---- tests of one tensor ---------------------------------------------------------------------


isfinite = op(without_derivative("isfinite", np.isfinite), method=True)
isinf = op(without_derivative("isinf", np.isinf), method=True)
isnan = op(without_derivative("isnan", np.isnan), method=True)
isposinf = op(
    without_derivative(
        "isposinf", refusing_complex("isposinf", lambda x: np.isinf(x) & (x > 0)), dtypes=ORDERED
    ),
    method=True,
)
isneginf = op(
    without_derivative(
        "isneginf", refusing_complex("isneginf", lambda x: np.isinf(x) & (x < 0)), dtypes=ORDERED
    ),
    method=True,
)
isreal = op(
    without_derivative(
        "isreal", lambda x: x.imag == 0 if x.dtype.kind == "c" else np.ones_like(x, bool)
    ),
    method=True,
)
signbit = op(
    without_derivative(
        "signbit",
        refusing_complex("signbit", lambda x: x < 0 if x.dtype.kind in "iub" else np.signbit(x)),
        dtypes=ORDERED,
    ),
    method=True,
)

# ---- nearness --------------------------------------------------------------------------------


@ignore_fp_warnings
def _is_close(x: Any, y: Any, *, rtol: float, atol: float, equal_nan: bool) -> Any:
    near = np.abs(x - y) <= atol + np.abs(rtol * y) if x.dtype.kind != "b" else False
    close = (x == y) | (near & np.isfinite(y))
    return close | (np.isnan(x) & np.isnan(y)) if equal_nan else close


_isclose = elementwise("isclose", _is_close, arguments=("x", "y"))


@op(method=True)
def isclose(
    x: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Return ``|x - other| <= atol + rtol * |other|``; infinities are close to themselves.

    Raises:
        RuntimeError: the dtypes differ, or a tolerance is negative.
    """
    require_tensor("isclose", x)
    require_tensor("isclose", other)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise RuntimeError(
                f"{name} must be greater than or equal to zero, but got {tolerance:g}"
            )
    if x.dtype is not other.dtype:
        names = [TYPE_NAMES[each.dtype.name] for each in (x, other)]
        raise RuntimeError(f"{names[0]} did not match {names[1]}")
    return promoted(_isclose, (x, other), rtol=rtol, atol=atol, equal_nan=equal_nan)


@op(method=True)
def allclose(
    x: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Return True where `isclose` holds for every element.

    Raises:
        RuntimeError: the dtypes differ, or a tolerance is negative.
    """
    return bool(isclose(x, other, rtol, atol, equal_nan)._array.all())


@op(method=True)
def equal(x: Tensor, other: Tensor) -> bool:
    """Return True for tensors of the same shape and elements."""
    return x.shape == other.shape and bool(eq(x, other)._array.all())


# ---- logic: of any dtype, true unless zero ---------------------------------------------------


def _logical(name: str, compute: Callable[..., Any]) -> Operation:
    primitive = elementwise(name, compute, arguments=("x", "y"))

    def operation(x: Tensor, other: Tensor) -> Tensor:
        require_tensor(name, x)
        require_tensor(name, other)
        return promoted(primitive, (x, other))

    operation.__name__ = operation.__qualname__ = name
    return operation


logical_and = op(_logical("logical_and", np.logical_and), in_place=True)
logical_or = op(_logical("logical_or", np.logical_or), in_place=True)
logical_xor = op(_logical("logical_xor", np.logical_xor), in_place=True)
# Not NumPy's `logical_not`, as CuPy's takes no complex numbers.
_logical_not = elementwise("logical_not", lambda x: np.equal(x, 0), arguments=("x",))


@op(in_place=True)
def logical_not(x: Tensor) -> Tensor:
    """Return True for each element that is zero."""
    require_tensor("logical_not", x)
    return _logical_not(x)


# ---- bits ------------------------------------------------------------------------------------


def _bitwise(name: str, compute: Callable[..., Any], *, dtypes: Dtypes = EVERY) -> Operation:
    primitive = elementwise(name, compute, arguments=("x", "y"), dtypes=dtypes)

    def operation(x: Any, other: Any) -> Tensor:
        return promoted(primitive, (x, other))

    operation.__name__ = operation.__qualname__ = name
    primitive.operation = operation
    return operation


def _shifting(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """Shifts by more bits than there are, or by less than none, leave nothing but the sign."""

    def shifted(x: Any, y: Any) -> Any:
        if x.dtype.kind not in "iu":
            raise not_implemented(name, x.dtype)
        bits = x.dtype.itemsize * 8
        everything = compute(compute(x, bits - 1), 1)
        return np.where((y < 0) | (y >= bits), everything, compute(x, y % bits)).astype(x.dtype)

    return shifted


bitwise_and = op(
    _bitwise("bitwise_and", refusing_floats("bitwise_and_cpu", np.bitwise_and), dtypes=BITS),
    in_place=True,
)
bitwise_or = op(
    _bitwise("bitwise_or", refusing_floats("bitwise_or_cpu", np.bitwise_or), dtypes=BITS),
    in_place=True,
)
bitwise_xor = op(
    _bitwise("bitwise_xor", refusing_floats("bitwise_xor_cpu", np.bitwise_xor), dtypes=BITS),
    in_place=True,
)
bitwise_left_shift = op(
    _bitwise("bitwise_left_shift", _shifting("lshift_cpu", np.left_shift), dtypes=INTEGERS),
    in_place=True,
)
bitwise_right_shift = op(
    _bitwise("bitwise_right_shift", _shifting("rshift_cpu", np.right_shift), dtypes=INTEGERS),
    in_place=True,
)
_bitwise_not = elementwise(
    "bitwise_not", refusing_floats("bitwise_not_cpu", np.invert), arguments=("x",), dtypes=BITS
)


@op(in_place=True)
def bitwise_not(x: Tensor) -> Tensor:
    """Every bit of the integers turned over; of truth values, the opposite."""
    require_tensor("bitwise_not", x)
    return _bitwise_not(x)


@method("__invert__")
def _inverted(x: Tensor) -> Tensor:
    if x._array.dtype.kind not in "biu":
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return _bitwise_not(x)


# ---- the number line: sign, neighbours, divisors, exponent -----------------------------------


_turned = binary(
    "copysign_backward",
    lambda x, out: np.where(x == 0, 0, out / x),
    (0.0, 0.0),
    dtypes=REAL,
)


def _signed_alike(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    """The gradient with its sign changed where that of `x` was; zero at zero."""
    return g * _turned(x, out)


copysign = op(
    binary(
        "copysign",
        refusing_complex("copysign", np.copysign),
        (Product(_signed_alike), Product(lambda g: zeros_like(g), lambda _t: None)),
        of_integers="float",
        dtypes=REAL,
        keeps=("out",),
    ),
    in_place=True,
    node=numbered("Copysign", lambda _x, y: not isinstance(y, Tensor)),
)
nextafter = op(
    binary(
        "nextafter",
        refusing_integers(
            "nextafter_cpu", refusing_complex("nextafter_cpu", ignore_fp_warnings(np.nextafter))
        ),
        (Product(lambda g, x, y: g.masked_fill(x == y, 0)), 0.0),
        dtypes=REAL,
    ),
    in_place=True,
)
_heaviside = binary(
    "heaviside",
    lambda x, y: np.where(x == 0, y, x > 0).astype(x.dtype),
    (no_kernel("heaviside"), no_kernel("heaviside")),
    dtypes=ORDERED,
)
gcd = op(binary("gcd", refusing_floats("gcd", np.gcd), (0.0, 0.0), dtypes=INTEGERS), in_place=True)
lcm = op(binary("lcm", refusing_floats("lcm", np.lcm), (0.0, 0.0), dtypes=INTEGERS), in_place=True)


@op(in_place=True)
def heaviside(x: Tensor, values: Tensor) -> Tensor:
    """Zero below zero, one above it, and at zero what `values` says.

    Raises:
        RuntimeError: the dtypes differ, or are complex.
    """
    if x.is_complex() or values.is_complex():
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if x.dtype is not values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return _heaviside(x, values)


_exponent = constant(
    "frexp", lambda x: np.frexp(x)[1].astype(np.int32), dtypes=REAL, batch=unchanged
)


@return_type("frexp")
class Frexp(NamedTuple):
    """Result of `frexp`."""

    mantissa: Tensor
    exponent: Tensor


@op(method=True, node="FrexpBackward0")
def frexp(x: Tensor) -> Frexp:
    """Numbers of magnitude [0.5, 1) and exponents of two whose product is `x`.

    Raises:
        NotImplementedError: the numbers are not floating.
    """
    if not x.is_floating_point():
        raise not_implemented("frexp", x._array.dtype)
    exponent = _exponent(x)
    # A power of two, so the product is exact and is its own derivative.
    return Frexp(x * (-exponent).to(x.dtype).exp2(), exponent)
