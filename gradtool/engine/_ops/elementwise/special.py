"""Special functions: gamma, error and Bessel functions, and the libraries that compute them."""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.device import module_of
from gradtool.engine._ops.core.dtype_support import (
    BITS,
    FLOATS,
    MEASURED,
    ORDERED,
    REAL,
    refusing_complex,
    refusing_half,
    takes,
)
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import (
    Operation,
    Product,
    elementwise,
    of_floats,
    unary,
    without_derivative,
)
from gradtool.engine._ops.core.op import method, op
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.elementwise.elementwise import exp, sgn
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._tensor import Tensor

# ---- SciPy's functions, or others ------------------------------------------------------------
#
# The array library has none of them. SciPy's are used where it is installed, CuPy's for its
# arrays, and otherwise the standard library's, element by element, for the few that it has.


Compute = Callable[..., Any]


@functools.cache
def _library_of(array_module: str) -> Any:
    """The special functions for arrays of a module; None if there are none for NumPy's."""
    if array_module != "numpy":
        return importlib.import_module("cupyx.scipy.special")
    try:
        return importlib.import_module("scipy.special")
    except ImportError:
        return None


def special(name: str, one: Callable[[float], float] | None = None, *, scipy: str = "") -> Compute:
    """A special function of arrays.

    Args:
        name: torch's name for it.
        one: the function of one number, to be used without SciPy.
        scipy: SciPy's name for it, where that is another.
    """
    each = None if one is None else np.frompyfunc(one, 1, 1)
    theirs = scipy or name

    @ignore_fp_warnings
    def compute(x: Any, *others: Any) -> Any:
        library = _library_of(module_of(x).__name__)
        if library is not None:
            return getattr(library, theirs)(x, *others).astype(x.dtype)
        if each is None:
            raise missing_scipy(name)
        return np.asarray(each(x), dtype=x.dtype)

    return refusing_complex(name, compute)


def missing_scipy(name: str) -> ModuleNotFoundError:
    """The error for a function that SciPy alone computes, when it is not installed."""
    return ModuleNotFoundError(
        f"torch.{name} is computed by SciPy, which is not installed: pip install 'gradtool[scipy]'",
        name="scipy",
    )


# ---- gamma functions -------------------------------------------------------------------------


def _log_gamma(x: float) -> float:
    """The standard library's, infinite at the poles and where it overflows."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


lgamma = op(
    unary(
        "lgamma",
        special("lgamma", _log_gamma, scipy="gammaln"),
        lambda x: digamma(x),
        dtypes=ORDERED,
    ),
    in_place=True,
)


def _trigamma(x: Tensor) -> Tensor:
    return polygamma(1, x)


def _polygamma_vjp(g: Tensor, x: Tensor, n: int) -> Tensor:
    return g * polygamma(n + 1, x)


digamma: Operation = op(
    unary("digamma", special("digamma"), _trigamma, dtypes=ORDERED), in_place=True
)

_orders = special("polygamma", scipy="polygamma")
_polygamma = elementwise(
    "polygamma",
    lambda x, *, n: _polygamma_of(x, n),
    Product(_polygamma_vjp),
    arguments=("x",),
    dtypes=REAL,
)


def _polygamma_of(x: Any, n: int) -> Any:
    """SciPy takes the order first."""
    return _orders(np.full_like(x, n), x)


@op
def polygamma(n: int, x: Tensor) -> Tensor:
    """The derivative of order `n` of `digamma`.

    Raises:
        RuntimeError: `n` is negative.
    """
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return digamma(x)
    return _polygamma(x if x.dtype.is_differentiable else x * 1.0, n=int(n))


@method("polygamma")
def _polygamma_at(x: Tensor, n: int) -> Tensor:
    """The method, whose order comes second."""
    return polygamma(n, x)


@op(in_place=True, node="MvlgammaBackward0")
@takes(MEASURED, "mvlgamma")
def mvlgamma(x: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension `p`.

    Raises:
        RuntimeError: `p` is less than one.
    """
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    shifts = arange(p, dtype=x.dtype if x.is_floating_point() else None, device=x.device) / -2
    constant = p * (p - 1) / 4 * math.log(math.pi)
    return lgamma(x.unsqueeze(-1) + shifts).sum(-1) + constant


# ---- modified Bessel functions ---------------------------------------------------------------


def _over_argument(out: Tensor, x: Tensor) -> Tensor:
    """``i1(x) / x``, which is a half at zero, or the same of its scaled form."""
    at_zero = x == 0
    return where(at_zero, 0.5, out / x.masked_fill(at_zero, 1))


i0 = op(unary("i0", special("i0"), lambda x: i1(x), dtypes=ORDERED), in_place=True)
i1: Operation = unary(
    "special_i1",
    special("special.i1", scipy="i1"),
    lambda x, out: i0(x) - _over_argument(out, x),
    dtypes=ORDERED,
)
i0e = unary(
    "special_i0e",
    special("special.i0e", scipy="i0e"),
    lambda x, out: i1e(x) - sgn(x) * out,
    dtypes=ORDERED,
)
i1e: Operation = unary(
    "special_i1e",
    special("special.i1e", scipy="i1e"),
    lambda x, out: i0e(x) - sgn(x) * out - _over_argument(out, x),
    dtypes=ORDERED,
)


# ---- error functions and the normal distribution ---------------------------------------------


_SLOPE = 2 / math.sqrt(math.pi)
_ROOT = math.sqrt(2)

erf = op(
    unary("erf", special("erf", math.erf), lambda x: exp(-x * x) * _SLOPE, dtypes=ORDERED),
    in_place=True,
)
erfc = op(
    unary("erfc", special("erfc", math.erfc), lambda x: exp(-x * x) * -_SLOPE, dtypes=ORDERED),
    in_place=True,
)
erfcx = unary(
    "special_erfcx",
    refusing_half("erfcx_cpu", special("special.erfcx", scipy="erfcx")),
    lambda x, out: 2 * x * out - _SLOPE,
    dtypes=BITS | FLOATS,
)
erfinv = op(
    unary("erfinv", special("erfinv"), lambda x: _slope_of_erfinv(x), dtypes=ORDERED), in_place=True
)
ndtri = unary(
    "special_ndtri",
    refusing_half("ndtri_cpu", special("special.ndtri", scipy="ndtri")),
    lambda out: exp(out * out / 2) * math.sqrt(2 * math.pi),
    dtypes=BITS | FLOATS,
)
log_ndtr = unary(
    "special_log_ndtr",
    refusing_half("log_ndtr_cpu", special("special.log_ndtr", scipy="log_ndtr")),
    lambda x: math.sqrt(2 / math.pi) / erfcx(x / -_ROOT),
    dtypes=BITS | FLOATS,
)


def ndtr(x: Tensor) -> Tensor:
    """The part of a standard normal distribution below `x`."""
    return erfc(x / -_ROOT) / 2


def _slope_of_erfinv(x: Tensor) -> Tensor:
    """Of the input: PyTorch lets the output be changed before backward."""
    out: Tensor = erfinv(x)
    return exp(out * out) / _SLOPE


# ---- Bessel functions without a derivative ---------------------------------------------------


def _bessel(name: str, compute: Callable[..., Any]) -> Operation:
    floating = of_floats(refusing_half(f"{name}_cpu", compute))
    return without_derivative(f"special_{name}", floating, dtypes=BITS | FLOATS)


def _of_scipy(name: str, scipy: str) -> Operation:
    return _bessel(name, special(f"special.{name}", scipy=scipy))


bessel_j0, bessel_j1 = _of_scipy("bessel_j0", "j0"), _of_scipy("bessel_j1", "j1")
bessel_y0, bessel_y1 = _of_scipy("bessel_y0", "y0"), _of_scipy("bessel_y1", "y1")
modified_bessel_k0 = _of_scipy("modified_bessel_k0", "k0")
modified_bessel_k1 = _of_scipy("modified_bessel_k1", "k1")
scaled_modified_bessel_k0 = _of_scipy("scaled_modified_bessel_k0", "k0e")
scaled_modified_bessel_k1 = _of_scipy("scaled_modified_bessel_k1", "k1e")
spherical_bessel_j0 = _bessel(
    "spherical_bessel_j0",
    refusing_complex("spherical_bessel_j0_cpu", ignore_fp_warnings(lambda x: np.sinc(x / np.pi))),
)
