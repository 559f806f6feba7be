"""Special functions are the same with SciPy and without."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gradtool.engine as t
from gradtool.engine._ops.elementwise import special as _special_library

POINTS = [-math.inf, -3.0, -0.5, 0.0, 1e-9, 0.7, 2.0, 6.0, math.inf, math.nan]


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_without_scipy_the_standard_library_computes(name: str, no_scipy: None) -> None:
    found = getattr(t, name)(t.tensor(POINTS, dtype=t.float64))
    assert _special_library._library_of("numpy") is None
    np.testing.assert_array_equal(found.numpy(), [getattr(math, name)(x) for x in POINTS])


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
@pytest.mark.parametrize("dtype", [t.float16, t.float32, t.float64])
def test_without_scipy_shape_and_dtype_stay(shape, dtype, no_scipy: None) -> None:
    found = t.erf(t.zeros(shape, dtype=dtype))
    assert found.shape == shape
    assert found.dtype is dtype


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_with_scipy_it_computes_the_same(name: str) -> None:
    pytest.importorskip("scipy.special", reason="SciPy is not installed")
    x = t.linspace(-5, 5, 101, dtype=t.float64)
    expected = [getattr(math, name)(each) for each in x.tolist()]
    np.testing.assert_allclose(getattr(t, name)(x).numpy(), expected, rtol=1e-13)


def test_complex_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="\"erf\" not implemented for 'ComplexFloat'"):
        t.erf(t.tensor([1j]))
