"""The derivative of one-dimensional functions that are known to fool numeric differentiation.

Each claimed error must cover the true one, and must be small where the function allows it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtool.verify.oracle.estimate import Status


def _noisy_sine(x):
    return np.sin(x) + 1e-9 * _RANDOM.standard_normal()


_RANDOM = np.random.default_rng(0)


def _single(x):
    return float(np.sin(np.float32(x)))


# name: (function, point, derivative, largest relative error that is acceptable, scale)
SMOOTH = {
    "sin at 1": (np.sin, 1.0, math.cos(1), 1e-11, None),
    "log near 0": (np.log, 1e-3, 1e3, 1e-10, None),
    "log among ones": (np.log, 1e-3, 1e3, 1e-10, 1.0),
    "sqrt near 0": (np.sqrt, 1e-6, 500.0, 1e-10, None),
    "sqrt among ones": (np.sqrt, 1e-6, 500.0, 1e-10, 1.0),
    "sqrt very near 0": (np.sqrt, 1e-14, 5e6, 1e-10, 1.0),
    "steep tanh": (lambda x: np.tanh(100 * x), 0.01, 100 / math.cosh(1) ** 2, 1e-10, None),
    "fast sine": (lambda x: np.sin(1000 * x), 1.0, 1000 * math.cos(1000), 1e-9, None),
    "very fast sine": (lambda x: np.sin(1e6 * x), 1.0, 1e6 * math.cos(1e6), 1e-3, None),
    "ripple": (lambda x: x + 1e-6 * np.sin(1e6 * x), 1.0, 1 + math.cos(1e6), 1e-3, None),
    "large offset": (lambda x: 1e8 + np.sin(x), 1.0, math.cos(1), 1e-4, None),
    "cancellation": (lambda x: (x + 1e8) - 1e8, 1.0, 1.0, 1e-4, None),
    "relu at 1e-4": (lambda x: max(x, 0.0), 1e-4, 1.0, 1e-10, 1.0),
    "relu at 1e-9": (lambda x: max(x, 0.0), 1e-9, 1.0, 1e-10, 1.0),
    "float32 inside": (_single, 1.0, math.cos(1), 1e-3, None),
    "noise of 1e-9": (_noisy_sine, 1.0, math.cos(1), 1e-5, None),
    "tiny outputs": (lambda x: 1e-8 * np.sin(x), 1.0, 1e-8 * math.cos(1), 1e-11, None),
    "tiny inputs": (np.sin, 1e-8, math.cos(1e-8), 1e-11, None),
    "huge inputs": (np.log, 1e9, 1e-9, 1e-10, None),
    "huge outputs": (lambda x: x**3, 1e9, 3e18, 1e-11, None),
    "near a pole": (np.tan, 1.57, 1 / math.cos(1.57) ** 2, 1e-8, None),
    "exp at -30": (np.exp, -30.0, math.exp(-30), 1e-10, None),
    "resonance": (lambda x: np.sin(16 * np.pi * x), 0.0, 16 * math.pi, 1e-10, None),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_the_claimed_error_covers_the_true_one(name, derivative):
    function, x, truth, acceptable, scale = SMOOTH[name]
    point = derivative(function, x, scale=scale)
    assert point.status is Status.KNOWN
    assert abs(point.value - truth) <= point.error
    assert point.error <= acceptable * abs(truth)


ZERO = {
    "cosine at 0": np.cos,
    "x|x| at 0": lambda x: x * abs(x),
    "power 1.5 at 0": lambda x: abs(x) ** 1.5,
    "removable hole": lambda x: np.sin(x) / x if x else 1.0,
}


@pytest.mark.parametrize("name", ZERO)
def test_a_derivative_of_zero_is_known(name, derivative):
    point = derivative(ZERO[name], 0.0)
    assert point.status is Status.KNOWN
    assert abs(point.value) <= point.error <= 1e-10


FLAT = {
    "constant": (lambda x: 3.0, 1.0),
    "constant but for rounding": (lambda x: (x + 1e3) - 1e3 - x + 1, 1.0),
    "floor": (np.floor, 1.3),
    "sign": (np.sign, -0.7),
    "relu below 0": (lambda x: max(x, 0.0), -1e-9),
}


@pytest.mark.parametrize("name", FLAT)
def test_a_constant_stretch_is_flat(name, derivative):
    function, x = FLAT[name]
    point = derivative(function, x, scale=1.0)
    assert point.status is Status.FLAT
    assert point.value == 0
    assert point.error < 1e-10


INF = math.inf
KINKS = {
    "relu at 0": (lambda x: max(x, 0.0), 0.0, (0.0, 1.0)),
    "abs at 0": (abs, 0.0, (-1.0, 1.0)),
    "leaky relu at 0": (lambda x: x if x > 0 else 0.01 * x, 0.0, (0.01, 1.0)),
    "step at 0": (lambda x: float(x >= 0), 0.0, (INF, 0.0)),
    "floor at 1": (np.floor, 1.0, (INF, 0.0)),
    "sqrt of abs at 0": (lambda x: np.sqrt(abs(x)), 0.0, (-INF, INF)),
    "cube root at 0": (np.cbrt, 0.0, (INF, INF)),
    "isolated value": (lambda x: float(x == 0), 0.0, (INF, -INF)),
    "bend at 1": (lambda x: abs(x - 1) + x * x, 1.0, (1.0, 3.0)),
}


@pytest.mark.parametrize("name", KINKS)
def test_where_the_slopes_differ_there_is_no_derivative(name, derivative):
    function, x, slopes = KINKS[name]
    point = derivative(function, x)
    assert point.status is Status.KINK
    assert (point.left, point.right) == pytest.approx(slopes, rel=1e-6, abs=1e-9)


def test_a_step_away_from_a_clamp_the_derivative_is_known(derivative):
    for x, slope in ((0.5 - 1e-6, 0.0), (0.5 + 1e-6, 1.0)):
        point = derivative(lambda x: max(x, 0.5), x)
        assert point.status is Status.KNOWN
        assert abs(point.value - slope) <= point.error < 1e-6


def test_outside_the_domain_the_other_side_decides(derivative):
    point = derivative(lambda x: x**1.5 if x >= 0 else math.nan, 0.0)
    assert point.status is Status.KNOWN
    assert abs(point.value) <= point.error < 1e-3


def test_a_vertical_tangent_at_the_edge_of_the_domain_is_no_derivative(derivative):
    point = derivative(np.sqrt, 0.0)
    assert point.status is Status.KINK
    assert point.right == INF
    assert math.isnan(point.left)


def test_an_exception_is_outside_the_domain(derivative):
    def picky(x):
        if x > 1:
            raise ValueError("too large")
        return x * x

    point = derivative(picky, 1.0)
    assert point.status is Status.KNOWN
    assert point.value == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_value_that_is_not_finite_has_no_derivative(value, derivative):
    assert derivative(lambda x: value, 1.0).status is Status.OUTSIDE


def test_a_function_defined_at_one_point_only_cannot_be_told(derivative):
    assert derivative(lambda x: 1.0 if x == 1 else math.nan, 1.0).status is Status.OUTSIDE


@pytest.mark.parametrize("x", [1.0, 1.304, 0.72, -0.51])
def test_steps_of_float16_hide_the_slope(x, derivative):
    point = derivative(lambda x: float(np.sin(np.float16(x))), x)
    assert point.status is Status.STEPPED
    assert min(point.left, point.right) <= math.cos(x) <= max(point.left, point.right)


def test_steps_that_the_measured_noise_missed_are_no_rest(derivative):
    # 1 - tanh(x)**2 moves in steps of 2**-53 here, and its sixth differences can all vanish.
    for x in np.linspace(10, 11.5, 300):
        point = derivative(lambda x: -1.07421875 * (1 - np.tanh(x) ** 2), float(x))
        truth = 2 * 1.07421875 * np.tanh(x) / np.cosh(x) ** 2
        assert point.status is Status.STEPPED or abs(point.value - truth) <= point.error


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", [np.sin, np.exp, np.tanh])
def test_the_arguments_own_precision_is_enough(function, dtype, derivative):
    point = derivative(function, 0.8, dtype=dtype)
    truth = {np.sin: math.cos, np.exp: math.exp, np.tanh: lambda x: 1 / math.cosh(x) ** 2}
    exact = truth[function](float(dtype(0.8)))
    assert abs(point.value - exact) <= point.error <= 1e-3 * exact


def test_the_noise_of_hidden_float32_is_measured(derivative):
    assert 1e-8 < derivative(_single, 1.0).noise < 1e-6
    assert derivative(np.sin, 1.0).noise < 1e-15


@given(
    scale=st.floats(-8, 9).map(lambda power: 10.0**power),
    size=st.floats(-8, 9).map(lambda power: 10.0**power),
    phase=st.floats(0.1, 1.4),
)
def test_scales_of_inputs_and_outputs_do_not_matter(scale, size, phase, derivative):
    x = phase * scale
    point = derivative(lambda x: size * np.sin(x / scale), x)
    truth = size / scale * math.cos(phase)
    assert abs(point.value - truth) <= point.error
    assert point.error <= 1e-9 * size / scale
