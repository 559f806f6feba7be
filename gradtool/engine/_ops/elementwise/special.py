"""The error function and its kin: the normal distribution's integral, its inverse, logarithm."""

from __future__ import annotations

import math

from gradtool.engine._ops.core.kinds import unary
from gradtool.engine._ops.core.unsupported import refusing_half
from gradtool.engine._ops.elementwise.elementwise import exp
from gradtool.engine._ops.elementwise.special_library import special
from gradtool.engine._tensor import Tensor

_SLOPE = 2 / math.sqrt(math.pi)
_ROOT = math.sqrt(2)

erf = unary("erf", special("erf", math.erf), lambda x: exp(-x * x) * _SLOPE)
erfc = unary("erfc", special("erfc", math.erfc), lambda x: exp(-x * x) * -_SLOPE)
erfcx = unary(
    "special_erfcx",
    refusing_half("erfcx_cpu", special("special.erfcx", scipy="erfcx")),
    lambda x, out: 2 * x * out - _SLOPE,
)
erfinv = unary("erfinv", special("erfinv"), lambda x: _slope_of_erfinv(x))
ndtri = unary(
    "special_ndtri",
    refusing_half("ndtri_cpu", special("special.ndtri", scipy="ndtri")),
    lambda out: exp(out * out / 2) * math.sqrt(2 * math.pi),
)
log_ndtr = unary(
    "special_log_ndtr",
    refusing_half("log_ndtr_cpu", special("special.log_ndtr", scipy="log_ndtr")),
    lambda x: math.sqrt(2 / math.pi) / erfcx(x / -_ROOT),
)


def ndtr(x: Tensor) -> Tensor:
    """The part of a standard normal distribution below `x`."""
    return erfc(x / -_ROOT) / 2


def _slope_of_erfinv(x: Tensor) -> Tensor:
    """Of the input: PyTorch lets the output be changed before backward."""
    out: Tensor = erfinv(x)
    return exp(out * out) / _SLOPE


__all__ = ["erf", "erfc", "erfinv"]
