"""Where numbers lie: their sign, their neighbours, their divisors, their exponent."""

from __future__ import annotations

import numpy as np

from gradtool.engine._ops.core import return_types
from gradtool.engine._ops.core.kinds import Product, binary, constant
from gradtool.engine._ops.core.quiet import quiet
from gradtool.engine._ops.core.unsupported import (
    not_implemented,
    refusing_complex,
    refusing_floats,
    refusing_integers,
)
from gradtool.engine._ops.elementwise.comparison import signbit
from gradtool.engine._tensor import Tensor


def _not_derived(name: str) -> Product:
    def refuse(g: Tensor) -> Tensor:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return Product(refuse)


def _signed_alike(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    """The gradient with its sign changed where that of `x` was; zero at zero."""
    from gradtool.engine._ops.elementwise.selection import where

    return where(signbit(x) == signbit(out), g, -g).masked_fill(x == 0, 0)


copysign = binary(
    "copysign",
    refusing_complex("copysign", np.copysign),
    (Product(_signed_alike), 0.0),
    of_integers="float",
)
nextafter = binary(
    "nextafter",
    refusing_integers("nextafter_cpu", refusing_complex("nextafter_cpu", quiet(np.nextafter))),
    (_not_derived("nextafter"), _not_derived("nextafter")),
)
_heaviside = binary(
    "heaviside",
    lambda x, y: np.where(x == 0, y, x > 0).astype(x.dtype),
    (_not_derived("heaviside"), _not_derived("heaviside")),
)
gcd = binary("gcd", refusing_floats("gcd", np.gcd), (0.0, 0.0))
lcm = binary("lcm", refusing_floats("lcm", np.lcm), (0.0, 0.0))


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


_exponent = constant("frexp", lambda x: np.frexp(x)[1].astype(np.int32))


def frexp(x: Tensor) -> return_types.frexp:
    """Numbers of magnitude [0.5, 1) and exponents of two whose product is `x`.

    Raises:
        NotImplementedError: the numbers are not floating.
    """
    if not x.is_floating_point():
        raise not_implemented("frexp", x._array.dtype)
    exponent = _exponent(x)
    # A power of two, so the product is exact and is its own derivative.
    return return_types.frexp(x * (-exponent).to(x.dtype).exp2(), exponent)


__all__ = ["copysign", "frexp", "gcd", "heaviside", "lcm", "nextafter"]
