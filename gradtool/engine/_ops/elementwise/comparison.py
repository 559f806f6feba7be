"""Comparisons and tests of single elements; what comes out is boolean and has no gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine._ops.core.applying import computed, promoted
from gradtool.engine._ops.core.kinds import REAL_NUMBERS, Operation, elementwise, without_derivative
from gradtool.engine._ops.core.promotion import require_tensor
from gradtool.engine._ops.core.quiet import quiet
from gradtool.engine._ops.core.unsupported import TYPE_NAMES, refusing_complex
from gradtool.engine._tensor import Tensor

# ---- of two tensors or numbers --------------------------------------------------------------


def _comparison(name: str, compute: Callable[..., Any]) -> Operation:
    primitive = elementwise(name, compute, arguments=("x", "y"))

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


eq = _comparison("eq", np.equal)
ne = _comparison("ne", np.not_equal)
lt = _comparison("lt", refusing_complex("lt", np.less))
le = _comparison("le", refusing_complex("le", np.less_equal))
gt = _comparison("gt", refusing_complex("gt", np.greater))
ge = _comparison("ge", refusing_complex("ge", np.greater_equal))

not_equal, less, less_equal, greater, greater_equal = ne, lt, le, gt, ge

# ---- of one tensor --------------------------------------------------------------------------


isfinite = without_derivative("isfinite", np.isfinite)
isinf = without_derivative("isinf", np.isinf)
isnan = without_derivative("isnan", np.isnan)
isposinf = without_derivative(
    "isposinf", refusing_complex("isposinf", lambda x: np.isinf(x) & (x > 0))
)
isneginf = without_derivative(
    "isneginf", refusing_complex("isneginf", lambda x: np.isinf(x) & (x < 0))
)
isreal = without_derivative(
    "isreal", lambda x: x.imag == 0 if x.dtype.kind == "c" else np.ones_like(x, bool)
)
signbit = without_derivative(
    "signbit",
    refusing_complex("signbit", lambda x: x < 0 if x.dtype.kind in "iub" else np.signbit(x)),
)

# ---- nearness -------------------------------------------------------------------------------


@quiet
def _is_close(x: Any, y: Any, *, rtol: float, atol: float, equal_nan: bool) -> Any:
    near = np.abs(x - y) <= atol + np.abs(rtol * y) if x.dtype.kind != "b" else False
    close = (x == y) | (near & np.isfinite(y))
    return close | (np.isnan(x) & np.isnan(y)) if equal_nan else close


_isclose = elementwise("isclose", _is_close, arguments=("x", "y"))


def isclose(
    x: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Where ``|x - other| <= atol + rtol * |other|``; infinities are close to themselves.

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


def allclose(
    x: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether `isclose` holds everywhere.

    Raises:
        RuntimeError: the dtypes differ, or a tolerance is negative.
    """
    return bool(isclose(x, other, rtol, atol, equal_nan)._array.all())


def equal(x: Tensor, other: Tensor) -> bool:
    """Whether both have the same shape and elements."""
    return x.shape == other.shape and bool(eq(x, other)._array.all())


__all__ = [
    "allclose", "eq", "equal", "ge", "greater", "greater_equal", "gt", "isclose", "isfinite",
    "isinf", "isnan", "isneginf", "isposinf", "isreal", "le", "less", "less_equal", "lt", "ne",
    "not_equal", "signbit",
]  # fmt: skip
