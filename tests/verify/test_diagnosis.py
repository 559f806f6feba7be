"""The mistake is named, and only when it explains every entry."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.verify.examine import examine

RNG = np.random.default_rng(5)
X, SQUARE = RNG.standard_normal((2, 3)), RNG.standard_normal((3, 3))


def _hint(subject, flaw=0):
    (outcome,) = examine(subject, codes=["GT101"])[0]
    return outcome.flaws[flaw].hint


def _sine(factor):
    return lambda p, c: factor * c[0] * np.cos(p[0])


@pytest.mark.parametrize(
    ("vjp", "words"),
    [
        (_sine(-1), "has the wrong sign"),
        (_sine(0), "is zero everywhere"),
        (_sine(2), "is the derivative times 2"),
        (_sine(-0.5), "is the derivative times -1/2"),
        (_sine(1 / 6), "is the derivative times 1/6"),
        (_sine(0.7213), "is the derivative times 0.7213"),
        (lambda p, c: np.cos(p[0]), "does not depend on grad_output"),
    ],
)
def test_mistakes_in_one_input(vjp, words, function):
    hint = _hint(function(np.sin, vjp, (X,)))
    assert hint.startswith(f"the gradient of `x` {words}")
    assert "(fits every entry " in hint


def test_a_gradient_that_overflows(function):
    def vjp(primals, cotangents):
        with np.errstate(all="ignore"):
            return (cotangents[0] / np.sqrt(primals[0] ** 2) * primals[0],)

    hint = _hint(function(np.abs, vjp, (np.full((2, 3), 1e-200),)))
    assert "is not finite: a square, exponential or quotient in backward" in hint


def test_a_forgotten_cotangent_of_a_single_output(function):
    hint = _hint(function(lambda x: np.sin(x).sum(), lambda p, c: np.cos(p[0]), (X,)))
    assert "does not depend on grad_output" in hint


def test_a_transpose(function):
    def vjp(primals, cotangents):
        (a,), (g,) = primals, cotangents
        return (g @ a.T + a.T @ g).T

    assert "is the transpose of the derivative" in _hint(function(lambda a: a @ a, vjp, (SQUARE,)))


def test_swapped_inputs(function):
    subject = function(
        lambda x, y: x * y, lambda p, c: (c[0] * p[0], c[0] * p[1]), (X, X + 2), names=["x", "y"]
    )
    assert "the gradient of `x` is that of `y`" in _hint(subject, 0)
    assert "the gradient of `y` is that of `x`" in _hint(subject, 1)


def test_what_does_not_fit_everywhere_is_not_named(function):
    def vjp(primals, cotangents):
        gradient = -cotangents[0] * np.cos(primals[0])
        gradient[0, 0] *= 1.001
        return gradient

    assert "which no single mistake explains" in _hint(function(np.sin, vjp, (X,)))


def test_along_random_directions_too(function):
    x = np.random.default_rng(0).standard_normal(5000)
    assert "has the wrong sign" in _hint(function(np.sin, _sine(-1), (x,)))


def test_swapped_inputs_that_are_broadcast(function):
    subject = function(
        lambda x, y: x * y,
        lambda p, c: (c[0] * p[0], (c[0] * p[1]).sum(axis=0)),
        (X, X[0] + 2),
        names=["x", "y"],
    )
    assert "the gradient of `x` is that of `y`" in _hint(subject, 0)
    assert "the gradient of `y` is that of `x`" in _hint(subject, 1)


def _softmax(x):
    return np.exp(x) / np.exp(x).sum()


@pytest.mark.parametrize(
    ("forward", "vjp", "words"),
    [
        (
            np.cumsum,
            lambda p, c: np.cumsum(c[0]),
            "uses the derivative where its transpose is needed",
        ),
        (_softmax, lambda p, c: c[0] * _softmax(p[0]) * (1 - _softmax(p[0])), "only the diagonal"),
        (np.sin, lambda p, c: c[0] * np.cos(np.sin(p[0])), "is the derivative at the output"),
        (lambda x: x[::-1].copy(), lambda p, c: c[0], "flipped along dim 0"),
        (np.sin, lambda p, c: c[0] * np.cos(p[0]) * [1, 1, 1, 1, 0], "in the last slice along dim"),
        (np.sin, lambda p, c: c[0] * np.cos(p[0]) * (1 + 1e-5 * p[0]), "lower precision"),
    ],
)
def test_mistakes_in_a_vector(forward, vjp, words, function):
    x = np.array([0.5, -1.25, 0.75, -0.25, 1.0])
    assert words in _hint(function(forward, vjp, (x,)))


def test_a_mean_for_a_sum(function):
    subject = function(
        lambda b: np.broadcast_to(b, (7, 3)) * 1.0, lambda p, c: c[0].mean(axis=0), (X[0],)
    )
    assert "times 1/7: a mean instead of a sum?" in _hint(subject)


def test_a_sum_over_broadcast_dims_that_takes_one_term(function):
    subject = function(lambda b: np.broadcast_to(b, (7, 3)) * 1.0, lambda p, c: c[0][0], (X[0],))
    assert "uses grad_output only in the first slice along dim 0" in _hint(subject)


@pytest.mark.parametrize(
    ("slope", "words"),
    [
        (1.0, "is right only where `x` > 0; the rest is the derivative times 10"),
        (0.0, "is right only where `x` > 0; the rest is zero"),
        (-0.1, "is right only where `x` > 0; the rest has the wrong sign"),
    ],
)
def test_a_forgotten_branch(slope, words, function):
    x = np.array([0.5, -1.25, 0.75, -0.25, 1.0])
    subject = function(
        lambda x: np.where(x > 0, x, 0.1 * x),
        lambda p, c: c[0] * np.where(p[0] > 0, 1.0, slope),
        (x,),
    )
    hint = _hint(subject)
    assert words in hint
    assert "did you forget a mask or branch?" in hint


def test_a_part_of_which_nothing_is_known_claims_no_fit(function):
    x = np.array([0.5, -1.25, 0.75, -0.25, 1.0])
    vjp = lambda p, c: c[0] * np.where(p[0] > 0, np.cos(p[0]), p[0])  # noqa: E731 - as in tables
    hint = _hint(function(np.sin, vjp, (x,)))
    assert "is right only where `x` > 0: did you" in hint
    assert "fits" not in hint


def test_a_mask_that_is_an_argument(function):
    mask = np.array([True, False, False, True, False])
    subject = function(
        lambda x, m: np.where(m, 0.0, x), lambda p, c: (c[0], None), (np.arange(1.0, 6.0), mask)
    )
    assert "is right except where `x1` is True" in _hint(subject)


def test_the_smaller_of_two_gets_a_gradient_too(function):
    x, y = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([2.0, 1.0, 4.0, 3.0, 6.0])
    subject = function(np.maximum, lambda p, c: (c[0], c[0]), (x, y), names=["x", "y"])
    assert "is right only where `x` > `y`" in _hint(subject, 0)


def test_outputs(function):
    def both(x):
        return np.sin(x), np.exp(x)

    def first_only(primals, cotangents):
        return cotangents[0] * np.cos(primals[0])

    def crossed(primals, cotangents):
        return cotangents[1] * np.cos(primals[0]) + cotangents[0] * np.exp(primals[0])

    assert "ignores the cotangent of output 1" in _hint(function(both, first_only, (X,)))
    assert "swaps the cotangents of outputs 0 and 1" in _hint(function(both, crossed, (X,)))


def test_complex_conjugates(function):
    z = X + 1j * X[::-1]
    assert ".conj()" in _hint(function(lambda z: z * z, lambda p, c: c[0] * 2 * p[0], (z,)))
    right = lambda p, c: np.conj(c[0] * np.conj(2 * p[0]))  # noqa: E731 - as in tables
    assert "is the conjugate of the right gradient" in _hint(function(lambda z: z * z, right, (z,)))


def test_a_few_entries_right_by_chance_are_not_made_a_region(function):
    x = np.linspace(1.0, 2.0, 101) * np.where(np.arange(101) % 2, 1, -1)
    x[50] = 1e-9
    subject = function(np.sin, lambda p, c: c[0] * np.cos(p[0]) ** 2, (x,))
    assert "where" not in (_hint(subject) or "")


POSITIVE = np.abs(X) + 0.5


@pytest.mark.parametrize(
    ("forward", "vjp", "words"),
    [
        (lambda x: x**3, lambda p, c: 3 * c[0] * p[0] ** 3, "is the derivative times `x`:"),
        (
            lambda x: np.exp(-(x**2)),
            lambda p, c: c[0] * np.exp(-(p[0] ** 2)),
            "is the derivative times -1/2 / `x`:",
        ),
        (
            lambda x: np.tanh(x),
            lambda p, c: c[0] * (1 - np.tanh(p[0])),
            "is the derivative times 1 / (1 + output):",
        ),
        (
            lambda x: x * np.exp(x),
            lambda p, c: c[0] * p[0] * np.exp(p[0]),
            "is missing the term output / `x`",
        ),
        (
            lambda x: np.exp(x) - 0.125 * x,
            lambda p, c: c[0] * np.exp(p[0]),
            "is missing the term -1/8, the same in each entry",
        ),
    ],
)
def test_a_forgotten_factor_or_term(forward, vjp, words, function):
    hint = _hint(function(forward, vjp, (POSITIVE,)))
    assert hint.startswith(f"the gradient of `x` {words}")
    assert "(fits every entry " in hint


def test_a_factor_made_of_a_number_among_the_arguments(function):
    def vjp(primals, cotangents):
        (x, share), (g,) = primals, cotangents
        return share * (1 - share) * g, (g * x).sum() * np.ones(())

    subject = function(lambda x, share: share * x, vjp, (X, np.array(0.3)), names=["x", "share"])
    assert "times 7/10, that is, 1 - `share` (fits" in _hint(subject)


def test_another_arguments_power(function):
    def vjp(primals, cotangents):
        (a, b), (g,) = primals, cotangents
        return g / b, -g * a / b

    subject = function(lambda a, b: a / b, vjp, (X, POSITIVE), names=["a", "b"])
    assert "the gradient of `b` is the derivative times `b`:" in _hint(subject)


def test_a_transposed_cotangent(function):
    def vjp(primals, cotangents):
        return cotangents[0].sum(1), cotangents[0]

    subject = function(lambda b, x: x + b, vjp, (SQUARE[0], SQUARE), names=["bias", "x"])
    assert "uses grad_output transposed" in _hint(subject)


def test_a_factor_of_its_own_for_each_output(function):
    matrix = RNG.standard_normal((3, 4))

    def vjp(primals, cotangents):
        return (np.array([1.0, 2.0, 4.0]) * cotangents[0]) @ matrix

    hint = _hint(function(lambda x: matrix @ x, vjp, (RNG.standard_normal(4),)))
    assert "has an extra factor for each entry of grad_output, between 1 and 4" in hint


def test_a_norm_taken_for_a_constant(function):
    def vjp(primals, cotangents):
        return cotangents[0] / primals[0].std()

    hint = _hint(function(lambda x: (x - x.mean()) / x.std(), vjp, (RNG.standard_normal(4),)))
    assert "leaves out 12 of 16 entries of the Jacobian" in hint


def test_a_mean_over_the_cotangent(function):
    def vjp(primals, cotangents):
        return np.broadcast_to(cotangents[0].mean(), (4,)) * 2 * primals[0]

    hint = _hint(function(lambda x: x**2, vjp, (RNG.standard_normal(4),)))
    assert "uses the mean of grad_output over all its entries instead of" in hint


def test_a_sum_along_the_wrong_dim(function):
    def vjp(primals, cotangents):
        (cotangent,) = cotangents
        return 3 * cotangent * np.exp(primals[0]) + np.roll(cotangent, 1)

    hint = _hint(function(lambda x: x**2, vjp, (RNG.standard_normal(4),)))
    assert "is not zero in 4 of 16 entries of the Jacobian where the derivative is zero" in hint


def test_what_has_no_name_is_said_in_sizes(function):
    vjp = lambda p, c: c[0] * (np.cos(p[0]) + np.exp(p[0]))  # noqa: E731 - as the others here
    assert "times the derivative, which no single mistake explains" in _hint(
        function(np.sin, vjp, (X,))
    )


def test_a_size_that_is_rounding_is_zero(function):
    factors = np.array([1e-17, 0.7, 2.0, -1.3])
    vjp = lambda p, c: c[0] * np.cos(p[0]) * factors * [-1, 1, 1, 1]  # noqa: E731 - as above
    hint = _hint(function(np.sin, vjp, (np.array([0.3, -0.4, 0.5, 0.2]),)))
    assert "e-17" not in hint


def test_a_factor_of_one_branch(function):
    target = np.array([1.1, 0.3, -0.8, 0.4, -1.2, 0.9])
    x = target + np.array([0.2, -0.9, 0.7, -0.3, 1.4, 0.1])

    def huber(x):
        d = x - target
        return np.where(np.abs(d) <= 0.5, d * d / 2, 0.5 * np.abs(d) - 0.125)

    def vjp(primals, cotangents):
        d = primals[0] - target
        return cotangents[0] * np.where(np.abs(d) <= 0.5, d, np.sign(d))

    hint = _hint(function(huber, vjp, (x,)))
    assert "is right in 3 of 6 entries and is the derivative times 2 in the others" in hint, hint
