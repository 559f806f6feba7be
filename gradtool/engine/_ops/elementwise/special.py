"""Special functions: error and Bessel functions, and the libraries that compute them."""

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
    ORDERED,
    refusing_complex,
    refusing_half,
)
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import (
    Operation,
    of_floats,
    unary,
    without_derivative,
)
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.elementwise.elementwise import exp, sgn
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._tensor import Tensor, to_numpy

# ---- SciPy's functions, or others ------------------------------------------------------------
#
# The array library has none of them. SciPy's are used where it is installed, CuPy's for its
# arrays, and otherwise formulas in NumPy. Few numbers are left to Python's own functions: to load
# SciPy takes longer than to check a Function.


Compute = Callable[..., Any]

_FEW = 512
"""Numbers for which Python's own functions take some ten microseconds."""

_FORMULAS = "gradtool.engine._ops.elementwise.formulas"


@functools.cache
def _library_of(array_module: str) -> Any:
    """The special functions for arrays of a module, under SciPy's names."""
    if array_module != "numpy":
        return importlib.import_module("cupyx.scipy.special")
    try:
        return importlib.import_module("scipy.special")
    except ImportError:
        return importlib.import_module(_FORMULAS)


def _module_name(*operands: Any) -> str:
    """The module of the arrays among the operands; numbers alone are NumPy's."""
    for each in operands:
        if not isinstance(each, np.generic | float | int):
            return str(module_of(each).__name__)
    return "numpy"


def special(
    name: str, *, scipy: str = "", output: int | None = None, is_in_python: bool = False
) -> Compute:
    """A special function of arrays.

    Args:
        name: torch's name for it.
        scipy: SciPy's name for it, where that is another.
        output: which of several results of SciPy's it is.
        is_in_python: the formulas have it from Python's standard library.
    """
    theirs = scipy or name

    @ignore_fp_warnings
    def compute(x: Any, *others: Any) -> Any:
        if is_in_python and isinstance(x, np.ndarray) and x.size <= _FEW:
            library = importlib.import_module(_FORMULAS)
        else:
            library = _library_of(_module_name(x, *others))
        if not hasattr(library, theirs):  # CuPy has not all of them
            return module_of(x).asarray(compute(to_numpy(x), *map(to_numpy, others)))
        found = getattr(library, theirs)(x, *others)
        return (found if output is None else found[output]).astype(x.dtype)

    return refusing_complex(name, compute)


# ---- modified Bessel functions ---------------------------------------------------------------


def _over_argument(out: Tensor, x: Tensor) -> Tensor:
    """``i1(x) / x``, which is a half near zero, or the same of its scaled form."""
    near_zero = abs(x) <= float(np.finfo(x.dtype.numpy).eps)
    return where(near_zero, 0.5, out / x.masked_fill(near_zero, 1))


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

erf_of = special("erf", is_in_python=True)
"""`erf` of an array."""
erf = op(
    unary("erf", erf_of, lambda x: exp(-x * x) * _SLOPE, dtypes=ORDERED),
    in_place=True,
)
erfc = op(
    unary(
        "erfc",
        special("erfc", is_in_python=True),
        lambda x: exp(-x * x) * -_SLOPE,
        dtypes=ORDERED,
    ),
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
_scaled_erfc = special("special.log_ndtr", scipy="erfcx")
_log_ndtr_slope = unary(
    "special_log_ndtr_backward",
    ignore_fp_warnings(lambda x: math.sqrt(2 / math.pi) / _scaled_erfc(x / -_ROOT)),
    lambda x, out: -out * (x + out),
    dtypes=FLOATS,
)
log_ndtr = unary(
    "special_log_ndtr",
    refusing_half("log_ndtr_cpu", special("special.log_ndtr", scipy="log_ndtr")),
    lambda x: _log_ndtr_slope(x),
    dtypes=BITS | FLOATS,
)


def ndtr(x: Tensor) -> Tensor:
    """The part of a standard normal distribution below `x`."""
    return erfc(x / -_ROOT) / 2


def _slope_of_erfinv(x: Tensor) -> Tensor:
    """Of the input: PyTorch lets the output be changed before backward."""
    out: Tensor = erfinv(x)
    return exp(out * out) / _SLOPE


# ---- Bessel functions, and Airy's, without a derivative ----------------------------------------


def _bessel(name: str, compute: Callable[..., Any]) -> Operation:
    floating = of_floats(refusing_half(f"{name}_cpu", compute))
    return without_derivative(f"special_{name}", floating, dtypes=BITS | FLOATS)


def _of_scipy(name: str, scipy: str) -> Operation:
    return _bessel(name, special(f"special.{name}", scipy=scipy))


@ignore_fp_warnings
def _spherical(x: Any) -> Any:
    return np.where(np.isinf(x), 0, np.sinc(x / np.pi)).astype(x.dtype)


bessel_j0, bessel_j1 = _of_scipy("bessel_j0", "j0"), _of_scipy("bessel_j1", "j1")
bessel_y0, bessel_y1 = _of_scipy("bessel_y0", "y0"), _of_scipy("bessel_y1", "y1")
modified_bessel_i0 = _of_scipy("modified_bessel_i0", "i0")
modified_bessel_i1 = _of_scipy("modified_bessel_i1", "i1")
modified_bessel_k0 = _of_scipy("modified_bessel_k0", "k0")
modified_bessel_k1 = _of_scipy("modified_bessel_k1", "k1")
scaled_modified_bessel_k0 = _of_scipy("scaled_modified_bessel_k0", "k0e")
scaled_modified_bessel_k1 = _of_scipy("scaled_modified_bessel_k1", "k1e")
spherical_bessel_j0 = _bessel(
    "spherical_bessel_j0", refusing_complex("spherical_bessel_j0_cpu", _spherical)
)
airy_ai = _bessel("airy_ai", special("special.airy_ai", scipy="airy", output=0))
