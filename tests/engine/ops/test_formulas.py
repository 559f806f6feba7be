"""Formulas for special functions are exact, by many digits of mpmath and by SciPy at the edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gradtool.engine._ops.elementwise import formulas

Compute = Callable[..., Any]

DRAW = np.random.default_rng(0)


def spread(low: float, high: float, count: int = 15) -> Any:
    """Numbers spread evenly by their logarithms."""
    return np.exp(DRAW.uniform(np.log(low), np.log(high), count))


POSITIVE = np.concatenate([spread(1e-8, 1), np.linspace(0.5, 40, 40)])
FAR = spread(20, 690)
EVERYWHERE = np.concatenate([POSITIVE, -POSITIVE, FAR, -FAR])
WAVES = np.concatenate([spread(1e-8, 1), np.linspace(0.5, 40, 50), spread(20, 1e3)])
ORDERS = DRAW.integers(1, 8, 30)
SHAPES = np.concatenate([spread(1e-10, 1), DRAW.uniform(0, 30, 30), spread(20, 1e4, 30)])
NEAR_SHAPES = np.abs(SHAPES[45:] + 3 * DRAW.normal(size=30) * SHAPES[45:] ** 0.5)
BOUNDS = np.concatenate([spread(1e-10, 5), spread(0.2, 60, 30), NEAR_SHAPES])

EXACT: dict[str, tuple[Sequence[Any], Callable[[Any], Compute]]] = {
    "i0": ((EVERYWHERE,), lambda mp: lambda x: mp.besseli(0, x)),
    "i1": ((EVERYWHERE,), lambda mp: lambda x: mp.besseli(1, x)),
    "i0e": ((EVERYWHERE,), lambda mp: lambda x: mp.besseli(0, x) * mp.exp(-abs(x))),
    "i1e": ((EVERYWHERE,), lambda mp: lambda x: mp.besseli(1, x) * mp.exp(-abs(x))),
    "k0": ((np.concatenate([POSITIVE, FAR]),), lambda mp: lambda x: mp.besselk(0, x)),
    "k1": ((np.concatenate([POSITIVE, FAR]),), lambda mp: lambda x: mp.besselk(1, x)),
    "k0e": ((POSITIVE,), lambda mp: lambda x: mp.besselk(0, x) * mp.exp(x)),
    "k1e": ((POSITIVE,), lambda mp: lambda x: mp.besselk(1, x) * mp.exp(x)),
    "j0": ((np.concatenate([WAVES, -WAVES[::4]]),), lambda mp: lambda x: mp.besselj(0, x)),
    "j1": ((np.concatenate([WAVES, -WAVES[::4]]),), lambda mp: lambda x: mp.besselj(1, x)),
    "y0": ((WAVES,), lambda mp: lambda x: mp.bessely(0, x)),
    "y1": ((WAVES,), lambda mp: lambda x: mp.bessely(1, x)),
    "airy": ((np.linspace(-30, 15, 90),), lambda mp: mp.airyai),
    "erfcx": (
        (np.concatenate([spread(1e-300, 30), -np.linspace(0, 26, 80)]),),
        lambda mp: lambda x: mp.exp(x * x) * mp.erfc(x),
    ),
    "log_ndtr": (
        (np.linspace(-40, 12, 160),),
        lambda mp: lambda x: mp.log1p(-mp.ncdf(-x)) if x > 0 else mp.log(mp.ncdf(x)),
    ),
    "digamma": ((np.concatenate([POSITIVE, FAR, DRAW.uniform(-9, 2, 60)]),), lambda mp: mp.digamma),
    "polygamma": (
        (ORDERS, np.concatenate([spread(1e-3, 1e3), -DRAW.uniform(0.01, 30, 15)])),
        lambda mp: lambda n, x: mp.polygamma(int(n), x),
    ),
    "zeta": (
        (1 + spread(1e-8, 30, 40), spread(1e-3, 1e3, 40)),
        lambda mp: lambda s, q: mp.zeta(s, q),
    ),
    "gammainc": ((SHAPES, BOUNDS), lambda mp: lambda a, x: mp.gammainc(a, 0, x, regularized=True)),
    "gammaincc": ((SHAPES, BOUNDS), lambda mp: lambda a, x: mp.gammainc(a, x, regularized=True)),
}  # fmt: skip
"""Name -> arguments, and the same function by mpmath."""

DIGITS = {"erfcx": 400, "gammainc": 60, "gammaincc": 60, "log_ndtr": 60, "zeta": 150}
"""So many digits of mpmath are needed, where thirty are too few."""

WAVE_HEIGHTS: dict[str, Compute] = {
    **dict.fromkeys(("j0", "j1", "y0", "y1"), lambda x: np.abs(x) ** -0.5 * (np.abs(x) > 0.5)),
    "airy": lambda x: np.abs(x) ** -0.25 * (x < -1),
    "digamma": lambda x: 1.0 * (x < 0),
    "polygamma": lambda n, x: 1.0 * (x < 0),
}
"""About how high a function is between two of its zeros, and zero where it has none."""


@pytest.mark.parametrize("name", EXACT)
def test_formula_is_exact(name: str) -> None:
    mp = pytest.importorskip("mpmath", reason="mpmath is not installed")
    arguments, of_mpmath = EXACT[name]
    with mp.workdps(DIGITS.get(name, 30)):
        reference = of_mpmath(mp)
        numbers = [[mp.mpf(float(each)) for each in values] for values in arguments]
        exact = np.array([float(reference(*each)) for each in zip(*numbers, strict=True)])
    with np.errstate(all="ignore"):
        found = getattr(formulas, name)(*arguments)
        heights = WAVE_HEIGHTS.get(name, lambda *_: 0.0)(*arguments)
    found = found[0] if name == "airy" else found
    allowed = 3e-14 * np.maximum(np.abs(exact), heights) + 1e-307
    assert np.all((np.abs(found - exact) <= allowed) | (found == exact))


@pytest.mark.parametrize(("name", "forward"), [("erfinv", "erf"), ("ndtri", "ncdf")])
def test_inverse_is_exact(name: str, forward: str) -> None:
    mp = pytest.importorskip("mpmath", reason="mpmath is not installed")
    near_one = 1 - spread(1e-15, 1e-2)
    points = np.concatenate([np.linspace(0.001, 0.999, 40), near_one, spread(1e-300, 1e-3)])
    found = getattr(formulas, name)(points)
    with mp.workdps(400):
        for point, value in zip(points, found, strict=True):
            at = mp.mpf(float(value))
            slope = mp.diff(getattr(mp, forward), at)
            error = (getattr(mp, forward)(at) - mp.mpf(float(point))) / slope
            assert abs(error) <= 1e-14 * abs(at)


EDGES = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1.0, 1e-320, -2.5, -3.0])


@pytest.mark.parametrize("name", [
    "airy", "digamma", "erfcx", "erfinv", "i0", "i0e", "i1", "i1e", "j0", "j1", "k0",
    "k0e", "k1", "k1e", "log_ndtr", "ndtri", "y0", "y1",
])  # fmt: skip
def test_edges_are_scipys(name: str) -> None:
    special = pytest.importorskip("scipy.special", reason="SciPy is not installed")
    with np.errstate(all="ignore"):
        found, expected = getattr(formulas, name)(EDGES), getattr(special, name)(EDGES)
    if name == "airy":
        found, expected = found[0], expected[0]
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-300)


PAIRS = np.array([0.0, 1.0, 2.0, 2.5, np.inf, np.nan, 0.5, -1.0, -np.inf, 1e-300, 20.0, 20.1])


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_edges_of_two_numbers_are_scipys(name: str) -> None:
    special = pytest.importorskip("scipy.special", reason="SciPy is not installed")
    first, second = np.meshgrid(PAIRS, PAIRS)
    with np.errstate(all="ignore"):
        found = getattr(formulas, name)(first, second)
        expected = getattr(special, name)(first, second)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


def test_zeta_at_edges() -> None:
    with np.errstate(all="ignore"):
        found = formulas.zeta(
            [1, 2, 0.5, np.nan, 2, 2.5, 2, np.inf], [5, 0, 1, 1, -1, -0.5, np.inf, 2]
        )
    assert found.tolist()[:3] == [np.inf, np.inf, pytest.approx(np.nan, nan_ok=True)]
    assert np.isnan(found[3])
    assert found[4] == np.inf
    assert np.isnan(found[5])
    assert found.tolist()[6:] == [0.0, 0.0]
