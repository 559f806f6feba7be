"""A device whose every time is known beforehand, and a clock that only it moves."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
from msgspec.structs import replace

from gradtool.results.transfer import Header, Link
from gradtool.transfer.errors import UnavailableError
from gradtool.transfer.machines.machine import HostBlock

LATENCY = 10e-6
CALL = 1e-6
RATES = {"pageable": 10e9, "pinned": 50e9, "registered": 50e9, "write-combined": 50e9}
DEVICE_RATE = 1000e9


class FakeClock:
    """Stands still unless it is moved; each reading takes ten nanoseconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> int:
        self.now += 10e-9
        return round(self.now * 1e9)

    def move(self, seconds: float) -> None:
        self.now += seconds

    def reach(self, moment: float) -> None:
        self.now = max(self.now, moment)


class FakeStream:
    ptr = 1

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.busy_until = 0.0

    def work(self, seconds: float) -> None:
        self.busy_until = max(self.busy_until, self.clock.now) + seconds

    def query(self) -> bool:
        return self.busy_until <= self.clock.now

    def synchronize(self) -> None:
        self.clock.reach(self.busy_until)

    def wait_event(self, event: Any) -> None:
        self.busy_until = max(self.busy_until, event.at)

    def __enter__(self) -> FakeStream:
        return self

    def __exit__(self, *failure: object) -> None:
        return None


class FakeEvent:
    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.at = 0.0

    def record(self, stream: Any = None) -> None:
        self.at = max(stream.busy_until, self.clock.now)

    def query(self) -> bool:
        return self.at <= self.clock.now

    def synchronize(self) -> None:
        self.clock.reach(self.at)

    def elapsed_time(self, end: Any) -> float:
        return float(end.at - self.at) * 1e3


class FakeMachine:
    """Copies at once, and says that it took as long as latency and rate of the memory make it.

    A copy of pageable memory keeps the host until it is done; others return after a microsecond.
    `jitter` multiplies the times of one copy after another.
    """

    place = "cpu"
    device_name = "Paper 0"

    def __init__(
        self,
        *,
        simulated: bool = False,
        rates: dict[str, float] | None = None,
        jitter: Iterator[float] | None = None,
        link: Link | None = None,
        free: int = 1 << 32,
        refused: tuple[str, ...] = (),
    ) -> None:
        self.simulated = self.on_host = simulated
        self.clock = FakeClock()
        self.rates = RATES if rates is None else rates
        self.jitter = itertools.repeat(1.0) if jitter is None else jitter
        self.link = link or Link(generation=5, width=16, gbps=63.0, source="sysfs")
        self.free, self.refused = free, refused
        self.alive: list[tuple[str, Any]] = []
        self.streams: list[FakeStream] = []
        self.after_copy: Any = lambda target: None
        self.closed = False

    def describe(self, header: Header) -> tuple[Header, Link]:
        # A small cache, so that few slots are made and a run takes no time.
        return replace(header, cache=1 << 16), self.link

    def near(self) -> Any:
        return nullcontext()

    def free_memory(self) -> tuple[int, int]:
        return self.free, self.free

    def host(self, memory: Any, size: int) -> HostBlock:
        if memory in self.refused:
            raise UnavailableError(f"no {memory} memory here")
        self.clock.move(size / 2e9 if memory == "pinned" else 1e-6)
        array = np.zeros(size, np.uint8)
        entry = (memory, array)
        self.alive.append(entry)
        return HostBlock(array, lambda: self.forget(array))

    def forget(self, array: Any) -> None:
        self.alive = [entry for entry in self.alive if entry[1] is not array]

    def lock(self, array: Any) -> Any:
        self.clock.move(array.nbytes / 10e9)
        return lambda: self.clock.move(array.nbytes / 20e9)

    def device(self, size: int) -> Any:
        return np.zeros(size, np.uint8)

    def stream(self) -> FakeStream:
        self.streams.append(FakeStream(self.clock))
        return self.streams[-1]

    def event(self) -> FakeEvent:
        return FakeEvent(self.clock)

    def memory_of(self, *arrays: Any) -> str | None:
        for memory, block in self.alive:
            if any(np.may_share_memory(block, array) for array in arrays):
                return memory
        return None

    def copier(self, target: Any, source: Any, stream: Any) -> Any:
        memory = self.memory_of(target, source)
        rate = DEVICE_RATE if memory is None else self.rates[memory]

        def copy() -> None:
            np.copyto(target, source)
            self.after_copy(target)
            self.clock.move(CALL)
            stream.work((LATENCY + len(target) / rate) * next(self.jitter))
            if memory == "pageable":
                stream.synchronize()

        return copy

    def default_stream(self) -> FakeStream:
        return self.stream()

    def waiting_copier(self, target: Any, source: Any) -> Any:
        stream = self.stream()
        copy = self.copier(target, source, stream)

        def copy_and_wait() -> None:
            copy()
            stream.synchronize()

        return copy_and_wait

    def pooled(self, size: int) -> HostBlock:
        return self.host("pinned", size)

    def host_function(self, stream: Any, function: Any) -> None:
        # The copies of this device are done at once, so nothing need stand still for long.
        threading.Thread(target=function, daemon=True).start()

    def write(self, target: Any, data: Any) -> None:
        np.copyto(target, data)

    def read(self, source: Any) -> Any:
        return source

    def computation(self, stream: Any, seconds: float) -> Any:
        return lambda: stream.work(seconds)

    def current(self, stream: Any) -> Any:
        return stream

    def synchronize(self) -> None:
        for stream in self.streams:
            stream.synchronize()

    def close(self) -> None:
        self.closed = True
