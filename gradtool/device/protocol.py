"""What a place for arrays offers: memory, copies, streams, events.

`gradtool.device.host` offers it for host memory and `gradtool.device.cuda` for CUDA, so that
what moves or times arrays is written once.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol


class DeviceUnavailableError(RuntimeError):
    """A device was asked for that cannot be used here; the text says why, and what to do."""


@dataclass(frozen=True)
class Properties:
    """What a device says of itself."""

    name: str
    total_memory: int
    """Bytes."""
    major: int = 0
    """Of the compute capability, as is `minor`; 0 where there is none."""
    minor: int = 0
    multi_processor_count: int = 0


@dataclass(frozen=True)
class MemoryFigures:
    """Bytes of a device's memory."""

    free: int
    total: int
    allocated: int
    """In arrays that are alive."""
    reserved: int
    """Held by this process, in arrays or for the next ones."""


class Event(Protocol):
    """A point in the work of a stream."""

    def record(self, stream: Any = None) -> None:
        """Mark the end of what the stream (the current one) has been given so far."""

    def query(self) -> bool:
        """Whether the work before the mark is done."""

    def synchronize(self) -> None:
        """Wait until the work before the mark is done."""

    def elapsed_time(self, end: Any) -> float:
        """Milliseconds from this mark to that of `end`."""


class Stream(Protocol):
    """Work that a device does in order. As a context, it is the current one."""

    @property
    def ptr(self) -> int:
        """The handle that the runtime knows it by."""

    def query(self) -> bool:
        """Whether all of its work is done."""

    def synchronize(self) -> None:
        """Wait until all of its work is done."""

    def wait_event(self, event: Any) -> None:
        """Let further work wait for an event."""

    def __enter__(self) -> Any: ...

    def __exit__(self, *failure: object) -> None: ...


class Backend(Protocol):
    """One kind of device."""

    @property
    def kind(self) -> str:
        """``cpu`` or ``cuda``."""

    def count(self) -> int:
        """How many there are: 0 where the kind cannot be used."""

    def why_unavailable(self) -> str | None:
        """What stands in the way of using it; None if nothing does."""

    def current(self) -> int:
        """The number of the device that new arrays are made on."""

    def select(self, index: int | None) -> AbstractContextManager[Any]:
        """Make a device the current one; None leaves it as it is."""

    def synchronize(self, index: int | None = None) -> None:
        """Wait until a device has done all of its work."""

    def properties(self, index: int | None = None) -> Properties:
        """What a device says of itself."""

    def memory(self, index: int | None = None) -> MemoryFigures:
        """How its memory is used."""

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array of the current device whose elements are not set."""

    def copy(self, target: Any, source: Any, stream: Any = None) -> None:
        """Copy elements between contiguous arrays of one size, in order with the stream's work.

        Either may lie in host memory. The copy may go on after the call returns: keep both
        arrays, and wait for the stream before using or changing them.
        """

    def stream(self, *, priority: int = 0) -> Stream:
        """A new stream of the current device."""

    def current_stream(self) -> Stream:
        """The stream that work is given to."""

    def default_stream(self) -> Stream:
        """The stream that is current unless another is made so."""

    def event(self, *, timing: bool = True, blocking: bool = False) -> Event:
        """A new event; `blocking` lets waiting for it sleep rather than spin."""

    def empty_pinned(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """A host array in page-locked memory, which a device copies from and to by itself."""

    def register(self, array: Any) -> AbstractContextManager[None]:
        """Page-lock the memory of a host array for as long as the context lasts."""

    def is_pinned(self, array: Any) -> bool:
        """Whether a host array lies in page-locked memory."""
