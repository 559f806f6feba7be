"""Runs per sample fill a window, and subjects are sampled in turn until they are done."""

from __future__ import annotations

import itertools

import pytest

from gradtool.measure.sampling import runs_per_sample, sample_in_turn


@pytest.mark.parametrize(
    ("each", "least", "most"), [(1e-6, 100, 150), (30e-6, 4, 5), (1e-3, 1, 1), (1e-9, 1e5, 2e5)]
)
def test_a_sample_fills_the_window(each: float, least: float, most: float) -> None:
    assert least <= runs_per_sample(lambda count: count * each) <= most


def test_what_takes_no_time_ends_too() -> None:
    runs = []

    def run(count: int) -> float:
        runs.append(count)
        return 0.0 if len(runs) < 50 else 1.0

    assert runs_per_sample(run) == 1_000_000


def test_it_is_warm_before_it_counts() -> None:
    spent = itertools.accumulate(itertools.repeat(2e-3))
    runs = []

    def run(count: int) -> float:
        runs.append(next(spent))
        return 2e-3

    assert runs_per_sample(run) == 1
    assert runs[-1] == pytest.approx(10e-3)


class Subject:
    def __init__(self, name: str, wanted: int, log: list[str]) -> None:
        self.name, self.wanted, self.log = name, wanted, log

    def take(self) -> None:
        self.log.append(self.name)

    def done(self) -> bool:
        return self.log.count(self.name) >= self.wanted


def test_subjects_are_taken_in_turn() -> None:
    log: list[str] = []
    subjects = [Subject("a", 2, log), Subject("b", 3, log), Subject("c", 0, log)]
    assert sample_in_turn(subjects, seconds=1.0, clock=lambda: 0)
    assert "".join(log) == "ababb"


def test_the_time_ends_it() -> None:
    log: list[str] = []
    readings = itertools.count(0, 10**9)
    subjects = [Subject("a", 100, log), Subject("b", 100, log)]
    assert not sample_in_turn(subjects, seconds=4.0, clock=lambda: next(readings))
    assert "".join(log) == "aba"
    assert not sample_in_turn(subjects, seconds=-1.0, clock=lambda: 0)


def test_a_budget_longer_than_clocks_go_is_none() -> None:
    assert sample_in_turn([Subject("a", 2, [])], seconds=1e308)
