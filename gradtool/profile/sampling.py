"""Samples of the time of a phase; memory and operations of a single run."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from importlib import import_module
from typing import Any

from gradtool.adapters.library import library
from gradtool.device import CUDA
from gradtool.measure.clock import CLOCK, Clock
from gradtool.measure.sampling import StopRule, runs_per_sample
from gradtool.measure.summary import summarize
from gradtool.profile.phases import Runnable
from gradtool.results.profile import Operation, Phase

RULE = StopRule()


class SampledPhase:
    """A phase that is sampled; implements `gradtool.measure.sampling.Sampled`."""

    def __init__(self, runnable: Runnable, device: str, clock: Clock = CLOCK) -> None:
        """Run it until it is warm and a sample fills the clock's window."""
        self._runnable = runnable
        self._device = device
        self._wait = CUDA.synchronize if device != "cpu" else _nothing
        self._clock = clock
        self.samples: list[float] = []
        self.batch = runs_per_sample(self._timed) if runnable.reusable else self._warm()

    def take(self) -> None:
        """Take a sample."""
        self.samples.append(self._timed(self.batch) / self.batch)

    def done(self) -> bool:
        """Return True once the samples agree."""
        return RULE.satisfied(self.samples)

    def phase(self) -> Phase:
        """The result, with the memory and operations of a run."""
        return Phase(
            name=self._runnable.name,
            time=summarize(self.samples) if self.samples else None,
            samples=tuple(self.samples),
            batch=self.batch,
            peak=peak_memory(self._runnable, self._device),
            operations=operations_of(self._runnable),
            unavailable="" if self.samples else "the budget ran out before the first sample",
        )

    def _warm(self) -> int:
        for _ in range(3):
            self._timed(1)
        return 1

    def _timed(self, count: int) -> float:
        """Seconds of so many runs."""
        run, prepared = self._runnable.run, self._runnable.prepare()
        self._wait()
        start = self._clock()
        for _ in range(count):
            run(prepared)
        self._wait()
        return (self._clock() - start) / 1e9


def _nothing() -> None:
    """There is no device to wait for."""


def peak_memory(runnable: Runnable, device: str) -> int | None:
    """Peak memory of one run in bytes, outputs included: Python's and NumPy's, or CUDA's.

    None where PyTorch allocates it, which cannot be traced.
    """
    if library().torch.__name__ == "torch":
        return None
    prepared = runnable.prepare()
    gc.collect()
    if device != "cpu":
        return _peak_on_cuda(lambda: runnable.run(prepared))
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        kept = runnable.run(prepared)
        _, peak = tracemalloc.get_traced_memory()
        del kept
    finally:
        tracemalloc.stop()
    return max(peak - before, 0)


def _peak_on_cuda(run: Callable[[], Any]) -> int:
    from gradtool.device.peaks import peaks

    index = CUDA.current()
    found = peaks()
    found.reset(index)
    before = CUDA.memory(index).allocated
    kept = run()
    CUDA.synchronize()
    peak = found.allocated(index)
    del kept
    return max(peak - before, 0)


def operations_of(runnable: Runnable) -> tuple[Operation, ...]:
    """Operations of one run, the costliest first."""
    profiler = import_module(f"{library().torch.__name__}.profiler")
    for _ in range(2):  # The first run warms the profiler up.
        prepared = runnable.prepare()
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU]) as found:
            runnable.run(prepared)
    rows = found.key_averages()
    return tuple(
        Operation(
            name=row.key,
            calls=row.count,
            own=row.self_cpu_time_total / 1e6,
            total=row.cpu_time_total / 1e6,
        )
        for row in sorted(rows, key=lambda row: -row.self_cpu_time_total)
    )
