"""Staging of pageable memory by size of its pieces and number of threads that copy on the host."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from msgspec.structs import replace

from gradtool.measure.summary import summarize
from gradtool.results.transfer import StagingRate
from gradtool.transfer.errors import reason_of
from gradtool.transfer.machines.machine import Machine
from gradtool.transfer.routes.staging import Stager, striped, thread_count

SIZE = 64 << 20
CHUNKS = (256 << 10, 1 << 20, 4 << 20, 16 << 20)
THREADS = (1, 2, 4)
SAMPLES = 7


def measure_all(machine: Machine, largest: int, samples: int = SAMPLES) -> Iterator[StagingRate]:
    """Measure copies to the device for each size of a piece and each number of threads."""
    size = min(SIZE, largest)
    for threads in (each for each in THREADS if each <= thread_count()):
        for chunk in (each for each in CHUNKS if each <= size):
            blank = StagingRate(
                simulated=machine.simulated, bytes=size, chunk=chunk, threads=threads
            )
            try:
                times = _times(machine, size, chunk, threads, samples)
            except Exception as error:  # CUDA and CuPy raise errors of many kinds
                yield replace(blank, unavailable=reason_of(error))
                continue
            done = summarize(times)
            yield replace(blank, done=done, gbps=size / done.median / 1e9)


def _times(machine: Machine, size: int, chunk: int, threads: int, samples: int) -> list[float]:
    """Seconds of each copy, after one that does not count."""
    source, target = machine.host("pageable", size), machine.device(size)
    try:
        source.array.fill(1)
        with ThreadPoolExecutor(threads, "gradtool-staging") as pool:
            stager = Stager(machine, machine.stream(), chunk, striped(pool, threads), blocking=True)
            try:
                found = []
                for _ in range(samples + 1):
                    start = machine.clock()
                    stager.send(source.array, target)
                    found.append((machine.clock() - start) * 1e-9)
                return found[1:]
            finally:
                stager.close()
    finally:
        machine.synchronize()
        source.close()
