"""Differences with one absolute step, as torch's gradcheck takes them."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.verify.oracle.fixed_step import numeric_jacobian, outside, projected_derivative
from gradtool.verify.protocol.coordinates import Coordinates

X = np.array([[0.3, -1.2], [0.8, 2.0]])


def test_rows_are_outputs_and_columns_inputs():
    matrix = np.arange(12.0).reshape(3, 4)
    jacobian = numeric_jacobian(lambda p: (matrix @ p[0].ravel(),), [X], 0, 1e-6)
    assert jacobian == pytest.approx(matrix, abs=1e-8)


def test_outputs_follow_each_other():
    jacobian = numeric_jacobian(lambda p: (np.sin(p[0]), p[0].sum()), [X], 0, 1e-6)
    assert jacobian.shape == (5, 4)
    assert jacobian[4] == pytest.approx(np.ones(4))


def test_the_other_primals_stay():
    jacobian = numeric_jacobian(lambda p: (p[0] * p[1],), [X, 3 * X], 1, 1e-6)
    assert np.diag(jacobian) == pytest.approx(X.ravel())


def test_complex_numbers_have_two_coordinates():
    z = np.array([1 + 2j])
    jacobian = numeric_jacobian(lambda p: (p[0] * p[0],), [z], 0, 1e-6)
    assert jacobian == pytest.approx(np.array([[2.0, -4.0], [4.0, 2.0]]), abs=1e-8)


def test_the_step_is_absolute():
    tiny = np.array([1e-9])
    jacobian = numeric_jacobian(lambda p: (np.sqrt(np.abs(p[0])),), [tiny], 0, 1e-6)
    assert jacobian[0, 0] < 100


def test_nothing_is_changed_and_what_is_raised_passes():
    x = X.copy()

    def forward(primals):
        if primals[0][0, 0] > 0.3:
            raise ValueError("too far")
        return (primals[0],)

    with pytest.raises(ValueError, match="too far"):
        numeric_jacobian(forward, [x], 0, 1e-6)
    assert np.array_equal(x, X)


def test_along_a_direction():
    direction = np.array([[1.0, 0.0], [2.0, 0.0]])
    along = projected_derivative(lambda p: (p[0] ** 2,), Coordinates([X]), [X], [direction], 1e-6)
    assert along == pytest.approx((2 * X * direction).ravel(), abs=1e-8)


def test_tolerances_as_allclose_means_them():
    analytic, numeric = np.array([[1.0, 1.1, np.nan]]), np.array([[1.0, 1.0, np.nan]])
    assert outside(analytic, numeric, atol=1e-5, rtol=1e-3).tolist() == [[False, True, True]]
    assert outside(analytic, numeric, atol=0.2, rtol=0).tolist() == [[False, False, True]]
    infinite = np.array([[np.inf]])
    assert not outside(infinite, infinite, atol=0, rtol=0).any()
