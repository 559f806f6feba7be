"""Interface of a device: memory, copies, streams, events.

`gradtool.device.host` implements it for host memory and `gradtool.device.cuda` for CUDA, so that
code that moves or times arrays is written once.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

import msgspec


class DeviceUnavailableError(RuntimeError):
    """Raised for a device that cannot be used; the message has the reason and the remedy."""


class Properties(msgspec.Struct, frozen=True):
    """Properties of a device."""

    name: str
    total_memory: int
    """Bytes."""
    major: int = 0
    """Major part of the compute capability, as `minor` is the minor part; 0 for the host."""
    minor: int = 0
    multi_processor_count: int = 0


class MemoryFigures(msgspec.Struct, frozen=True):
    """Bytes of a device's memory."""

    free: int
    total: int
    allocated: int
    """Bytes in live arrays."""
    reserved: int
    """Bytes held by this process, in arrays or free."""


class Event(Protocol):
    """A point in the work of a stream."""

    def record(self, stream: Any = None) -> None:
        """Mark the current end of a stream, by default the current stream."""

    def query(self) -> bool:
        """Return True if the work before the mark is finished."""

    def synchronize(self) -> None:
        """Wait until the work before the mark is finished."""

    def elapsed_time(self, end: Any) -> float:
        """Return the milliseconds from this mark to that of `end`."""


class Stream(Protocol):
    """Queue of work that a device does in order. As a context, it is the current one."""

    @property
    def ptr(self) -> int:
        """Handle of the CUDA runtime."""

    def query(self) -> bool:
        """Return True if all of its work is finished."""

    def synchronize(self) -> None:
        """Wait until all of its work is finished."""

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
        """Return the number of devices: 0 if the kind cannot be used."""

    def why_unavailable(self) -> str | None:
        """Return the reason why the kind cannot be used, or None."""

    def current(self) -> int:
        """Return the index of the current device, on which new arrays are made."""

    def select(self, index: int | None) -> AbstractContextManager[Any]:
        """Return a context with a device as the current one; None changes nothing."""

    def synchronize(self, index: int | None = None) -> None:
        """Wait until a device has finished all of its work."""

    def properties(self, index: int | None = None) -> Properties:
        """Properties of a device."""

    def memory(self, index: int | None = None) -> MemoryFigures:
        """Return the memory use of a device."""

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an uninitialized array on the current device."""

    def copy(self, target: Any, source: Any, stream: Any = None) -> None:
        """Copy between contiguous arrays of one size, in order with the stream's work.

        Either may be in host memory. The copy may continue after the call returns: keep both
        arrays, and wait for the stream before using or changing them.
        """

    def stream(self, *, priority: int = 0) -> Stream:
        """Make a stream of the current device."""

    def current_stream(self) -> Stream:
        """Return the current stream."""

    def default_stream(self) -> Stream:
        """Return the default stream."""

    def event(self, *, timing: bool = True, blocking: bool = False) -> Event:
        """Make an event; with `blocking`, waiting for it sleeps rather than spins."""

    def empty_pinned(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an uninitialized host array in page-locked memory."""

    def register(self, array: Any) -> AbstractContextManager[None]:
        """Return a context in which the memory of a host array is page-locked."""

    def is_pinned(self, array: Any) -> bool:
        """Return True for a host array in page-locked memory."""
