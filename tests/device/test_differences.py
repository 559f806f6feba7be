"""NumPy's functions give on a device what NumPy gives, also where CuPy's differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool.device import differences

inf, nan = np.inf, np.nan

SIGNED = np.array([7.0, -7.0, 7.0, -7.0, 6.5, -0.3, 5.0, -5.0, 0.7, 1.0, -1.0, 0.0, inf, nan, -0.0])
DIVISORS = np.array([2.0, 2.0, -2.0, -2.0, 0.4, 7.0, inf, inf, -0.2, 0.0, 0.0, 0.0, 2.0, 2.0, 3.0])


@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_quotients_and_remainders(cupy: Any, name: str) -> None:
    ours = getattr(differences, name)(cupy.asarray(SIGNED), cupy.asarray(DIVISORS)).get()
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(ours, getattr(np, name)(SIGNED, DIVISORS))
    by_number = getattr(differences, name)(cupy.asarray(SIGNED), np.float64(2.5)).get()
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(by_number, getattr(np, name)(SIGNED, 2.5))
    whole = np.array([7, -7, 5]), np.array([2, 2, -3])
    found = getattr(differences, name)(*map(cupy.asarray, whole))
    np.testing.assert_array_equal(found.get(), getattr(np, name)(*whole))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_places_of_the_first_missing_number(cupy: Any, name: str, axis: int | None) -> None:
    numbers = np.array([[1.0, nan, 3.0], [nan, 2.0, nan], [0.0, -1.0, 5.0]])
    found = getattr(differences, name)(cupy.asarray(numbers), axis=axis)
    np.testing.assert_array_equal(found.get(), getattr(np, name)(numbers, axis=axis))


def test_arrays_like_another_of_no_dimensions(cupy: Any) -> None:
    assert differences.zeros_like(cupy.ones(3), ()).shape == ()
    assert float(differences.full_like(cupy.ones(3), 2.5, ()).get()) == 2.5
    assert differences.full_like(cupy.ones(3), 2.5, (2, 1)).shape == (2, 1)


def test_windows_are_views(cupy: Any) -> None:
    numbers = np.arange(24.0).reshape(2, 3, 4)
    found = differences.windows(cupy.asarray(numbers), (2, 3), (1, 2))
    expected = np.lib.stride_tricks.sliding_window_view(numbers, (2, 3), axis=(1, 2))
    np.testing.assert_array_equal(found.get(), expected)


def test_systems_whose_batches_broadcast(cupy: Any) -> None:
    rng = np.random.default_rng(0)
    matrix, right = rng.normal(size=(2, 1, 3, 3)), rng.normal(size=(4, 3, 2))
    found = differences.solved(cupy.asarray(matrix), cupy.asarray(right))
    np.testing.assert_allclose(found.get(), np.linalg.solve(matrix, right))


def test_negative_numbers_as_bytes_wrap() -> None:
    assert differences.as_dtype(np.array([-1.5, 2.5]), np.uint8).tolist() == [255, 2]
