"""Elementwise functions of one tensor: a table of functions and their derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.batching import unchanged
from gradtool.engine._ops.core.dtype_support import (
    COMPLEX,
    MEASURED,
    NUMBERS,
    ORDERED,
    not_implemented,
    refusing_bool,
    refusing_complex,
)
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import (
    Operation,
    Product,
    Rate,
    by_operators,
    conjugate,
    general,
    product_by_operators,
    unary,
)
from gradtool.engine._ops.core.missing import no_formula
from gradtool.engine._ops.core.node_names import with_node_name
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.elementwise import gates
from gradtool.engine._tensor import Tensor

# ---- exponentials, logarithms and roots -----------------------------------------------------

exp = op(unary("exp", ignore_fp_warnings(np.exp), "out"), in_place=True)
exp2 = op(
    unary("exp2", ignore_fp_warnings(np.exp2), by_operators(lambda out: out * math.log(2))),
    in_place=True,
)
expm1 = op(
    unary("expm1", ignore_fp_warnings(np.expm1), by_operators(lambda out: out + 1)), in_place=True
)
log = op(
    unary("log", ignore_fp_warnings(np.log), product_by_operators(lambda g, x: g / x)),
    in_place=True,
)
log1p = op(
    unary("log1p", ignore_fp_warnings(np.log1p), product_by_operators(lambda g, x: g / (x + 1))),
    in_place=True,
)
log2 = op(
    unary(
        "log2",
        ignore_fp_warnings(np.log2),
        product_by_operators(lambda g, x: g / (x * math.log(2))),
    ),
    in_place=True,
)
log10 = op(
    unary(
        "log10",
        ignore_fp_warnings(np.log10),
        product_by_operators(lambda g, x: g / (x * math.log(10))),
    ),
    in_place=True,
)
sqrt = op(
    unary("sqrt", ignore_fp_warnings(np.sqrt), product_by_operators(lambda g, out: g / (out * 2))),
    in_place=True,
)
rsqrt = op(
    unary(
        "rsqrt",
        ignore_fp_warnings(lambda x: 1 / np.sqrt(x)),
        by_operators(lambda out: out * out * out * -0.5),
    ),
    in_place=True,
)
reciprocal = op(
    unary(
        "reciprocal", ignore_fp_warnings(lambda x: 1 / x), by_operators(lambda out: -(out * out))
    ),
    in_place=True,
)

# ---- trigonometric and hyperbolic -----------------------------------------------------------

sin = op(unary("sin", ignore_fp_warnings(np.sin), Rate(lambda x: cos(x), np.cos)), in_place=True)
cos: Operation = op(
    unary("cos", ignore_fp_warnings(np.cos), Rate(lambda x: -sin(x), lambda x: -np.sin(x))),
    in_place=True,
)
tan = op(
    unary("tan", ignore_fp_warnings(np.tan), by_operators(lambda out: out * out + 1)), in_place=True
)
asin = op(
    unary(
        "asin",
        ignore_fp_warnings(np.arcsin),
        Rate(lambda x: rsqrt(1 - x * x), lambda x: 1 / np.sqrt(1 - x * x)),
    ),
    aliases=("arcsin",),
    in_place=True,
)
acos = op(
    unary(
        "acos",
        ignore_fp_warnings(np.arccos),
        Rate(lambda x: -rsqrt(1 - x * x), lambda x: -(1 / np.sqrt(1 - x * x))),
    ),
    aliases=("arccos",),
    in_place=True,
)
atan = op(
    unary(
        "atan", ignore_fp_warnings(np.arctan), product_by_operators(lambda g, x: g / (x * x + 1))
    ),
    aliases=("arctan",),
    in_place=True,
)
sinh = op(
    unary("sinh", ignore_fp_warnings(np.sinh), Rate(lambda x: cosh(x), np.cosh)), in_place=True
)
cosh: Operation = op(
    unary("cosh", ignore_fp_warnings(np.cosh), Rate(lambda x: sinh(x), np.sinh)), in_place=True
)
tanh = op(
    unary("tanh", ignore_fp_warnings(np.tanh), by_operators(lambda out: 1 - out * out)),
    in_place=True,
)


def _without_derivative(name: str, compute: Callable[..., Any]) -> Operation:
    """An in-place form that PyTorch does not differentiate, as its result does not suffice."""
    missing = no_formula(f"{name}_", f"inplace version of {name}")
    operation = unary(f"{name}_", ignore_fp_warnings(compute), missing)
    return with_node_name(operation, f"{name.capitalize()}Backward1")


asinh = op(
    unary(
        "asinh",
        ignore_fp_warnings(np.arcsinh),
        Rate(lambda x: rsqrt(x * x + 1), lambda x: 1 / np.sqrt(x * x + 1)),
    ),
    aliases=("arcsinh",),
    in_place=_without_derivative("asinh", np.arcsinh),
)
acosh = op(
    unary("acosh", ignore_fp_warnings(np.arccosh), lambda x: _slope_of_acosh(x)),
    aliases=("arccosh",),
    in_place=_without_derivative("acosh", np.arccosh),
)


def _slope_of_acosh(x: Tensor) -> Tensor:
    """One root is enough for real numbers; on the complex plane its branch would be wrong."""
    below, above = x - 1, x + 1
    return rsqrt(below) * rsqrt(above) if x.is_complex() else rsqrt(below * above)


atanh = op(
    unary(
        "atanh", ignore_fp_warnings(np.arctanh), product_by_operators(lambda g, x: g / (1 - x * x))
    ),
    aliases=("arctanh",),
    in_place=_without_derivative("atanh", np.arctanh),
)

# ---- of machine learning --------------------------------------------------------------------

sigmoid = op(
    unary(
        "sigmoid",
        ignore_fp_warnings(lambda x: 1 / (1 + np.exp(-x))),
        by_operators(lambda out: out * (1 - out)),
    ),
    in_place=True,
)


def _rectified(x: Any) -> Any:
    if x.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    if x.dtype.kind == "c":
        raise not_implemented("relu", x.dtype)
    return np.maximum(x, 0)


relu = op(
    unary(
        "relu",
        _rectified,
        Product(lambda g, out: gates.above(g, out, level=0)),
        of_integers="keep",
        dtypes=MEASURED,
    ),
    in_place=True,
)

# ---- sign and magnitude ---------------------------------------------------------------------


def _negated(x: Any) -> Any:
    if x.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return np.negative(x)


def _signs(x: Any) -> Any:
    if x.dtype.kind == "c":
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. "
            "Please use torch.sgn instead."
        )
    if x.dtype.kind == "b":
        return x.copy()
    return np.subtract(x > 0, x < 0, dtype=x.dtype)


@ignore_fp_warnings
def _phases(x: Any) -> Any:
    size = np.abs(x)
    return x / np.where(size == 0, 1, size)


def _phase_vjp(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    """Only the part of g across the direction of x turns that direction; none at zero."""
    size = abs(x)
    across = g - out * out * conjugate(g)  # twice that part
    turned: Tensor = (across / (2 * size.masked_fill(size == 0, 1))).masked_fill(size == 0, 0)
    return turned


_phase = general("sgn", _phases, _phase_vjp, dtypes=COMPLEX, batch=unchanged)


@op(in_place=True, node="SgnBackward0")
def sgn(x: Tensor) -> Tensor:
    """The sign; of complex numbers ``x / |x|``, and zero at zero."""
    return _phase(x) if x.is_complex() else _sgn(x)


neg = op(
    unary("neg", _negated, -1.0, of_integers="keep", dtypes=NUMBERS),
    aliases=("negative",),
    in_place=True,
)
_magnitude = unary(
    "abs",
    refusing_bool("abs", np.abs),
    Product(
        lambda g, x: g * sgn(x), of_arrays=lambda g, x: g * np.subtract(x > 0, x < 0, dtype=x.dtype)
    ),
    of_integers="keep",
    dtypes=NUMBERS,
)
_modulus = general("abs", np.abs, lambda g, x: g * sgn(x), dtypes=NUMBERS, batch=unchanged)


@op(aliases=("absolute",), in_place=True)
def abs(x: Tensor) -> Tensor:
    """The magnitude; a real number for a complex one.

    Raises:
        NotImplementedError: the elements are booleans.
    """
    if isinstance(x, Tensor) and x._array.dtype.kind == "c":
        return _modulus(x)
    return _magnitude(x)


sign = op(unary("sign", _signs, 0.0, of_integers="keep", dtypes=ORDERED), in_place=True)
_sgn = unary("sgn", _signs, 0.0, of_integers="keep", dtypes=ORDERED, keeps=("x", "out"))


def _squared(x: Any) -> Any:
    return x.astype(np.int64) if x.dtype.kind == "b" else np.square(x)


def _rate_of_square(x: Tensor) -> Tensor:
    # Recorded, it depends on `x` in every order, as torch's does.
    return x.pow(1) * 2 if modes.grad and x._requires_grad else x + x


square = op(
    unary(
        "square",
        ignore_fp_warnings(_squared),
        Rate(_rate_of_square, lambda x: x + x),
        of_integers="keep",
    ),
    in_place=True,
)


@op(method=True)
def positive(x: Tensor) -> Tensor:
    """The tensor itself.

    Raises:
        RuntimeError: it is boolean.
    """
    if x.dtype is _dtypes.bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return x


# ---- rounding -------------------------------------------------------------------------------


def _rounding(name: str, compute: Any) -> Any:
    """Integers are whole already; whether NumPy and CuPy keep their dtype varies."""
    refusing = refusing_complex(name, refusing_bool(name, compute))
    return lambda x: x.copy() if x.dtype.kind in "iu" else refusing(x)


floor = op(
    unary("floor", _rounding("floor", np.floor), 0.0, of_integers="keep", dtypes=MEASURED),
    in_place=True,
)
ceil = op(
    unary("ceil", _rounding("ceil", np.ceil), 0.0, of_integers="keep", dtypes=MEASURED),
    in_place=True,
)
trunc = op(
    unary("trunc", _rounding("trunc", np.trunc), 0.0, of_integers="keep", dtypes=MEASURED),
    aliases=("fix",),
    in_place=True,
)
_round = unary("round", _rounding("round", np.rint), 0.0, of_integers="keep", dtypes=MEASURED)


def _round_node(_x: Any, *, decimals: int | None = 0) -> str:
    return f"RoundBackward{int(decimals != 0)}"


@op(in_place=True, node=_round_node)
def round(x: Tensor, *, decimals: int | None = None) -> Tensor:
    """The nearest whole numbers, halves to the even one; or so many decimals kept.

    Raises:
        NotImplementedError: decimals of integers are asked for.
    """
    if decimals is None:
        return _round(x)
    if not x.is_floating_point():
        raise not_implemented("round", x._array.dtype)
    if decimals == 0:
        return _round(x)
    scale: float = 10.0 ** math.fabs(decimals)
    if decimals > 0:
        return _round(x * scale) / scale
    return _round(x / scale) * scale


@op(in_place=True, node="FracBackward0")
def frac(x: Tensor) -> Tensor:
    """The fractional part of each number, with its sign.

    Raises:
        NotImplementedError: the numbers are not floating.
    """
    if not x.is_floating_point():
        raise not_implemented("frac", x._array.dtype)
    return x - trunc(x)
