"""Larger values for a forward that iterates: a matrix that contracts still does."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.explore.point import Point
from gradtool.explore.variants.values import larger


@pytest.mark.parametrize(
    ("norm", "scales"), [(0.2, [4.75, 4, 2]), (0.3, [3.17, 2]), (0.6, [1.58]), (3.0, [4, 2])]
)
def test_a_norm_below_one_stays_below_one(norm: float, scales: list[float]) -> None:
    matrix = norm * np.array([[0.6, 0.8], [-0.8, 0.6]]) + np.array([[0.0, 1e-6], [0.0, 0.0]])
    point = Point(("weight",), (matrix,), (0,), frozenset({0}), 1, "cpu")
    found = [each.point.values[0] / matrix for each in larger(point, 1.0)]
    assert [round(float(np.median(each)), 2) for each in found] == scales
