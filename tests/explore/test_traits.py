"""Arrays of another shape that keep the traits of an array."""

from __future__ import annotations

import numpy as np

from gradtool.explore.traits import reshaped


def test_a_larger_matrix_of_whole_numbers_stays_regular() -> None:
    made = reshaped(2 * np.eye(3), (4, 4), np.random.default_rng(0))
    assert made is not None
    assert np.linalg.cond(made) < 10
