"""Timer for statements, in blocks that the clock can resolve, until the spread is small.

With CUDA, a block ends when the device has finished its work, so that the work is timed and not
its launch.
"""

from __future__ import annotations

import contextlib
import os
import sys
import textwrap
import time
import timeit
from collections.abc import Callable, Iterator
from typing import Any

from gradtool.device import CUDA
from gradtool.engine.utils.benchmark.utils.common import Measurement, TaskSpec
from gradtool.measure.sampling import WARM_SECONDS, WINDOW, StopRule, runs_per_sample

_BLOCKS = 100
"""Approximate number of blocks of `Timer.blocked_autorange`, unless they become too short."""


def timer() -> float:
    """Return the host's clock in seconds; if CuPy is loaded, after CUDA has finished its work."""
    if "cupy" in sys.modules and CUDA.count():
        CUDA.synchronize()
    return time.perf_counter()


class Timer:
    """Timer of ``stmt``, run after ``setup``, with the names in ``globals``.

    Args:
        stmt: The statement.
        setup: Run before each sample, outside the timing.
        global_setup: For statements in C++; must be empty.
        timer: A clock in seconds; the default waits for CUDA.
        globals: Names that the statement uses.
        label: Description of the timed code, for tables.
        sub_label: Title of the row, among others with the same label.
        description: Title of the column, among others with the same label.
        env: The environment, if it differs between measurements.
        num_threads: Threads for libraries of linear algebra; needs threadpoolctl.
        language: Must be Python.

    Raises:
        ValueError: the language is not Python, or there is a global setup.
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = "python",
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("stmt must be source code, such as 'f(x)' with globals={'f': f}")
        if str(getattr(language, "name", language)).lower() not in ("py", "python"):
            raise ValueError(f"language {language!r} cannot be timed here, only Python can")
        if global_setup:
            raise ValueError("global_setup is for C++, which cannot be timed here")
        stmt, setup = textwrap.dedent(stmt).strip(), textwrap.dedent(setup).strip()
        names = {} if globals is None else dict(globals)
        self._timer = timeit.Timer(stmt, setup or "pass", timer, names)
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Take one sample of `number` runs, after a hundredth as many for warm-up."""
        with _threads(self._task_spec.num_threads):
            self._timer.timeit(max(number // 100, 2))
            return self._measured(number, [self._timer.timeit(number)])

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Raise, as in torch: `blocked_autorange` and `adaptive_autorange` report more.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("use blocked_autorange() or adaptive_autorange()")

    def blocked_autorange(
        self,
        callback: Callable[[int, float], Any] | None = None,
        min_run_time: float = 0.2,
    ) -> Measurement:
        """Take samples until `min_run_time` seconds, each long enough for the clock.

        `callback` receives the runs and seconds of each sample.
        """
        with _threads(self._task_spec.num_threads):
            number = self._number(max(WINDOW, min_run_time / _BLOCKS), min_run_time)
            times: list[float] = []
            while not times or sum(times) < min_run_time:
                times.append(self._timer.timeit(number))
                if callback is not None:
                    callback(number, times[-1])
        return self._measured(number, times)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Take samples until their relative interquartile range is below `threshold`.

        At least 15 samples and `min_run_time` seconds, unless `max_run_time` is over first.
        """
        rule = StopRule(spread=threshold)
        with _threads(self._task_spec.num_threads):
            number = self._number(WINDOW, min_run_time)
            times: list[float] = []
            while not times or sum(times) < max_run_time:
                times.append(self._timer.timeit(number))
                if callback is not None:
                    callback(number, times[-1])
                if sum(times) >= min_run_time and rule.satisfied(times):
                    break
        return self._measured(number, times)

    def _number(self, window: float, least: float) -> int:
        """Choose the number of runs of a sample, which also warms up."""
        return runs_per_sample(self._timer.timeit, window=window, warm=min(WARM_SECONDS, least))

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task_spec)


@contextlib.contextmanager
def _threads(number: int) -> Iterator[None]:
    """Limit libraries of linear algebra to so many threads, if threadpoolctl is installed."""
    try:
        from threadpoolctl import threadpool_limits  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        if number > 1 and (os.cpu_count() or 1) > 1:
            _warn_about_threads()
        yield
        return
    with threadpool_limits(number):
        yield


def _warn_about_threads() -> None:
    import warnings

    warnings.warn(
        "num_threads cannot be set: install threadpoolctl, or set OMP_NUM_THREADS", stacklevel=5
    )


__all__ = ["Timer", "timer"]
