"""Runs per sample fill a window, and subjects are sampled in turn until they are done."""

from __future__ import annotations

import itertools

import pytest

from gradtool.measure.sampling import runs_per_sample, sample_in_turn


@pytest.mark.parametrize(
    ("each", "count"),
    [(1e-6, 512), (18e-6, 32), (19e-6, 16), (300e-6, 1), (0.1, 1), (1e-9, 1 << 19)],
)
def test_a_sample_fills_the_window_with_a_power_of_two(each: float, count: int) -> None:
    assert runs_per_sample(lambda runs: runs * each) == count


def test_a_cold_start_does_not_decide_the_number_of_runs() -> None:
    cold = itertools.chain([20e-3], itertools.repeat(0.0))
    assert runs_per_sample(lambda runs: next(cold) + runs * 1e-4) == 4


def test_what_takes_no_time_ends_too() -> None:
    runs = []

    def run(count: int) -> float:
        runs.append(count)
        return 0.0 if len(runs) < 5 else 1e-12

    assert runs_per_sample(run) == 1 << 20


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
