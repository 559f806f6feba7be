"""The ratio of two samples has an interval, which is the same for the same samples."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.measure.bootstrap import ratio


def normal(median: float, spread: float, seed: int, n: int = 30) -> list[float]:
    rng = np.random.default_rng(seed)
    return list(median * (1 + spread * rng.standard_normal(n)))


def test_a_clear_difference_is_one() -> None:
    found = ratio(normal(1.0, 0.02, 1), normal(2.0, 0.02, 2))
    assert found.verdict == "faster"
    assert found.value == pytest.approx(0.5, rel=0.05)
    assert found.low <= found.value <= found.high < 1
    assert ratio(normal(2.0, 0.02, 2), normal(1.0, 0.02, 1)).verdict == "slower"


def test_the_same_samples_do_not_differ() -> None:
    same = normal(1.0, 0.2, 3)
    assert ratio(same, same).verdict == "no difference"
    assert ratio(same, same) == ratio(same, same)


def test_equal_distributions_are_told_apart_about_as_often_as_promised() -> None:
    wrong = sum(
        ratio(normal(1.0, 0.1, 2 * seed), normal(1.0, 0.1, 2 * seed + 1)).verdict
        in {"faster", "slower"}
        for seed in range(100)
    )
    assert wrong <= 12


def test_nothing_compares_with_nothing() -> None:
    with pytest.raises(ValueError, match="no samples to compare"):
        ratio([], [1.0])
