"""Elementwise functions of one tensor: a table of functions and their derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dtype_support import not_implemented, refusing_bool, refusing_complex
from gradtool.engine._ops.core.kinds import Operation, Product, conjugate, general, unary
from gradtool.engine._ops.core.quiet import quiet
from gradtool.engine._tensor import Tensor

# ---- exponentials, logarithms and roots -----------------------------------------------------

exp = unary("exp", quiet(np.exp), "out")
exp2 = unary("exp2", quiet(np.exp2), lambda out: out * math.log(2))
expm1 = unary("expm1", quiet(np.expm1), lambda out: out + 1)
log = unary("log", quiet(np.log), Product(lambda g, x: g / x))
log1p = unary("log1p", quiet(np.log1p), Product(lambda g, x: g / (x + 1)))
log2 = unary("log2", quiet(np.log2), Product(lambda g, x: g / (x * math.log(2))))
log10 = unary("log10", quiet(np.log10), Product(lambda g, x: g / (x * math.log(10))))
sqrt = unary("sqrt", quiet(np.sqrt), Product(lambda g, out: g / (out * 2)))
rsqrt = unary("rsqrt", quiet(lambda x: 1 / np.sqrt(x)), lambda out: out * out * out * -0.5)
reciprocal = unary("reciprocal", quiet(lambda x: 1 / x), lambda out: -(out * out))

# ---- trigonometric and hyperbolic -----------------------------------------------------------

sin = unary("sin", quiet(np.sin), lambda x: cos(x))
cos: Operation = unary("cos", quiet(np.cos), lambda x: -sin(x))
tan = unary("tan", quiet(np.tan), lambda out: out * out + 1)
asin = unary("asin", quiet(np.arcsin), lambda x: rsqrt(1 - x * x))
acos = unary("acos", quiet(np.arccos), lambda x: -rsqrt(1 - x * x))
atan = unary("atan", quiet(np.arctan), Product(lambda g, x: g / (x * x + 1)))
sinh = unary("sinh", quiet(np.sinh), lambda x: cosh(x))
cosh: Operation = unary("cosh", quiet(np.cosh), lambda x: sinh(x))
tanh = unary("tanh", quiet(np.tanh), lambda out: 1 - out * out)
asinh = unary("asinh", quiet(np.arcsinh), lambda x: rsqrt(x * x + 1))
acosh = unary("acosh", quiet(np.arccosh), lambda x: rsqrt(x - 1) * rsqrt(x + 1))
atanh = unary("atanh", quiet(np.arctanh), Product(lambda g, x: g / (1 - x * x)))

# ---- of machine learning --------------------------------------------------------------------

sigmoid = unary("sigmoid", quiet(lambda x: 1 / (1 + np.exp(-x))), lambda out: out * (1 - out))


def _rectified(x: Any) -> Any:
    if x.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    if x.dtype.kind == "c":
        raise not_implemented("relu", x.dtype)
    return np.maximum(x, 0)


relu = unary(
    "relu",
    _rectified,
    Product(lambda g, out: g.masked_fill(out <= 0, 0)),
    of_integers="keep",
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


@quiet
def _phases(x: Any) -> Any:
    size = np.abs(x)
    return x / np.where(size == 0, 1, size)


def _phase_vjp(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    """Only the part of g across the direction of x turns that direction; none at zero."""
    size = abs(x)
    across = g - (g * conjugate(out)).real * out
    turned: Tensor = (across / size.masked_fill(size == 0, 1)).masked_fill(size == 0, 0)
    return turned


_phase = general("sgn", _phases, _phase_vjp)


def sgn(x: Tensor) -> Tensor:
    """The sign; of complex numbers ``x / |x|``, and zero at zero."""
    return _phase(x) if x.is_complex() else sign(x)


neg = unary("neg", _negated, -1.0, of_integers="keep")
_magnitude = unary(
    "abs",
    refusing_bool("abs", np.abs),
    Product(lambda g, x: g * sgn(x)),
    of_integers="keep",
)
_modulus = general("abs", np.abs, lambda g, x: g * sgn(x))


def abs(x: Tensor) -> Tensor:
    """The magnitude; a real number for a complex one.

    Raises:
        NotImplementedError: the elements are booleans.
    """
    if isinstance(x, Tensor) and x._array.dtype.kind == "c":
        return _modulus(x)
    return _magnitude(x)


sign = unary("sign", _signs, 0.0, of_integers="keep")


def _squared(x: Any) -> Any:
    return x.astype(np.int64) if x.dtype.kind == "b" else np.square(x)


square = unary("square", quiet(_squared), lambda x: x + x, of_integers="keep")


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


floor = unary("floor", _rounding("floor", np.floor), 0.0, of_integers="keep")
ceil = unary("ceil", _rounding("ceil", np.ceil), 0.0, of_integers="keep")
trunc = unary("trunc", _rounding("trunc", np.trunc), 0.0, of_integers="keep")
_round = unary("round", _rounding("round", np.rint), 0.0, of_integers="keep")


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


def frac(x: Tensor) -> Tensor:
    """What is left of each number without its whole part, with its sign.

    Raises:
        NotImplementedError: the numbers are not floating.
    """
    if not x.is_floating_point():
        raise not_implemented("frac", x._array.dtype)
    return x - trunc(x)


absolute, negative, fix = abs, neg, trunc
arcsin, arccos, arctan = asin, acos, atan
arcsinh, arccosh, arctanh = asinh, acosh, atanh

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "expm1",
    "fix",
    "floor",
    "frac",
    "log",
    "log1p",
    "log2",
    "log10",
    "neg",
    "negative",
    "positive",
    "reciprocal",
    "relu",
    "round",
    "rsqrt",
    "sgn",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]  # fmt: skip
