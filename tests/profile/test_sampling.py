"""Sampling of a phase by a clock that a test moves, and what a run takes."""

from __future__ import annotations

import numpy as np
import pytest

import gradtool.engine as torch
from gradtool.measure.sampling import sample_in_turn
from gradtool.profile.phases import Runnable
from gradtool.profile.sampling import SampledPhase, operations_of, peak_memory


class Work:
    """Takes as many nanoseconds as it is set to, on a clock of its own."""

    def __init__(self, *steps: int) -> None:
        self.now = self.runs = self.prepared = 0
        self._steps = steps

    def clock(self) -> int:
        return self.now

    def run(self, _prepared: object) -> None:
        self.now += self._steps[self.runs % len(self._steps)]
        self.runs += 1

    def prepare(self) -> tuple[()]:
        self.now += 1_000_000
        self.prepared += 1
        return ()

    def phase(self, *, reusable: bool = True) -> SampledPhase:
        runnable = Runnable("forward", self.run, self.prepare, reusable)
        return SampledPhase(runnable, "cpu", self.clock)


def test_a_sample_fills_the_window_and_preparing_is_not_timed() -> None:
    work = Work(1000)
    phase = work.phase()
    assert phase.batch * 1000 >= 100_000
    phase.take()
    assert phase.samples == [pytest.approx(1e-6)]


def test_it_is_done_after_fifteen_samples_that_agree() -> None:
    work = Work(200_000)
    phase = work.phase()
    assert sample_in_turn([phase], seconds=10, clock=work.clock)
    assert len(phase.samples) == 15


def test_the_budget_ends_what_never_agrees() -> None:
    work = Work(2_000_000, 9_000_000)
    phase = work.phase()
    assert not sample_in_turn([phase], seconds=1, clock=work.clock)
    assert 15 < len(phase.samples) < 200
    assert phase.phase().time.trust == "do not use"


def test_what_is_changed_by_a_run_is_prepared_for_each() -> None:
    work = Work(10)
    phase = work.phase(reusable=False)
    before = work.prepared
    for _ in range(4):
        phase.take()
    assert (phase.batch, work.prepared - before) == (1, 4)


def test_a_phase_without_a_sample_says_why() -> None:
    found = Work(200_000).phase().phase()
    assert (found.time, found.unavailable) == (None, "the budget ran out before the first sample")


def test_peak_memory_is_that_of_one_run() -> None:
    def run(_prepared: object) -> np.ndarray:
        ones = np.ones(100_000)
        return (ones + ones)[:1]

    peak = peak_memory(Runnable("forward", run), "cpu")
    assert peak is not None
    assert 1_600_000 <= peak < 1_700_000


def test_operations_come_with_the_costliest_first() -> None:
    x = torch.ones(300, 300)
    found = operations_of(Runnable("forward", lambda _prepared: (x.mm(x), x[0].exp())))
    assert found[0].name == "aten::mm"
    assert {each.name: each.calls for each in found}["aten::exp"] == 1
    assert [each.own for each in found] == sorted((each.own for each in found), reverse=True)
