"""Special functions, the pairs of logarithms, signs and neighbours, and what ignores NaN."""

from __future__ import annotations

import importlib.util
import math
from typing import Any

from tests.engine.ops.case import (
    OpCase,
    between,
    distinct,
    exactly,
    integers,
    normal,
    over,
    positive,
    strided,
)

inf, nan = math.inf, math.nan
HAS_SCIPY = importlib.util.find_spec("scipy") is not None

OF_SCIPY = {
    "erfinv": (-0.9, 0.9), "digamma": (0.3, 3), "i0": (-2, 2), "special.i1": (-2, 2),
    "special.i0e": (0.2, 2), "special.i1e": (-2, -0.2), "special.ndtri": (0.1, 0.9),
    "special.log_ndtr": (-2, 2), "special.erfcx": (-1, 2), "lgamma": (0.3, 3),
    "special.gammaln": (1.1, 3), "special.psi": (0.3, 2),
}  # fmt: skip
"""Named functions that SciPy computes, or whose derivatives it does, and where they are smooth."""

OF_OURS = {
    "sinc": (0.1, 2), "logit": (0.1, 0.9), "deg2rad": (-90, 90), "rad2deg": (-1, 1),
    "special.entr": (0.2, 2), "special.ndtr": (-2, 2), "special.expit": (-2, 2),
}  # fmt: skip


def _named(t: Any, name: str) -> Any:
    for part in name.split("."):
        t = getattr(t, part)
    return t


def _smooth(name: str, low: float, high: float) -> list[OpCase]:
    return over(
        name,
        lambda t, x: _named(t, name)(x),
        [(between(low, high, 3, 4),), (between(low, high),), (strided(between(low, high, 0, 2)),)],
        tolerance=1e-8,  # PyTorch's trigamma has nine digits; SciPy's have more.
    )


PAIRS = [
    (normal(3, 4), normal(3, 4)), (normal(3, 1), normal(4)), (normal(), normal(2)),
    (normal(0), normal(1)),
]  # fmt: skip
POSITIVES = [(normal(3, 4), positive(3, 4)), (normal(3, 1), positive(4))]
EDGES = exactly([[0.0, 0.0, 0.0, 1.0, -0.0, inf, nan, 2.0]])
OTHERS = exactly([[0.0, 2.0, nan, 0.0, -1.0, 1.0, 0.0, inf]])

CASES: list[OpCase] = [
    *[case for name, bounds in OF_OURS.items() for case in _smooth(name, *bounds)],
    *[case for name, bounds in OF_SCIPY.items() if HAS_SCIPY for case in _smooth(name, *bounds)],
    *[
        OpCase(f"polygamma {n}", lambda t, x, n=n: (t.polygamma(n, x), x.polygamma(n)),
               (between(0.5, 3, 3),), tolerance=1e-8)
        for n in range(3) if HAS_SCIPY
    ],
    *[OpCase("mvlgamma", lambda t, x: t.mvlgamma(x, 3), (between(2, 4, 3),), tolerance=1e-8)
      for _ in range(HAS_SCIPY)],
    *over("xlogy", lambda t, x, y: (t.xlogy(x, y), x.xlogy(y), t.special.xlog1py(x, y)), POSITIVES),
    OpCase("xlogy with a number", lambda t, x: (t.xlogy(2.0, x), t.xlogy(x, 2.0)), (positive(3),)),
    OpCase("xlogy at edges", lambda t, x, y: t.xlogy(x, y), (EDGES, OTHERS), second_order=False),
    OpCase("xlogy of integers", lambda t, x, y: t.xlogy(x, y),
           (integers(0, 3, 4), integers(1, 4, 4))),
    *over("logaddexp", lambda t, x, y: (t.logaddexp(x, y), x.logaddexp2(y)), PAIRS),
    OpCase("logaddexp of equals", lambda t, x, y: (t.logaddexp(x, y), x.logaddexp2(y)),
           (exactly([0.0, 1.5, -3.0]), exactly([0.0, 1.5, -2.0]))),
    OpCase("logaddexp far apart", lambda t, x, y: t.logaddexp(x, y),
           (exactly([800.0, -800.0, 3.0]), exactly([0.0, 0.0, 900.0])), second_order=False),
    OpCase("logit with eps", lambda t, x: (t.logit(x, 0.2), x.logit(eps=0.1)),
           (between(0.3, 0.7, 3),)),
    OpCase("ldexp", lambda t, x, y: t.ldexp(x, y), (normal(3, 2), integers(0, 3, 2))),
    OpCase("float_power", lambda t, x: (x.float_power(3), t.float_power(x, x), t.float_power(2, x)),
           (positive(3, 2),)),
    OpCase("float_power of integers", lambda t, x: t.float_power(x, 2), (integers(1, 4, 3),)),
    *over("copysign", lambda t, x, y: (t.copysign(x, y), x.copysign(-2.0)), [
        (distinct(3, 4), distinct(4)), (distinct(3, 1), distinct(4)),
    ], second_order=False),
    OpCase("copysign at zero", lambda t, x, y: t.copysign(x, y),
           (exactly([0.0, -0.0, 1.0]), exactly([-1.0, 1.0, -0.0])), second_order=False),
    OpCase("frexp", lambda t, x: t.frexp(x)[0], (distinct(5),)),
    OpCase("frexp's exponent", lambda t, x: t.frexp(x).exponent, (exactly([0.0, 1.5, -8.0, 0.3]),)),
    OpCase("gcd", lambda t, x, y: (t.gcd(x, y), x.lcm(y)),
           (integers(1, 30, 3, 4), integers(1, 30, 4))),
    OpCase("nextafter", lambda t, x, y: t.nextafter(x.detach(), y.detach()),
           (distinct(4), distinct(4))),
    OpCase("heaviside", lambda t, x, y: t.heaviside(x.detach(), y.detach()), (EDGES, OTHERS)),
    *over("fmax", lambda t, x, y: (t.fmax(x, y), x.fmin(y)), [
        (distinct(3, 4), distinct(4)),
        (exactly([1.0, nan, nan, 2.0]), exactly([nan, 1.0, nan, 3.0])),
    ]),
    OpCase("nan_to_num", lambda t, x: (t.nan_to_num(x), x.nan_to_num(1.0, 2.0, -3.0)),
           (exactly([1.0, nan, inf, -inf]),)),
    OpCase("nansum", lambda t, x: (
        t.nansum(x), x.nansum(1), x.nansum((0, 1), keepdim=True), t.nanmean(x), x.nanmean(0),
    ), (exactly([[1.0, nan, 3.0], [4.0, 5.0, nan]]),)),
]  # fmt: skip
