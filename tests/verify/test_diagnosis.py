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
    assert "(fits every entry to " in hint


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

    assert _hint(function(np.sin, vjp, (X,))) is None


def test_along_random_directions_too(function):
    x = np.random.default_rng(0).standard_normal(5000)
    assert "has the wrong sign" in _hint(function(np.sin, _sine(-1), (x,)))
