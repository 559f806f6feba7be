"""An evaluation that does not come to an end is given up, and counts as outside the domain."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Sequence

import numpy as np
import pytest

from gradtool.verify.oracle import evaluation_timeout as patience
from gradtool.verify.oracle.evaluation_timeout import EvaluationTimeout, EvaluationTimeoutError
from gradtool.verify.oracle.sampler import Sampler
from gradtool.verify.protocol.coordinates import Coordinates
from gradtool.verify.protocol.observation import Array


def test_what_ends_soon_is_left_alone() -> None:
    with EvaluationTimeout().limited():
        total = sum(range(1000))
    assert total == 499_500


def test_an_endless_loop_is_interrupted_although_it_handles_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patience, "FIRST_EVALUATION_SECONDS", 0.05)
    with pytest.raises(EvaluationTimeoutError), EvaluationTimeout().limited():
        _never_ends()


def test_a_limit_is_short_once_a_quick_evaluation_was_timed() -> None:
    timeout = EvaluationTimeout()
    with timeout.calibrated():
        sum(range(1000))
    started = time.process_time()
    with pytest.raises(EvaluationTimeoutError), timeout.limited():
        _never_ends()
    assert time.process_time() - started < patience.FIRST_EVALUATION_SECONDS / 2


def test_a_limit_at_the_end_of_the_block_leaves_no_timer_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patience, "FIRST_EVALUATION_SECONDS", 1e-3)
    handler = signal.getsignal(signal.SIGVTALRM)
    for number in range(100):
        with contextlib.suppress(EvaluationTimeoutError), EvaluationTimeout().limited():
            end = time.process_time() + 1e-3 - 2e-5 * (number % 20)
            while time.process_time() < end:
                pass
        assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
        assert signal.getsignal(signal.SIGVTALRM) is handler


def _never_ends() -> None:
    while True:
        with contextlib.suppress(Exception):
            sum(range(100))


def test_a_point_at_which_an_iteration_never_ends_is_outside_the_domain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patience, "FIRST_EVALUATION_SECONDS", 0.05)

    def root(primals: Sequence[Array]) -> list[Array]:
        (x,) = primals
        guess = np.ones_like(x)
        while not np.abs(guess * guess - x).max() < 1e-9:
            guess = (guess + x / guess) / 2
        return [guess]

    start = np.array([2.0, 3.0])
    sampler = Sampler(root, [start], Coordinates([start]))
    with np.errstate(all="ignore"):
        assert np.isnan(sampler.at([np.array([2.0, -1.0])])).all()
        assert np.allclose(sampler.at([np.array([4.0, 9.0])]), [2.0, 3.0])
