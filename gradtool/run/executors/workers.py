"""An `Executor` whose work is done by workers."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence

from gradtool.checking.unit import Discovery, DiscoveryResult, Unit, UnitResult
from gradtool.config.options import Unwatched, Watcher
from gradtool.errors import UsageError
from gradtool.results.report import OwnFault
from gradtool.run.executors.executor import UnitResults
from gradtool.workers.jobs import DeviceJob, DiscoveryJob, UnitJob
from gradtool.workers.pool import Pool


@contextlib.contextmanager
def isolated(jobs: int | None) -> Iterator[InWorkers]:
    """Workers for the time of a run."""
    with Pool(jobs or available_cpus()) as pool:
        yield InWorkers(pool)


def available_cpus() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        # cpu_count() ignores taskset and cpusets.
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class InWorkers:
    """Workers do the pieces of work of a run."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @property
    def numpy(self) -> str:
        """The version of NumPy that the workers have."""
        return self._pool.numpy

    def require_devices(self, devices: Sequence[str]) -> None:
        """Refuse devices that are not there; have one worker at a time on any but the CPU."""
        others = [device for device in devices if device != "cpu"]
        if others:
            self._pool.size, self._pool.kept = 1, 0
        jobs = [DeviceJob(device) for device in others]
        self._pool.run(jobs)
        for device, job in zip(others, jobs, strict=True):
            if job.problem:
                raise UsageError(f"--device {device} cannot be used: opening it {job.problem}")

    def discover(self, discoveries: Sequence[Discovery]) -> list[DiscoveryResult]:
        """The answers to discoveries."""
        jobs = [DiscoveryJob(discovery) for discovery in discoveries]
        self._pool.run(jobs)
        return [job.answer for job in jobs]

    def check(self, units: Sequence[Unit], watcher: Watcher) -> UnitResults:
        """Check units, several at a time."""
        jobs = [UnitJob(unit, watcher) for unit in units]
        try:
            self._pool.run(jobs)
        except KeyboardInterrupt:
            done = [job.answer or (job.abandon() if job.begun else None) for job in jobs]
            return UnitResults(done, interrupted=True, faults=_faults(jobs))
        return UnitResults([job.answer for job in jobs], faults=_faults(jobs))

    def collect(self, units: Sequence[Unit]) -> list[UnitResult]:
        """List the cases of units."""
        jobs = [UnitJob(unit, Unwatched(), only_list=True) for unit in units]
        self._pool.run(jobs)
        return [job.answer for job in jobs if job.answer]


def _faults(jobs: Sequence[UnitJob]) -> tuple[OwnFault, ...]:
    return tuple(job.fault for job in jobs if job.fault is not None)
