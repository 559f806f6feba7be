"""The largest elements and medians that are found by a partition, beside those of a whole sort."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtool.engine as torch

_RANDOM = np.random.default_rng(0)
_DISTINCT = _RANDOM.permutation(120).reshape(2, 3, 20)
ARRAYS = {
    "distinct": _DISTINCT.astype(np.float64),
    "integers": _DISTINCT,
    "unsigned": _DISTINCT.astype(np.uint8),
    "single": _DISTINCT.astype(np.float32),
    "equal elements": (_DISTINCT % 7).astype(np.float64),
    "infinite": np.where(_DISTINCT == 119, np.inf, _DISTINCT),
    "nan": np.where(_DISTINCT == 60, np.nan, _DISTINCT),
    "columns": np.asfortranarray(_DISTINCT.astype(np.float64)),
}


def _sorted_places(array: Any, *, largest: bool) -> Any:
    """Places in order, equal elements in theirs; NaN is the largest."""
    if not largest:
        return np.argsort(array, axis=-1, kind="stable")
    return array.shape[-1] - 1 - np.argsort(array[..., ::-1], axis=-1, kind="stable")[..., ::-1]


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("largest", [True, False])
def test_topk_finds_the_first_places_of_a_stable_sort(name: str, k: int, largest: bool) -> None:
    array = ARRAYS[name]
    values, places = torch.tensor(array).topk(k, -1, largest)
    expected = _sorted_places(array, largest=largest)[..., :k]
    taken = np.take_along_axis(array, expected, -1)
    np.testing.assert_array_equal(values.numpy(), taken)
    if name != "equal elements":  # of which any may be found
        np.testing.assert_array_equal(places.numpy(), expected)


@pytest.mark.parametrize("name", ARRAYS)
def test_median_is_the_lower_middle_of_a_stable_sort(name: str) -> None:
    array = ARRAYS[name]
    values, places = torch.tensor(array).median(-1)
    expected = _sorted_places(array, largest=False)[..., [(array.shape[-1] - 1) // 2]]
    if name == "nan":
        missing = np.isnan(array)
        first = missing.argmax(-1)[..., None]
        expected = np.where(missing.any(-1, keepdims=True), first, expected)
    np.testing.assert_array_equal(places.numpy(), expected[..., 0])
    found = np.take_along_axis(array, expected, -1)[..., 0]
    np.testing.assert_array_equal(values.numpy(), found)
