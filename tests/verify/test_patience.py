"""Explanations are sought for a limited time, and findings do without one after that."""

from __future__ import annotations

import itertools
import time

import pytest

from gradtool.verify.diagnosis import patience
from gradtool.verify.diagnosis.patience import limited_patience, patiently, without_patience


def test_all_is_tried_without_a_limit() -> None:
    assert list(patiently(range(5))) == [0, 1, 2, 3, 4]


def test_the_first_is_tried_and_nothing_after_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(0.0, patience.EXPLANATION_SECONDS / 2)
    monkeypatch.setattr(time, "thread_time", lambda: next(clock))
    with limited_patience():
        assert list(patiently(range(9))) == [0, 1, 2]
        assert list(patiently(range(9))) == [0]
    assert list(patiently(range(9))) == list(range(9))


def test_nothing_but_the_first_is_tried_without_patience() -> None:
    with without_patience(), limited_patience():
        assert list(patiently(range(5))) == [0]
    with limited_patience():
        assert list(patiently(range(5))) == [0, 1, 2, 3, 4]
