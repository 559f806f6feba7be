"""Special functions are the same with SciPy and without."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradtool
import gradtool.engine as t
from gradtool import Function, Verdict
from gradtool.engine._ops.elementwise import formulas
from gradtool.engine._ops.elementwise import special as _special_library

POINTS = [-math.inf, -3.0, -0.5, 0.0, 1e-9, 0.7, 2.0, 6.0, math.inf, math.nan]

SMOOTH = {
    "digamma": 0.3, "erf": -1.0, "erfinv": -0.6, "i0": -2.0, "lgamma": 0.3, "special.erfcx": -2.0,
    "special.i0e": 0.2, "special.i1": -2.0, "special.i1e": 0.2, "special.log_ndtr": -3.0,
    "special.ndtri": 0.05,
}  # fmt: skip
"""A function of one tensor -> where the points for it begin, which reach 0.9 further."""

OF_TWO = ("igamma", "igammac", "special.zeta")
"""Functions with a derivative by the second tensor alone."""


def named(name: str) -> Any:
    return getattr(t.special, name.removeprefix("special."), None) or getattr(t, name)


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_without_scipy_the_standard_library_computes(name: str, no_scipy: None) -> None:
    found = getattr(t, name)(t.tensor(POINTS, dtype=t.float64))
    assert _special_library._library_of("numpy") is formulas
    np.testing.assert_array_equal(found.numpy(), [getattr(math, name)(x) for x in POINTS])


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_few_numbers_do_not_load_scipy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_special_library, "_library_of", None)
    x = t.tensor([POINTS, POINTS], dtype=t.float64).t()
    found = getattr(t, name)(x)
    assert found.stride() == x.stride()
    np.testing.assert_array_equal(found[:, 0].numpy(), [getattr(math, name)(p) for p in POINTS])


@pytest.mark.parametrize("name", sorted({*SMOOTH, "special.bessel_y0", "special.airy_ai"}))
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_without_scipy_shape_and_dtype_stay(name: str, shape: Any, no_scipy: None) -> None:
    for dtype in (t.float32, t.float64):
        found = named(name)(t.full(shape, 0.5, dtype=dtype))
        assert found.shape == shape
        assert found.dtype is dtype


@pytest.mark.parametrize("name", SMOOTH)
def test_without_scipy_derivatives_of_both_orders_are_right(name: str, no_scipy: None) -> None:
    x = t.linspace(SMOOTH[name], SMOOTH[name] + 0.9, 5, dtype=t.float64, requires_grad=True)
    assert t.autograd.gradcheck(named(name), (x,))
    assert t.autograd.gradgradcheck(named(name), (x,))


@pytest.mark.parametrize("name", OF_TWO)
def test_without_scipy_derivatives_by_the_second_are_right(name: str, no_scipy: None) -> None:
    first = t.tensor([1.5, 2.0, 7.0], dtype=t.float64)
    second = t.tensor([0.6, 2.5, 5.0], dtype=t.float64, requires_grad=True)
    assert t.autograd.gradcheck(lambda x: named(name)(first, x), (second,))
    assert t.autograd.gradgradcheck(lambda x: named(name)(first, x), (second,))


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_without_scipy_derivatives_of_polygamma_are_right(n: int, no_scipy: None) -> None:
    x = t.tensor([-1.4, 0.6, 2.5], dtype=t.float64, requires_grad=True)
    assert t.autograd.gradcheck(lambda x: t.polygamma(n, x), (x,))


class BesselRatio(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ratio = t.special.i1e(x) / t.special.i0e(x)
        ctx.save_for_backward(x)
        return ratio

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        ratio = t.special.i1e(x) / t.special.i0e(x)
        return g * (1 - ratio / x - ratio * ratio)


def test_without_scipy_a_right_function_that_uses_them_passes(no_scipy: None) -> None:
    report = gradtool.check(BesselRatio)
    assert report.verdict is Verdict.PASS


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_with_scipy_it_computes_the_same(name: str) -> None:
    pytest.importorskip("scipy.special", reason="SciPy is not installed")
    x = t.linspace(-5, 5, 101, dtype=t.float64)
    expected = [getattr(math, name)(each) for each in x.tolist()]
    np.testing.assert_allclose(getattr(t, name)(x).numpy(), expected, rtol=1e-13)


def test_complex_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="\"erf\" not implemented for 'ComplexFloat'"):
        t.erf(t.tensor([1j]))
