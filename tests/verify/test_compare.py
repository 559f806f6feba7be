"""Pass, fail or unverified, entry by entry."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradtool.verify.compare import Decision, decide
from gradtool.verify.estimate import Estimate, Status
from gradtool.verify.tolerance import Tolerance

NAN, INF = math.nan, math.inf


def _decide(analytic, value, error, status=Status.KNOWN, slopes=(NAN, NAN), **options):
    row = [np.array([[x]], dtype=float) for x in (value, error)]
    estimate = Estimate(*row, np.array([[status]], np.int8), *(np.array([[s]]) for s in slopes))
    tolerance = Tolerance(np.array([2.0**-52]), **options)
    return decide(np.array([[analytic]]), estimate, tolerance, [slice(0, 1)])[0, 0]


@pytest.mark.parametrize(
    ("analytic", "value", "error", "expected"),
    [
        (1.0, 1.0, 1e-12, Decision.PASS),
        (1.0 + 5e-7, 1.0, 1e-12, Decision.PASS),
        (1.0 + 2e-6, 1.0, 1e-12, Decision.FAIL),
        (1.0 + 2e-6, 1.0, 1e-5, Decision.PASS),
        (1.0, 1.0, 1e-2, Decision.UNVERIFIED),
        (-1.0, 1.0, 1e-2, Decision.FAIL),
        (-1e-6, 1e-6, 1e-16, Decision.FAIL),
        (NAN, 1.0, 1e-12, Decision.FAIL),
        (INF, 1.0, 1e-12, Decision.FAIL),
    ],
)
def test_a_known_derivative(analytic, value, error, expected):
    assert _decide(analytic, value, error) == expected


def test_given_tolerances():
    assert _decide(1.01, 1.0, 1e-12, rtol=0.1) == Decision.PASS
    assert _decide(1.01, 1.0, 1e-12, atol=0.1) == Decision.PASS
    assert _decide(1.0, 1.0, 1e-2, atol=0.1) == Decision.PASS


@pytest.mark.parametrize(
    ("analytic", "slopes", "expected"),
    [
        (0.0, (0.0, 1.0), Decision.KINK),
        (0.5, (1.0, 0.0), Decision.KINK),
        (1.0, (0.0, 1.0), Decision.KINK),
        (1.1, (0.0, 1.0), Decision.FAIL),
        (-0.1, (0.0, 1.0), Decision.FAIL),
        (0.0, (INF, 0.0), Decision.KINK),
        (-1.0, (0.0, INF), Decision.FAIL),
        (INF, (NAN, INF), Decision.KINK),
        (NAN, (0.0, 1.0), Decision.FAIL),
    ],
)
def test_at_a_kink_a_subgradient_will_do(analytic, slopes, expected):
    assert _decide(analytic, NAN, NAN, Status.KINK, slopes) == expected


@pytest.mark.parametrize(
    ("analytic", "status", "expected"),
    [
        (1.0, Status.UNKNOWN, Decision.UNVERIFIED),
        (1.0, Status.OUTSIDE, Decision.UNVERIFIED),
        (NAN, Status.UNKNOWN, Decision.FAIL),
        (NAN, Status.OUTSIDE, Decision.UNVERIFIED),
        (1.0, Status.STEPPED, Decision.UNVERIFIED),
    ],
)
def test_what_cannot_be_told(analytic, status, expected):
    assert _decide(analytic, NAN, NAN, status) == expected


def test_steps_exclude_what_lies_beyond_their_slope():
    assert _decide(0.5, NAN, NAN, Status.STEPPED, (0.0, 2.0)) == Decision.UNVERIFIED
    assert _decide(-0.5, NAN, NAN, Status.STEPPED, (0.0, 2.0)) == Decision.FAIL


def test_the_scale_is_that_of_the_block():
    value = np.array([[1e6, 1.0], [1.0, 1.0]])
    nothing = np.full((2, 2), NAN)
    known = np.zeros((2, 2), np.int8)
    estimate = Estimate(value, np.full((2, 2), 1e-1), known, nothing, nothing)
    tolerance = Tolerance(np.full(2, 2.0**-52))
    together = decide(value, estimate, tolerance, [slice(0, 2)])
    apart = decide(value, estimate, tolerance, [slice(0, 1), slice(1, 2)])
    assert together.tolist() == [[Decision.PASS] * 2] * 2
    assert apart.tolist() == [[Decision.PASS] * 2, [Decision.UNVERIFIED] * 2]
