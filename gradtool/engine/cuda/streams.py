"""Streams and events: queues of work on a device, and marks in them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from gradtool.device import CUDA
from gradtool.device.cuda import CudaEvent, CudaStream
from gradtool.engine._device import device as device_type
from gradtool.engine.cuda._devices import index_of


class Event:
    """A mark in the work of a stream.

    Args:
        enable_timing: record the time, for `elapsed_time`.
        blocking: sleep rather than spin while waiting.
        interprocess: not supported.
    """

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        if interprocess:
            raise NotImplementedError("gradtool's engine does not support interprocess events")
        CUDA.require()
        self._timing = enable_timing
        self._recorded = False
        self.inner: CudaEvent = CUDA.event(timing=enable_timing, blocking=blocking)

    def record(self, stream: Stream | None = None) -> None:
        """Mark the current end of a stream, by default the current stream."""
        self.inner.record(None if stream is None else stream.inner)
        self._recorded = True

    def wait(self, stream: Stream | None = None) -> None:
        """Let further work of a stream, by default the current one, wait for this event."""
        (stream or current_stream()).wait_event(self)

    def query(self) -> bool:
        """Return True if the work before the mark is finished, or nothing was marked."""
        return not self._recorded or self.inner.query()

    def synchronize(self) -> None:
        """Wait until the work before the mark is finished."""
        if self._recorded:
            self.inner.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds from this mark to that of `end_event`.

        Raises:
            ValueError: one of the events does not record the time.
            RuntimeError: one was not recorded, or the work before one is unfinished.
        """
        if not (self._timing and end_event._timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if not (self._recorded and end_event._recorded):
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        if not (self.query() and end_event.query()):
            raise RuntimeError(
                "Both events must be completed before calculating elapsed time: "
                "synchronize() the later one first."
            )
        return self.inner.elapsed_time(end_event.inner)


class Stream:
    """Queue of work that a device does in order, concurrently with other streams.

    Args:
        device: None for the current one.
        priority: lower numbers run first.
    """

    def __init__(self, device: Any = None, priority: int = 0, **_options: Any) -> None:
        index = index_of(device)
        with CUDA.select(index):
            self._fill(CUDA.stream(priority=priority), index)
        self.priority = priority

    def _fill(self, inner: CudaStream, index: int) -> Stream:
        self.inner = inner
        self.device = device_type("cuda", index)
        self.priority = 0
        return self

    @property
    def cuda_stream(self) -> int:
        """Handle of the CUDA runtime."""
        return self.inner.ptr

    def query(self) -> bool:
        """Return True if all of its work is finished."""
        return self.inner.query()

    def synchronize(self) -> None:
        """Wait until all of its work is finished."""
        self.inner.synchronize()

    def record_event(self, event: Event | None = None) -> Event:
        """Mark its current end with an event, by default a new one."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let further work wait for an event."""
        # In CUDA an event that was never recorded counts as complete.
        if event._recorded:
            self.inner.wait_event(event.inner)

    def wait_stream(self, stream: Stream) -> None:
        """Let further work wait for the current work of another stream."""
        self.wait_event(stream.record_event())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return (self.device, self.cuda_stream) == (other.device, other.cuda_stream)

    def __hash__(self) -> int:
        return hash((self.device, self.cuda_stream))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class StreamContext:
    """Context in which work goes to a stream and its device."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self._entered: list[AbstractContextManager[Any]] = []

    def __enter__(self) -> None:
        if self.stream is not None:
            self._entered = [CUDA.select(self.stream.device.index), self.stream.inner]
            for context in self._entered:
                context.__enter__()

    def __exit__(self, *failure: Any) -> None:
        while self._entered:
            self._entered.pop().__exit__(*failure)


def stream(stream: Stream | None) -> StreamContext:
    """Return a context in which work goes to `stream`; None changes nothing."""
    return StreamContext(stream)


def set_stream(stream: Stream | None) -> None:
    """Send this thread's further work to a stream; None changes nothing."""
    if stream is not None:
        CUDA.set_current(stream.device.index or 0)
        stream.inner.use()


def current_stream(device: Any = None) -> Stream:
    """Return this thread's current stream of a device."""
    index = index_of(device)
    with CUDA.select(index):
        # Past `__init__`, which makes a new stream.
        return Stream.__new__(Stream)._fill(CUDA.current_stream(), index)


def default_stream(device: Any = None) -> Stream:
    """Return the default stream of a device."""
    return Stream.__new__(Stream)._fill(CUDA.default_stream(), index_of(device))
