"""Pass, fail or unverified, entry by entry."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradtool.verify.comparison.compare import (
    Decision,
    decide,
    is_below_rounding_floor,
    is_unresolved,
)
from gradtool.verify.comparison.tolerance import Tolerance
from gradtool.verify.oracle.estimate import Estimate, Status

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


def test_a_second_derivative_may_be_what_an_operation_leaves_out():
    options = {"cancels": True, "largest": 2.5}
    assert _decide(4e-12, 0.0, 1e-20, **options) == Decision.FAIL
    assert _decide(4e-12, 0.0, 1e-20, left_out=4e-9, **options) == Decision.PASS
    assert _decide(4e-8, 0.0, 1e-20, left_out=4e-9, **options) == Decision.FAIL


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


def _estimate(values, errors, status=Status.KNOWN, slope=NAN):
    """One row of entries that all have the same status."""
    shape = (1, len(values))
    return Estimate(
        np.array([values], dtype=float),
        np.array([errors], dtype=float),
        np.full(shape, status, np.int8),
        np.full(shape, 0.0 if status == Status.STEPPED else NAN),
        np.full(shape, slope),
    )


def _unresolved(analytic, estimate, decisions, rounding_floor=1e-6):
    row = np.array([analytic], dtype=float)
    decision = np.array([decisions], np.int8)
    return is_unresolved(row, estimate, np.full(row.shape, rounding_floor), decision)[0].tolist()


@pytest.mark.parametrize(
    ("beside", "decided", "expected"),
    [
        (0.7, Decision.PASS, True),
        (0.0, Decision.PASS, False),
        (0.7, Decision.FAIL, False),
        (0.7, Decision.KINK, False),
    ],
)
def test_an_entry_below_the_roundings_is_let_go_beside_one_that_was_told(beside, decided, expected):
    estimate = _estimate([1e-8, beside], [5e-7, 1e-12])
    found = _unresolved([1e-8, beside], estimate, [Decision.UNVERIFIED, decided])
    assert found == [expected, False]


@pytest.mark.parametrize(
    ("analytic", "value", "error", "expected"),
    [
        (4e-6, 4e-6, 3.9e-7, True),
        (4e-6, 4e-6, 4.1e-7, False),
        (4e-5, 4e-5, 1.1e-6, False),
        (4e-13, 4e-13, 5e-13, True),
        (4e-13, 4e-13, 7e-13, False),
        (2e-12, 4e-13, 5e-13, False),
    ],
)
def test_an_entry_alone_must_be_told_roughly_or_be_next_to_nothing(
    analytic, value, error, expected
):
    estimate = _estimate([value], [error])
    assert _unresolved([analytic], estimate, [Decision.UNVERIFIED]) == [expected]


@pytest.mark.parametrize("decision", [Decision.PASS, Decision.KINK, Decision.FAIL])
def test_what_is_decided_is_not_let_go(decision):
    estimate = _estimate([1e-8, 0.7], [5e-7, 1e-12])
    found = _unresolved([1e-8, 0.7], estimate, [decision, Decision.PASS])
    assert found == [False, False]


def test_what_nothing_is_known_of_is_not_let_go():
    for status in (Status.UNKNOWN, Status.OUTSIDE):
        estimate = _estimate([NAN, 0.7], [NAN, 1e-12], status)
        found = _unresolved([1e-8, 0.7], estimate, [Decision.UNVERIFIED, Decision.PASS])
        assert found == [False, False]


@pytest.mark.parametrize(("slope", "expected"), [(9e-7, True), (1.1e-6, False)])
def test_of_steps_the_slope_is_what_is_not_known(slope, expected):
    estimate = _estimate([NAN, 0.7], [NAN, 1e-12], Status.STEPPED, slope)
    found = _unresolved([1e-8, 0.7], estimate, [Decision.UNVERIFIED, Decision.PASS])
    assert found == [expected, False]


@pytest.mark.parametrize(
    ("analytic", "value", "error", "expected"),
    [
        (9e-7, 5e-7, 4e-7, True),
        (1.1e-6, 5e-7, 4e-7, False),
        (9e-7, 7e-7, 4e-7, False),
        (0.0, 0.0, 9e-7, True),
        (0.0, -1.1e-6, 0.0, False),
        (0.0, NAN, NAN, False),
        (NAN, 0.0, 0.0, False),
        (INF, 0.0, 0.0, False),
    ],
)
def test_a_trifle_is_one_on_both_sides(analytic, value, error, expected):
    rounding_floor = np.full((1, 1), 1e-6)
    found = is_below_rounding_floor(
        np.array([[analytic]]), _estimate([value], [error]), rounding_floor
    )
    assert found.tolist() == [[expected]]


@pytest.mark.parametrize(("slope", "expected"), [(9e-7, True), (1.1e-6, False)])
def test_steps_are_a_trifle_by_their_slope(slope, expected):
    rounding_floor = np.full((1, 1), 1e-6)
    estimate = _estimate([NAN], [NAN], Status.STEPPED, slope)
    assert is_below_rounding_floor(np.zeros((1, 1)), estimate, rounding_floor).tolist() == [
        [expected]
    ]
