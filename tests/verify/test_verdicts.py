"""Nothing wrong passes and nothing right is blamed: right and wrong functions over many seeds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradtool.results.report import Verdict
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.examine import examine
from gradtool.verify.subject import Subject


def _elementwise(derivative):
    return lambda primals, cotangents: cotangents[0] * derivative(primals[0])


def _softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _softmax_vjp(primals, cotangents):
    y = _softmax(primals[0])
    return y * (cotangents[0] - (cotangents[0] * y).sum(-1, keepdims=True))


def _normalized(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def _normalized_vjp(primals, cotangents):
    x, g = primals[0], cotangents[0]
    y, deviation = _normalized(x), np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    inner = g - g.mean(-1, keepdims=True) - y * (g * y).mean(-1, keepdims=True)
    return inner / deviation


def _single(function):
    return lambda x: function(x.astype(np.float32)).astype(np.float64)


# name: (forward, vjp, scale of the inputs)
RIGHT = {
    "sin": (np.sin, _elementwise(np.cos), 1.0),
    "exp": (np.exp, _elementwise(np.exp), 3.0),
    "reciprocal": (lambda x: 1 / x, _elementwise(lambda x: -1 / x**2), 1.0),
    "relu": (lambda x: np.maximum(x, 0), _elementwise(lambda x: x > 0), 1.0),
    "abs": (np.abs, _elementwise(np.sign), 1.0),
    "round": (np.round, _elementwise(np.zeros_like), 1.0),
    "cube root": (np.cbrt, _elementwise(lambda x: 1 / (3 * np.cbrt(x) ** 2)), 1.0),
    "steep": (lambda x: np.tanh(10 * x), _elementwise(lambda x: 10 / np.cosh(10 * x) ** 2), 1.0),
    "softmax": (_softmax, _softmax_vjp, 1.0),
    "normalized": (_normalized, _normalized_vjp, 1.0),
    "sum of softmax": (
        lambda x: _softmax(x).sum(),
        lambda p, c: _softmax_vjp(p, (c[0] * np.ones_like(p[0]),)),
        1.0,
    ),
    "norm": (np.linalg.norm, lambda p, c: c[0] * p[0] / np.linalg.norm(p[0]), 1.0),
    "product": (np.prod, lambda p, c: c[0] * np.prod(p[0]) / p[0], 1.0),
    "large inputs": (lambda x: x**3, _elementwise(lambda x: 3 * x**2), 1e9),
    "small inputs": (np.sin, _elementwise(np.cos), 1e-8),
    "small outputs": (lambda x: 1e-6 * np.sin(x), _elementwise(lambda x: 1e-6 * np.cos(x)), 1.0),
    "large outputs": (lambda x: 1e6 * np.sin(x), _elementwise(lambda x: 1e6 * np.cos(x)), 1.0),
    "offset": (lambda x: 1e8 + np.sin(x), _elementwise(np.cos), 1.0),
    "single inside": (_single(np.sin), _elementwise(np.cos), 1.0),
}

MISTAKES = {
    "sign": lambda gradient: -gradient,
    "zero": lambda gradient: 0 * gradient,
    "factor": lambda gradient: 1.001 * gradient,
}

CONSTANT = {"round", "sum of softmax"}
"""Their derivative is zero, so that the mistakes below change nothing."""


def _worst(function, forward, vjp, primal, seed) -> Decision:
    return Subject(function(forward, vjp, (primal,)), seed=seed).given.worst


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_gradient_passes_with_every_seed(name, function):
    forward, vjp, scale = RIGHT[name]
    for seed in range(200 // len(RIGHT) + 1):
        primal = scale * np.random.default_rng(seed).standard_normal((2, 3))
        assert _worst(function, forward, vjp, primal, seed) is Decision.PASS


@pytest.mark.parametrize("name", ["sin", "softmax", "normalized"])
def test_no_false_alarm_in_200_seeds(name, function):
    forward, vjp, scale = RIGHT[name]
    for seed in range(200):
        primal = scale * np.random.default_rng(seed).standard_normal(3)
        assert _worst(function, forward, vjp, primal, seed) is Decision.PASS


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("name", sorted(set(RIGHT) - CONSTANT))
def test_a_wrong_gradient_fails(name, mistake, function):
    forward, vjp, scale = RIGHT[name]

    def wrong(primals, cotangents):
        return MISTAKES[mistake](vjp(primals, cotangents))

    for seed in range(3):
        primal = scale * np.random.default_rng(seed).standard_normal((2, 3))
        assert _worst(function, forward, wrong, primal, seed) is Decision.FAIL


def test_one_wrong_entry_of_many_is_enough(function):
    def wrong(primals, cotangents):
        gradient = cotangents[0] * np.cos(primals[0])
        gradient[3, 4] *= 1 + 1e-5
        return gradient

    primal = np.random.default_rng(0).standard_normal((10, 6))
    comparison = Subject(function(np.sin, wrong, (primal,))).given.comparisons[0]
    failing = np.argwhere(comparison.decision == Decision.FAIL)
    assert failing.tolist() == [[3 * 6 + 4, 3 * 6 + 4]]


@pytest.mark.parametrize("gradient", [math.nan, math.inf, -math.inf])
def test_a_gradient_that_is_not_finite_never_passes(gradient, function):
    def wrong(primals, cotangents):
        return np.full_like(primals[0], gradient)

    for x in (1.0, 0.0):
        assert _worst(function, np.abs, wrong, np.array([x]), 0) is Decision.FAIL


def test_nan_on_both_sides_is_not_a_pass(function):
    sqrt = function(np.sqrt, _elementwise(lambda x: 0.5 / np.sqrt(x)), (np.array([-1.0]),))
    outcomes, _ = examine(sqrt, codes=["GT101", "GT603"])
    verdicts = {outcome.rule.code: outcome.verdict for outcome in outcomes}
    assert verdicts["GT603"] is Verdict.UNVERIFIED
    assert "not finite" in outcomes[1].flaws[0].message


def test_what_the_oracle_cannot_resolve_is_neither_passed_nor_blamed(function):
    for factor in (1.0, -1.0):
        vjp = _elementwise(lambda x, factor=factor: factor * 1e-6 * np.cos(x))
        drowned = function(lambda x: 1e8 + 1e-6 * np.sin(x), vjp, (np.array([1.0]),))
        assert Subject(drowned).given.worst is Decision.UNVERIFIED


def test_a_function_that_rounds_to_float16_inside_is_not_verified(function):
    def rounded(x):
        return np.sin(x.astype(np.float16)).astype(np.float64)

    for seed in range(10):
        primal = np.random.default_rng(seed).standard_normal(6)
        right, wrong, zero = (
            _worst(function, rounded, _elementwise(derivative), primal, seed)
            for derivative in (np.cos, lambda x: -np.cos(x), np.zeros_like)
        )
        assert right is Decision.UNVERIFIED
        assert wrong is Decision.FAIL
        assert zero is not Decision.PASS


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision_arguments(dtype, function):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        primal = (rng.standard_normal(5) + 1j * rng.standard_normal(5)).astype(np.complex64)
        primal = primal if dtype is np.complex64 else primal.real.astype(np.float32)
        for factor, expected in ((2.0, Decision.PASS), (2.02, Decision.FAIL)):
            vjp = _elementwise(lambda x, factor=factor: factor * np.conj(x))
            assert _worst(function, lambda x: x * x, vjp, primal, seed) is expected


# ---- complex numbers, in torch's convention: conj(derivative) for holomorphic functions


COMPLEX = {
    "square": (lambda z: z * z, lambda p, c: c[0] * np.conj(2 * p[0])),
    "exp": (np.exp, lambda p, c: c[0] * np.conj(np.exp(p[0]))),
    "conjugate": (np.conj, lambda p, c: np.conj(c[0])),
    "squared size": (lambda z: (z * np.conj(z)).real, lambda p, c: 2 * c[0] * p[0]),
    "size": (np.abs, lambda p, c: c[0] * p[0] / np.abs(p[0])),
    "real part": (np.real, lambda p, c: c[0] + 0j),
    "angle": (np.angle, lambda p, c: c[0] * 1j * p[0] / np.abs(p[0]) ** 2),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_gradients(name, function):
    forward, vjp = COMPLEX[name]
    for seed in range(10):
        rng = np.random.default_rng(seed)
        primal = rng.standard_normal(4) + 1j * rng.standard_normal(4)
        assert _worst(function, forward, vjp, primal, seed) is Decision.PASS


def test_a_forgotten_conjugate_fails(function):
    primal = np.array([1 + 2j, -0.5 + 0.3j])
    vjp = _elementwise(lambda z: 2 * z)
    assert _worst(function, lambda z: z * z, vjp, primal, 0) is Decision.FAIL


def test_a_complex_output_of_a_real_input(function):
    def forward(x):
        return np.exp(1j * x)

    def right(primals, cotangents):
        return (np.conj(1j * np.exp(1j * primals[0])) * cotangents[0]).real

    primal = np.array([0.3, 1.2, -0.7])
    assert _worst(function, forward, right, primal, 0) is Decision.PASS
    wrong = lambda p, c: -right(p, c)  # noqa: E731 - one line says it
    assert _worst(function, forward, wrong, primal, 0) is Decision.FAIL


# ---- kinks


def _relu(slope_at_zero):
    def vjp(primals, cotangents):
        x = primals[0]
        return cotangents[0] * np.where(x > 0, 1.0, np.where(x < 0, 0.0, slope_at_zero))

    return vjp


@pytest.mark.parametrize("slope", [0.0, 0.5, 1.0])
def test_at_a_kink_the_gradient_is_checked_nearby(slope, function):
    relu = function(lambda x: np.maximum(x, 0), _relu(slope), (np.zeros(3),))
    judgement = Subject(relu).given
    assert judgement.is_nearby
    assert judgement.worst is Decision.PASS


def test_a_backward_that_is_right_only_at_the_kink_fails(function):
    zero = function(np.abs, _elementwise(np.zeros_like), (np.zeros(2),))
    assert Subject(zero).given.worst is Decision.FAIL


def test_a_value_outside_the_slopes_fails_at_the_kink(function):
    relu = function(lambda x: np.maximum(x, 0), _relu(2.0), (np.zeros(2),))
    judgement = Subject(relu).given
    assert not judgement.is_nearby
    assert judgement.worst is Decision.FAIL


def test_ties_of_a_maximum_share_the_gradient(function):
    def vjp(primals, cotangents):
        ties = primals[0] == primals[0].max()
        return cotangents[0] * ties / ties.sum()

    assert Subject(function(np.max, vjp, (np.array([1.0, 2.0, 2.0]),))).given.worst is Decision.PASS


# ---- shapes and scales


@settings(max_examples=40, deadline=None)
@given(
    shape=st.lists(st.integers(1, 4), max_size=3).map(tuple),
    power=st.floats(-8, 9),
    size=st.floats(-8, 9),
    seed=st.integers(0, 10_000),
)
def test_right_passes_and_wrong_fails_whatever_the_shape_and_scale(
    shape, power, size, seed, function
):
    scale, amplitude = 10.0**power, 10.0**size
    primal = scale * np.random.default_rng(seed).uniform(0.2, 1.3, shape)

    def forward(x):
        return amplitude * np.sin(x / scale)

    def right(primals, cotangents):
        return cotangents[0] * amplitude / scale * np.cos(primals[0] / scale)

    assert _worst(function, forward, right, primal, seed) is Decision.PASS
    for factor in (-1.0, 0.0, 1.00001):
        wrong = lambda p, c, factor=factor: factor * right(p, c)  # noqa: E731 - one line says it
        assert _worst(function, forward, wrong, primal, seed) is Decision.FAIL


def test_integer_arguments_are_never_perturbed(function):
    index = np.array([2, 0, 1])

    def forward(x, index):
        assert np.array_equal(index, [2, 0, 1])
        return x[index]

    def vjp(primals, cotangents):
        gradient = np.zeros(3)
        gradient[primals[1]] = cotangents[0]
        return gradient, None

    subject = Subject(function(forward, vjp, (np.array([1.0, 2.0, 3.0]), index)))
    assert subject.given.worst is Decision.PASS


# ---- beyond the budget


def test_large_inputs_are_checked_along_random_directions(function):
    primal = np.random.default_rng(0).standard_normal(20_000)
    right = Subject(function(np.sin, _elementwise(np.cos), (primal,)))
    assert right.given.worst is Decision.PASS
    assert right.cost.forward < 200
    assert right.cost.backward < 20


def test_a_single_wrong_entry_shows_along_random_directions(function):
    def wrong(primals, cotangents):
        gradient = cotangents[0] * np.cos(primals[0])
        gradient[777] *= 1.1
        return gradient

    primal = np.random.default_rng(0).standard_normal(20_000)
    assert Subject(function(np.sin, wrong, (primal,))).given.worst is Decision.FAIL


@pytest.mark.parametrize("reduce", ["rows", "columns"])
def test_only_one_side_beyond_the_budget(reduce, function):
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((5, 3000) if reduce == "columns" else (3000, 5))
    primal = rng.standard_normal(matrix.shape[1])
    for factor, expected in ((1.0, Decision.PASS), (1.001, Decision.FAIL)):
        vjp = lambda p, c, factor=factor: factor * c[0] @ matrix  # noqa: E731 - one line says it
        assert _worst(function, lambda x: matrix @ x, vjp, primal, 0) is expected


def test_tolerances_do_not_grow_with_size(function):
    def wrong(primals, cotangents):
        return cotangents[0] * np.cos(primals[0]) * (1 + 1e-4)

    for size in (1, 100, 1000, 100_000):
        primal = np.random.default_rng(0).standard_normal(size)
        assert _worst(function, np.sin, wrong, primal, 0) is Decision.FAIL
