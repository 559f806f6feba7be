"""Special functions, the pairs of logarithms, signs and neighbours, and what ignores NaN."""

from __future__ import annotations

import math
from typing import Any

from tests.engine.ops.cases.case import (
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

OF_TABLES = {
    "erfinv": (-0.9, 0.9), "digamma": (0.3, 3), "i0": (-2, 2), "special.i1": (-2, 2),
    "special.i0e": (0.2, 2), "special.i1e": (-2, -0.2), "special.ndtri": (0.1, 0.9),
    "special.log_ndtr": (-2, 2), "special.erfcx": (-1, 2), "lgamma": (0.3, 3),
    "special.gammaln": (1.1, 3), "special.psi": (0.3, 2),
}  # fmt: skip
"""Functions that NumPy has not, or whose derivatives it has not, and where they are smooth."""

OF_OURS = {
    "sinc": (0.1, 2), "logit": (0.1, 0.9), "deg2rad": (-90, 90), "rad2deg": (-1, 1),
    "special.entr": (0.2, 2), "special.ndtr": (-2, 2), "special.expit": (-2, 2),
}  # fmt: skip


POLYNOMIALS = (
    *[f"chebyshev_polynomial_{kind}" for kind in "tuvw"],
    *[f"shifted_chebyshev_polynomial_{kind}" for kind in "tuvw"],
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
    "legendre_polynomial_p",
)  # fmt: skip


NOT_THERE = "PyTorch has no forward mode of it"


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
    *[case for name, bounds in OF_TABLES.items() for case in _smooth(name, *bounds)],
    *[
        OpCase(f"polygamma {n}", lambda t, x, n=n: (t.polygamma(n, x), x.polygamma(n)),
               (between(0.5, 3, 3),), tolerance=1e-8)
        for n in range(3)
    ],
    OpCase("mvlgamma", lambda t, x: t.mvlgamma(x, 3), (between(2, 4, 3),), tolerance=1e-8),
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
    OpCase("logit outside its domain", lambda t, x: (t.logit(x), t.logit(x, 0.1)),
           (exactly([-0.5, 1.5, 0.3]),), second_order=False),
    OpCase("sinc near zero", lambda t, x: t.sinc(x), (exactly([1e-300, -1e-200, 0.0]),),
           second_order=False),
    OpCase("nextafter of equals", lambda t, x, y: t.nextafter(x, y),
           (exactly([1.0, 2.0, 3.0]), exactly([2.0, 2.0, 1.0]))),
    OpCase("acosh below its domain", lambda t, x: t.acosh(x), (exactly([-1.5, -3.0]),)),
    OpCase("pow to zero of negative bases", lambda t, x, y: t.pow(x, y),
           (exactly([-0.5, 2.0, 0.0]), exactly([0.0, 0.0, 0.0]))),
    OpCase("copysign at infinity", lambda t, x, y: t.copysign(x, y),
           (exactly([inf, -2.0]), exactly([1.0, 3.0])), second_order=False),
    OpCase("spherical_bessel_j0 at infinity",
           lambda t, x: t.special.spherical_bessel_j0(x.detach()),
           (exactly([inf, -inf, 0.0, 0.5]),)),
    *[
        OpCase("polynomials", lambda t, x, n: tuple(
            getattr(t.special, name)(x.detach(), n) for name in POLYNOMIALS
        ), (exactly([[-2.0], [-1.0], [-0.9], [0.0], [0.3], [0.5], [1.0], [1.5]]),
            integers(-1, 30, 6)), tolerance=1e-9),
        OpCase("polynomials of a number", lambda t, n: (
            t.special.chebyshev_polynomial_u(0.3, n),
            t.special.laguerre_polynomial_l(n, 2),
        ), (integers(0, 5, 3),)),
        OpCase("Hermite polynomials of a high degree",
               lambda t, n: t.special.hermite_polynomial_he(0.1, n.detach()),
               (exactly([3.0, 513.0]),)),
    ],
    OpCase("igamma", lambda t, a, x: (
        t.igamma(a, x), a.igammac(x), t.special.gammainc(a, x),
    ), (integers(1, 4, 3, 1), positive(4)),
           tolerance=1e-6,  # PyTorch takes lgamma of integers in float32.
           not_pushed=NOT_THERE),
    OpCase("zeta", lambda t, s, q: t.special.zeta(s, q),
           (integers(2, 5, 3, 1), positive(4)), tolerance=1e-8, not_pushed=NOT_THERE),
    OpCase("zeta of integers", lambda t, s: (t.special.zeta(s, 2), t.special.zeta(2.0, s)),
           (integers(2, 5, 3),)),
    OpCase("airy_ai", lambda t, x: t.special.airy_ai(x.detach()), (between(-2, 6, 9),)),
    OpCase("modified_bessel_i0", lambda t, x: (
        t.special.modified_bessel_i0(x.detach()), t.special.modified_bessel_i1(x.detach()),
    ), (normal(5),)),
    OpCase("log_ndtr far out", lambda t, x: t.special.log_ndtr(x),
           (exactly([30.0, 100.0, -20.0]),), tolerance=1e-8),
    OpCase("i1 near zero", lambda t, x: t.special.i1(x), (exactly([5e-324, 0.0, 1e-17]),),
           second_order=False),
    OpCase("polygamma_", lambda t, x: x.clone().polygamma_(2), (positive(3),)),
]  # fmt: skip
