"""Orthogonal polynomials: of Chebyshev, Hermite, Laguerre and Legendre.

The degree is an operand like the other, cut off to a whole number; below zero the polynomial is
zero. None has a derivative, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.device import module_of
from gradtool.engine._ops.core.dtype_support import FLOATS, not_implemented
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import Operation, elementwise, promoted
from gradtool.engine._tensor import Tensor, to_numpy

Compute = Callable[..., Any]

# ---- by recurrence ---------------------------------------------------------------------------


def _by_recurrence(x: Any, degree: Any, first: Any, step: Compute) -> Any:
    """The polynomial of each degree: one, `first`, and ``step(x, k, p_k, p_k-1)`` after those."""
    before, now = np.ones_like(x), first
    found = np.where(degree > 0, now, before)
    highest = int(degree.max()) if degree.size else 0
    for k in range(1, highest):
        before, now = now, step(x, k, now, before)
        found = np.where(degree > k, now, found)
        # What overflowed stays a NaN, in however many steps.
        if k % 64 == 0 and np.isnan(now).all():
            break
    return found


_HOST = (np.ndarray, np.generic)


def _on_host(value: Any) -> Any:
    return value if isinstance(value, _HOST) else to_numpy(value)


def _polynomial(name: str, compute: Compute) -> Operation:
    """An operation on an argument and a degree, which `compute` gets as whole numbers."""
    kernel = f"{name}_cpu"

    @ignore_fp_warnings
    def computed(x: Any, n: Any) -> Any:
        if x.dtype.char not in "fd":
            raise not_implemented(kernel, x.dtype)
        # On the host: it looks at the degrees, step by step.
        values, degree = np.broadcast_arrays(_on_host(x), _on_host(n).astype(np.int64))
        found = np.where(degree < 0, 0, compute(values, degree)).astype(x.dtype)
        elsewhere = [each for each in (x, n) if not isinstance(each, _HOST)]
        return module_of(elsewhere[0]).asarray(found) if elsewhere else found

    primitive = elementwise(f"special_{name}", computed, arguments=("x", "n"), dtypes=FLOATS)

    def operation(x: Any, n: Any) -> Tensor:
        return promoted(primitive, (x, n), keep_integers=False)

    operation.__name__ = operation.__qualname__ = name
    primitive.operation = operation
    return operation


def _simple(
    name: str, first: Compute, step: Compute, *, limits: dict[str, int] | None = None
) -> Operation:
    """A polynomial that its recurrence gives; NaN above PyTorch's limit for the dtype, if any."""

    def compute(x: Any, degree: Any) -> Any:
        if limits is None:
            return _by_recurrence(x, degree, first(x), step)
        limit = limits[x.dtype.name]
        found = _by_recurrence(x, np.minimum(degree, limit), first(x), step)
        return np.where(degree > limit, np.nan, found)

    return _polynomial(name, compute)


_HERMITE = {"float32": 128, "float64": 512}

hermite_polynomial_h = _simple(
    "hermite_polynomial_h",
    lambda x: x + x,
    lambda x, k, now, before: (x + x) * now - 2 * k * before,
    limits=_HERMITE,
)
hermite_polynomial_he = _simple(
    "hermite_polynomial_he",
    lambda x: x,
    lambda x, k, now, before: x * now - k * before,
    limits=_HERMITE,
)
laguerre_polynomial_l = _simple(
    "laguerre_polynomial_l",
    lambda x: 1 - x,
    lambda x, k, now, before: ((2 * k + 1 - x) * now - k * before) / (k + 1),
)
legendre_polynomial_p = _simple(
    "legendre_polynomial_p",
    lambda x: x,
    lambda x, k, now, before: ((2 * k + 1) * x * now - k * before) / (k + 1),
)

# ---- of Chebyshev ----------------------------------------------------------------------------
#
# Within (-1, 1) a high degree is an angle multiplied, which costs and loses less than that many
# steps. At the ends, and where the quotient of angles cancels, the value is a whole number.


def _chebyshev(
    first: Compute, of_angle: Compute, at_one: Compute, at_minus_one: Compute, *, above: int
) -> Compute:
    def compute(x: Any, degree: Any) -> Any:
        at_end = abs(x) == 1
        by_angle = (abs(x) < 1) & (degree > above)
        found = _by_recurrence(
            x,
            np.where(at_end | by_angle, 0, degree),
            first(x),
            lambda x, _k, now, before: (x + x) * now - before,
        )
        if by_angle.any():
            value, is_end = of_angle(degree.astype(x.dtype), np.arccos(np.clip(x, -1, 1)))
            found = np.where(by_angle, value, found)
            at_end |= by_angle & is_end
        if not at_end.any():
            return found
        even = np.where(degree % 2 == 0, 1, -1)
        return np.where(at_end, np.where(x > 0, at_one(degree), even * at_minus_one(degree)), found)

    return compute


def _shifted(compute: Compute) -> Compute:
    """The polynomial of ``2 x - 1``, which is orthogonal on [0, 1]."""
    return lambda x, degree: compute(x + x - 1, degree)


def _one(degree: Any) -> Any:
    return np.ones_like(degree)


_t = _chebyshev(lambda x: x, lambda n, angle: (np.cos(n * angle), False), _one, _one, above=6)
_u = _chebyshev(
    lambda x: x + x,
    lambda n, angle: (np.sin((n + 1) * angle) / np.sin(angle), False),
    lambda degree: degree + 1,
    lambda degree: degree + 1,
    above=8,
)
_v = _chebyshev(
    lambda x: x + x - 1,
    lambda n, angle: (np.cos((n + 0.5) * angle) / np.cos(angle / 2), np.sin(angle / 2) == 1),
    _one,
    lambda degree: 2 * degree + 1,
    above=8,
)
_w = _chebyshev(
    lambda x: x + x + 1,
    lambda n, angle: (np.sin((n + 0.5) * angle) / np.sin(angle / 2), np.cos(angle / 2) == 1),
    lambda degree: 2 * degree + 1,
    _one,
    above=8,
)

chebyshev_polynomial_t = _polynomial("chebyshev_polynomial_t", _t)
chebyshev_polynomial_u = _polynomial("chebyshev_polynomial_u", _u)
chebyshev_polynomial_v = _polynomial("chebyshev_polynomial_v", _v)
chebyshev_polynomial_w = _polynomial("chebyshev_polynomial_w", _w)
shifted_chebyshev_polynomial_t = _polynomial("shifted_chebyshev_polynomial_t", _shifted(_t))
shifted_chebyshev_polynomial_u = _polynomial("shifted_chebyshev_polynomial_u", _shifted(_u))
shifted_chebyshev_polynomial_v = _polynomial("shifted_chebyshev_polynomial_v", _shifted(_v))
shifted_chebyshev_polynomial_w = _polynomial("shifted_chebyshev_polynomial_w", _shifted(_w))
