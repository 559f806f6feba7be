"""A timer that interrupts a block, and that is off again when the block ends.

It is a signal, which Python delivers between two of its instructions: it ends loops in Python, not
a single call that never returns from compiled code. Where an error would do harm none is raised,
and the timer goes off again: while the block is entered or left, since the timer would stay on,
inside a debugger or a measurement of coverage, since their locks would stay taken, and inside a
callback of the garbage collector or of a weak reference, since Python prints such an error instead
of passing it on.
"""

from __future__ import annotations

# Private: the public one looks for the enum of a handler, which takes as long as a small Function.
import _signal  # type: ignore[import-not-found]
import gc
import importlib
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from gradtool.verify.thresholds.effort import LONGEST_TIMER_SECONDS


class Timer(NamedTuple):
    """A timer of the system's; by names, for not every system has it."""

    signal: str
    name: str
    clock: Callable[[], float]
    """The clock that it follows, in seconds."""

    @property
    def is_there(self) -> bool:
        """The timer can interrupt this thread."""
        main = threading.current_thread() is threading.main_thread()
        return main and hasattr(signal, self.signal)


WALL = Timer("SIGALRM", "ITIMER_REAL", time.monotonic)
PROCESSOR = Timer("SIGVTALRM", "ITIMER_VIRTUAL", time.process_time)


def interrupted_after(
    seconds: float,
    timer: Timer,
    repeat_after: float,
    exception: type[BaseException],
    replacement: Callable[[], BaseException] | None = None,
    *,
    spares_imports: bool = False,
) -> AbstractContextManager[None]:
    """Raise an exception in a block that takes longer than `seconds`, where the timer exists.

    A timer that was set before goes off when it would have.

    Args:
        seconds: How long the block may take.
        timer: The timer that counts the seconds.
        repeat_after: Seconds after which it is raised once more, in case the block swallowed it, or
            it was not raised because it would do harm.
        exception: Raised in the block.
        replacement: Makes the exception that leaves the block in place of that.
        spares_imports: Interrupt no import, but start again after it. A library whose import was
            cut in the middle is broken for the rest of the process. Not for a block that is itself
            part of an import; see `is_importing`.
    """
    if not timer.is_there:
        return nullcontext()
    return _Interruption(seconds, timer, repeat_after, exception, replacement, spares_imports)


class _Interruption(AbstractContextManager[None]):
    def __init__(
        self,
        seconds: float,
        timer: Timer,
        repeat_after: float,
        exception: type[BaseException],
        replacement: Callable[[], BaseException] | None,
        spares_imports: bool,
    ) -> None:
        self._seconds = min(LONGEST_TIMER_SECONDS, seconds)
        self._repeat_after = repeat_after
        self._exception = exception
        self._replacement = replacement
        self._spares_imports = spares_imports
        self._clock = timer.clock
        self._timer: int = getattr(signal, timer.name)
        self._signal: signal.Signals = getattr(signal, timer.signal)

    def __enter__(self) -> None:
        # The handler first: a timer that went off without one would end the process.
        self._handler = _signal.signal(self._signal, self._ring)
        self._before = signal.setitimer(self._timer, self._seconds, self._repeat_after)
        # To read the clock takes longer than all else, and only an outer timer asks for it.
        self._started = self._clock() if self._before[0] else 0.0

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        # The timer first, for the same reason as on entry.
        signal.setitimer(self._timer, 0)
        _signal.signal(self._signal, self._handler)
        delay, interval = self._before
        if delay:
            # Zero would switch the outer timer off instead of letting it go off at once.
            left = max(delay - (self._clock() - self._started), 1e-6)
            signal.setitimer(self._timer, left, interval)
        if self._replacement is not None and isinstance(error, self._exception):
            raise self._replacement() from error

    def _ring(self, _signum: int, frame: FrameType | None) -> None:
        if self._spares_imports and _is_below(frame, _IMPORT):
            signal.setitimer(self._timer, self._seconds, self._repeat_after)
        elif not (_is_below(frame, (*_OWN, *_WEAK, *_collector_callbacks())) or _in_tracing()):
            raise self._exception


def is_importing() -> bool:
    """Return True in a call from a module that is being imported."""
    return _is_below(sys._getframe(), _IMPORT)


def _is_below(frame: FrameType | None, codes: Sequence[CodeType]) -> bool:
    """Return True in one of these codes, or in a call from there."""
    while frame is not None:
        if frame.f_code in codes:
            return True
        frame = frame.f_back
    return False


_OWN = (_Interruption.__enter__.__code__, _Interruption.__exit__.__code__)
"""Where a block is entered and left."""

_WEAK = tuple(
    code
    for kind in (weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet)
    for code in kind.__init__.__code__.co_consts
    if isinstance(code, CodeType)
)
"""Where weak collections remove what no longer exists."""

_IMPORT = (importlib._bootstrap._find_and_load.__code__,)  # type: ignore[attr-defined]  # Private.
"""Where a module is imported for the first time."""


def _collector_callbacks() -> list[CodeType]:
    return [one.__code__ for one in gc.callbacks if isinstance(one, FunctionType)]


def _in_tracing() -> bool:
    """Return True inside a tracer or profiler, where Python reports no calls."""
    before: Any = sys.getprofile()
    if not (before is None or callable(before)):  # Python cannot put back one that C has set.
        return False
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    sys.setprofile(before)  # A call for `count` to see.
    # An exception raised now would hit the tracer, not the code that takes too long.
    return calls == 0
