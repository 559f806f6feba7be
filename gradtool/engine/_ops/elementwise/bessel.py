"""Bessel functions without a derivative, as PyTorch has them: Functions are written to give one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine._ops.core.kinds import Operation, of_floats, without_derivative
from gradtool.engine._ops.core.quiet import quiet
from gradtool.engine._ops.core.unsupported import refusing_complex, refusing_half
from gradtool.engine._ops.elementwise.special_library import special


def _bessel(name: str, compute: Callable[..., Any]) -> Operation:
    floating = of_floats(refusing_half(f"{name}_cpu", compute))
    return without_derivative(f"special_{name}", floating)


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
    refusing_complex("spherical_bessel_j0_cpu", quiet(lambda x: np.sinc(x / np.pi))),
)
