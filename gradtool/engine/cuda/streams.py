"""Streams and events: work that a device does in order, and marks in it."""

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
        enable_timing: whether it notes the time, for `elapsed_time`.
        blocking: whether waiting for it sleeps rather than spins.
        interprocess: not supported.
    """

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        if interprocess:
            raise NotImplementedError("gradtool's engine has no interprocess events")
        CUDA.require()
        self._timing = enable_timing
        self._recorded = False
        self.inner: CudaEvent = CUDA.event(timing=enable_timing, blocking=blocking)

    def record(self, stream: Stream | None = None) -> None:
        """Mark the end of what a stream (the current one) has been given so far."""
        self.inner.record(None if stream is None else stream.inner)
        self._recorded = True

    def wait(self, stream: Stream | None = None) -> None:
        """Let further work of a stream (the current one) wait for this event."""
        (stream or current_stream()).wait_event(self)

    def query(self) -> bool:
        """Whether the work before the mark is done; True if nothing was marked."""
        return not self._recorded or self.inner.query()

    def synchronize(self) -> None:
        """Wait until the work before the mark is done."""
        if self._recorded:
            self.inner.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to that of `end_event`.

        Raises:
            ValueError: one of the events notes no time.
            RuntimeError: one was not recorded, or the work before one is not done yet.
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
    """Work that a device does in order, beside that of its other streams.

    Args:
        device: the current one for None.
        priority: lower numbers go first.
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
        """The handle that the CUDA runtime knows it by."""
        return self.inner.ptr

    def query(self) -> bool:
        """Whether all of its work is done."""
        return self.inner.query()

    def synchronize(self) -> None:
        """Wait until all of its work is done."""
        self.inner.synchronize()

    def record_event(self, event: Event | None = None) -> Event:
        """Mark the end of what it has been given so far, with a new event unless one is given."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let further work wait for an event."""
        if event._recorded:
            self.inner.wait_event(event.inner)

    def wait_stream(self, stream: Stream) -> None:
        """Let further work wait for what another stream has been given so far."""
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
    """Gives work to a stream, and to its device, for as long as the context lasts."""

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
    """A context in which work is given to `stream`; None changes nothing."""
    return StreamContext(stream)


def set_stream(stream: Stream | None) -> None:
    """Give this thread's work to a stream from now on; None changes nothing."""
    if stream is not None:
        CUDA.set_current(stream.device.index or 0)
        stream.inner.use()


def current_stream(device: Any = None) -> Stream:
    """The stream that this thread gives a device's work to."""
    index = index_of(device)
    with CUDA.select(index):
        return Stream.__new__(Stream)._fill(CUDA.current_stream(), index)


def default_stream(device: Any = None) -> Stream:
    """The stream that is current unless another is made so."""
    return Stream.__new__(Stream)._fill(CUDA.default_stream(), index_of(device))
