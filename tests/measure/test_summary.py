"""Medians, quartiles, and how far they are to be trusted."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtool.measure.sampling import StopRule
from gradtool.measure.summary import summarize

TIMES = st.lists(st.floats(1e-9, 1e3), min_size=2, max_size=50)


@given(TIMES)
def test_median_and_quartiles_are_those_of_the_standard_library(times: list[float]) -> None:
    found = summarize(times)
    p25, median, p75 = statistics.quantiles(times, n=4, method="inclusive")
    assert found.median == pytest.approx(median)
    assert found.p25 == pytest.approx(p25)
    assert found.p75 == pytest.approx(p75)
    assert found.n == len(times)
    assert found.p25 <= found.median <= found.p75


def test_one_sample_is_its_own_summary() -> None:
    found = summarize([2.0])
    assert (found.p25, found.median, found.p75, found.n) == (2.0, 2.0, 2.0, 1)
    with pytest.raises(ValueError, match="no samples"):
        summarize([])


@pytest.mark.parametrize(
    ("spread", "trust"), [(0.02, ""), (0.09, ""), (0.12, "noisy"), (0.3, "do not use")]
)
def test_a_wide_range_is_said(spread: float, trust: str) -> None:
    times = [1 - spread, 1 - spread / 2, 1, 1 + spread / 2, 1 + spread]
    assert summarize(times).trust == trust
    assert summarize(times[:4]).trust == "do not use"


def test_when_samples_are_enough() -> None:
    rule = StopRule(least=15, most=40, spread=0.05)
    assert not rule.satisfied([1.0] * 14)
    assert rule.satisfied([1.0] * 15)
    noisy = [1.0, 2.0] * 10
    assert not rule.satisfied(noisy)
    assert rule.satisfied(noisy * 2)
