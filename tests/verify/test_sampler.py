"""Batched evaluations: used where they are right, given up where they are not."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from gradtool.verify.oracle.difference_quotients import coordinate_line, sample
from gradtool.verify.oracle.sampler import Sampler
from gradtool.verify.protocol.coordinates import Coordinates
from gradtool.verify.protocol.observation import Stacked

X = np.array([0.3, -1.2, 0.8])
POINTS = [[X + k] for k in range(40)]


class Spy:
    """sin, one point at a time or many at once, and how often."""

    def __init__(self, spoil=lambda values: values, *, batched=True):
        self.alone = self.at_once = 0
        self._spoil = spoil
        self._batched = batched

    def evaluate(self, primals):
        self.alone += 1
        return (np.sin(primals[0]),)

    def evaluate_many(self, primals, stacked):
        self.at_once += 1
        if not self._batched:
            return Stacked((), batched=False, reason="no")
        assert list(stacked) == [True]
        return Stacked((self._spoil(np.sin(primals[0])),), batched=True)

    def sampled(self):
        outputs = Coordinates([X])
        sampler = Sampler(self.evaluate, [X], outputs, None, self.evaluate_many)
        values = np.array(list(sampler.at_many(iter(POINTS), len(POINTS))))
        assert np.array_equal(values, np.sin([point[0] for point in POINTS]))
        return sampler


def test_many_points_take_one_call_and_one_that_is_redone() -> None:
    spy = Spy()
    assert spy.sampled().is_batched
    assert (spy.at_once, spy.alone) == (1, 2)


def _one_wrong(values):
    return values * np.linspace(1.0, 1.1, len(values))[:, None]


def _base_wrong(values):
    values[0] += 1e-9
    return values


def _nothing(values):
    raise ValueError


@pytest.mark.parametrize("spoil", [_one_wrong, _base_wrong, _nothing])
def test_a_batch_that_differs_is_given_up(spoil) -> None:
    spy = Spy(spoil)
    assert not spy.sampled().is_batched
    assert spy.at_once == 1
    assert spy.alone >= 1 + len(POINTS)


def test_what_cannot_be_batched_is_asked_for_one_by_one() -> None:
    spy = Spy(batched=False)
    assert not spy.sampled().is_batched
    assert spy.alone == 1 + len(POINTS)


def test_few_points_are_no_batch() -> None:
    spy = Spy()
    sampler = Sampler(spy.evaluate, [X], Coordinates([X]), None, spy.evaluate_many)
    assert len(list(sampler.at_many(iter(POINTS[:3]), 3))) == 3
    assert spy.at_once == 0


@pytest.mark.parametrize(("known", "calls"), [({}, 3), (None, 5)])
def test_a_line_with_a_memory_is_evaluated_once_at_each_place(known, calls) -> None:
    spy = Spy()
    sampler = Sampler(spy.evaluate, [X], Coordinates([X]), None)
    line = replace(coordinate_line(sampler, 0, 1, 1.0), known=known)
    first = sample([(line, 0.5), (line, -0.5)])
    again = sample([(line, -0.5), (line, 0.5)])
    assert np.array_equal(first[0][1], again[1][1])
    assert spy.alone == calls


def test_no_place_is_no_evaluation() -> None:
    assert sample([]) == []
