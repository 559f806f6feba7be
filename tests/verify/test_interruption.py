"""A timer that interrupts a block is off when the block ends, whatever runs meanwhile."""

from __future__ import annotations

import gc
import importlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from weakref import WeakKeyDictionary

import pytest

from gradtool.verify.interruption import PROCESSOR, WALL, Timer, interrupted_after


class Rang(BaseException):
    """What is raised."""


@pytest.fixture(params=[WALL, PROCESSOR], ids=lambda timer: timer.name)
def timer(request: pytest.FixtureRequest) -> Timer:
    found: Timer = request.param
    assert _left(found) == (0, 0)
    return found


@pytest.fixture
def other_tracing() -> Iterator[None]:
    before = sys.gettrace()
    yield
    sys.settrace(before)


def _left(timer: Timer) -> tuple[float, float]:
    return signal.getitimer(getattr(signal, timer.name))


def _busy(seconds: float, timer: Timer) -> None:
    end = timer.clock() + seconds
    while timer.clock() < end:
        pass


def test_a_long_block_is_interrupted(timer: Timer) -> None:
    with pytest.raises(Rang), interrupted_after(0.01, timer, 1.0, Rang):
        _busy(60, timer)
    assert _left(timer) == (0, 0)


def test_the_removal_of_a_weak_key_is_not_interrupted(timer: Timer) -> None:
    class Slow(dict[object, int]):
        def __delitem__(self, key: object) -> None:
            _busy(0.05, timer)
            super().__delitem__(key)

    class Key:
        pass

    weak: WeakKeyDictionary[Key, int] = WeakKeyDictionary()
    weak.data = Slow()  # type: ignore[attr-defined]  # Private.
    keys = [Key()]
    weak[keys[0]] = 1

    def forget() -> None:
        keys.clear()
        assert not weak
        _busy(60, timer)

    with pytest.raises(Rang), interrupted_after(0.02, timer, 0.02, Rang):
        forget()


def test_the_clock_is_read_only_for_an_outer_timer() -> None:
    times: list[float] = []

    def clock() -> float:
        times.append(PROCESSOR.clock())
        return times[-1]

    timer = Timer(PROCESSOR.signal, PROCESSOR.name, clock)
    with interrupted_after(100, timer, 1.0, Rang):
        assert not times
        with interrupted_after(10, timer, 1.0, Rang):
            pass
        assert len(times) == 2
        assert _left(timer)[0] == pytest.approx(100, abs=1)
    assert len(times) == 2
    assert _left(timer) == (0, 0)


@pytest.mark.parametrize("seconds", [1e10, 1e308, float("inf")])
def test_longer_than_a_timer_goes_is_for_ever(timer: Timer, seconds: float) -> None:
    with interrupted_after(seconds, timer, 1.0, Rang):
        assert _left(timer)[0] > 1e7
    assert _left(timer) == (0, 0)


def test_it_is_raised_again_where_the_block_swallows_it(timer: Timer) -> None:
    def deaf() -> None:
        for _ in range(3):
            with suppress(Rang):
                _busy(60, timer)
        _busy(60, timer)

    with pytest.raises(Rang), interrupted_after(0.01, timer, 0.01, Rang):
        deaf()


def test_the_end_of_the_block_may_tell_it_otherwise(timer: Timer) -> None:
    with (
        pytest.raises(ValueError, match="too long"),
        interrupted_after(0.01, timer, 1.0, Rang, lambda: ValueError("too long")),
    ):
        _busy(60, timer)


def test_nothing_is_raised_in_what_traces_the_end_of_the_block(
    timer: Timer, other_tracing: None
) -> None:
    traced = 0

    def slow(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal traced
        if frame.f_code.co_name == "__exit__" and event == "call":
            traced += 1
            _busy(0.1, timer)

    with interrupted_after(0.05, timer, 1.0, Rang):
        sys.settrace(slow)
    sys.settrace(None)
    assert traced == 1
    assert _left(timer) == (0, 0)


def test_nothing_is_raised_in_what_traces_the_block(timer: Timer, other_tracing: None) -> None:
    ended = 0

    def slow(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal ended
        if frame.f_code is traced.__code__:
            _busy(0.3, timer)  # An error here would leave a lock taken, if there were one.
            ended += 1

    def traced() -> None:
        pass

    def long() -> None:
        sys.settrace(slow)
        traced()
        _busy(60, timer)

    with pytest.raises(Rang), interrupted_after(0.05, timer, 0.1, Rang):
        long()
    sys.settrace(None)
    assert ended == 1
    assert sys.getprofile() is None
    assert _left(timer) == (0, 0)


def test_a_profile_is_left_as_it_is(timer: Timer) -> None:
    def profile(*_: object) -> None:
        pass

    sys.setprofile(profile)
    try:
        with pytest.raises(Rang), interrupted_after(0.01, timer, 0.01, Rang):
            _busy(60, timer)
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)


def test_a_timer_that_was_set_before_goes_off_after_all(timer: Timer) -> None:
    def both() -> None:
        with interrupted_after(0.05, timer, 0.01, Rang):
            with interrupted_after(60, timer, 1.0, KeyError):
                _busy(0.01, timer)
            _busy(60, timer)

    with pytest.raises(Rang):
        both()
    assert _left(timer) == (0, 0)


def test_on_another_thread_there_is_none(timer: Timer) -> None:
    def work() -> None:
        with interrupted_after(1e-3, timer, 1.0, Rang):
            time.sleep(0.01)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert _left(timer) == (0, 0)


def test_nothing_is_raised_in_a_callback_of_the_garbage_collector(timer: Timer) -> None:
    lost: list[object] = []

    def slow(_phase: str, _info: dict[str, int]) -> None:
        _busy(0.05, timer)

    def collecting() -> None:
        gc.collect()
        _busy(60, timer)

    gc.callbacks.append(slow)
    try:
        with _unraisable(lost), pytest.raises(Rang), interrupted_after(0.01, timer, 0.01, Rang):
            collecting()
    finally:
        gc.callbacks.remove(slow)
    assert lost == []


@contextmanager
def _unraisable(lost: list[object]) -> Iterator[None]:
    before, sys.unraisablehook = sys.unraisablehook, lost.append
    try:
        yield
    finally:
        sys.unraisablehook = before


SLOW_TO_IMPORT = """
import time
end = time.process_time() + 0.1
while time.process_time() < end:
    pass
"""

LIMITS_ITSELF = """
from gradtool.verify.interruption import PROCESSOR, interrupted_after, is_importing
spares = not is_importing()
with interrupted_after(0.02, PROCESSOR, 0.02, TimeoutError, spares_imports=spares):
    while True:
        pass
"""


@pytest.fixture
def slow_to_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module whose import takes a tenth of a second."""
    (tmp_path / "slow_to_import.py").write_text(SLOW_TO_IMPORT)
    monkeypatch.syspath_prepend(tmp_path)
    yield "slow_to_import"
    sys.modules.pop("slow_to_import", None)


def test_an_import_is_spared_and_does_not_count(slow_to_import: str) -> None:
    with interrupted_after(0.05, PROCESSOR, 0.05, Rang, spares_imports=True):
        importlib.import_module(slow_to_import)
    assert slow_to_import in sys.modules


def test_what_follows_an_import_is_interrupted(slow_to_import: str) -> None:
    def block() -> None:
        importlib.import_module(slow_to_import)
        _busy(60, PROCESSOR)

    with pytest.raises(Rang), interrupted_after(0.02, PROCESSOR, 0.02, Rang, spares_imports=True):
        block()


def test_a_block_that_is_part_of_an_import_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "limits_itself.py").write_text(LIMITS_ITSELF)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(TimeoutError):
        importlib.import_module("limits_itself")
