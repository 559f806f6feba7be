"""A function of float32 is sampled in float64, if it is the same function there."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.verify.comparison.compare import Decision
from gradtool.verify.oracle.sampler import widened
from gradtool.verify.protocol.coordinates import Coordinates
from gradtool.verify.subject import Subject

X = np.random.default_rng(0).standard_normal(40).astype(np.float32)


def _refuses(primals):
    if primals[0].dtype != np.float32:
        raise TypeError("expected float32")
    return (np.sin(primals[0]),)


def _differs(primals):
    return (np.sin(primals[0]) if primals[0].dtype == np.float32 else np.cos(primals[0]),)


def _casts(primals):
    return (np.sin(primals[0].astype(np.float32)),)


def test_the_same_function_is_sampled_in_double_precision():
    (wide,) = widened(lambda primals: (np.sin(primals[0]),), [X], Coordinates([X]))
    assert wide.dtype == np.float64
    assert np.array_equal(wide, X)


@pytest.mark.parametrize("evaluate", [_refuses, _differs, _casts])
def test_another_function_is_not(evaluate):
    assert widened(evaluate, [X], Coordinates([X])) is None


def test_double_precision_needs_none():
    wide = X.astype(np.float64)
    assert widened(lambda primals: (primals[0],), [wide], Coordinates([wide])) is None


@pytest.mark.parametrize("evaluate", [lambda primals: (np.sin(primals[0]),), _refuses, _casts])
@pytest.mark.parametrize(("factor", "expected"), [(1, Decision.PASS), (1.02, Decision.FAIL)])
def test_either_way_right_passes_and_wrong_fails(evaluate, factor, expected, function):
    subject = function(lambda x: evaluate([x])[0], lambda p, c: factor * c[0] * np.cos(p[0]), (X,))
    assert Subject(subject).given.worst is expected


def test_what_single_precision_cannot_resolve_is_not_blamed(function):
    saturated = np.array([8.5, 7.9, -8.1, 0.5], dtype=np.float32)

    def vjp(primals, cotangents):
        y = np.tanh(primals[0])
        return cotangents[0] * (1 - y * y)

    assert Subject(function(np.tanh, vjp, (saturated,))).given.worst is Decision.PASS
