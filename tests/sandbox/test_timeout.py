"""The alarm that limits a Function's time is off when its block ends, however close it was."""

from __future__ import annotations

import signal
import time
from contextlib import suppress

import pytest

from gradtool.sandbox.timeout import TimedOut, time_limit


@pytest.fixture(autouse=True)
def no_alarm() -> None:
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def busy(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def test_what_takes_too_long_is_ended() -> None:
    with pytest.raises(TimedOut), time_limit(0.01):
        busy(60)


def test_without_a_limit_there_is_no_alarm() -> None:
    with time_limit(None):
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_an_alarm_at_the_end_of_the_block_leaves_none_behind() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    for number in range(500):
        with suppress(TimedOut), time_limit(5e-4):
            busy(5e-4 - 1e-6 * (number % 50))
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
        assert signal.getsignal(signal.SIGALRM) is handler
