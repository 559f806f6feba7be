# ruff: noqa: ARG002 - the protocol has arguments that only devices use.
"""Host memory as a device: work is synchronous, so streams and events never wait."""

from __future__ import annotations

import contextlib
import platform
import time
from typing import Any

import numpy as np

from gradtool.device.host_memory import host_memory
from gradtool.device.protocol import DeviceUnavailableError, MemoryFigures, Properties

NO_PINNED = "page-locked memory needs CUDA: on device 'cpu' it has no benefit"


class HostStream:
    """Stream of the host: the order of the program."""

    ptr = 0

    def query(self) -> bool:
        """Return True: work is finished when it is launched."""
        return True

    def synchronize(self) -> None:
        """Return."""

    def wait_event(self, event: Any) -> None:
        """Return: the work before an event is finished."""

    def __enter__(self) -> HostStream:
        return self

    def __exit__(self, *failure: object) -> None:
        return None


class HostEvent:
    """Event of the host: a reading of the clock."""

    def __init__(self) -> None:
        self._at: float | None = None

    def record(self, stream: Any = None) -> None:
        """Read the clock."""
        self._at = time.perf_counter()

    def query(self) -> bool:
        """Return True: work is finished when it is launched."""
        return True

    def synchronize(self) -> None:
        """Return."""

    def elapsed_time(self, end: Any) -> float:
        """Return the milliseconds from this reading to that of `end`.

        Raises:
            RuntimeError: one of them was not recorded.
        """
        if self._at is None or end._at is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return float(end._at - self._at) * 1e3


class HostBackend:
    """Backend of the host, whose memory NumPy manages."""

    kind = "cpu"

    def count(self) -> int:
        """Return 1."""
        return 1

    def why_unavailable(self) -> str | None:
        """Return None: the host is always available."""
        return None

    def current(self) -> int:
        """Return 0, the only index."""
        return 0

    def select(self, index: int | None) -> contextlib.nullcontext[None]:
        """Return an empty context: there is nothing to select.

        Raises:
            DeviceUnavailableError: `index` is not 0 or None.
        """
        if index:
            raise DeviceUnavailableError(
                f"device 'cpu:{index}' does not exist: there is only one CPU device"
            )
        return contextlib.nullcontext()

    def synchronize(self, index: int | None = None) -> None:
        """Return: work is finished when it is launched."""

    def properties(self, index: int | None = None) -> Properties:
        """Return the processor's name and the machine's memory."""
        return Properties(platform.processor() or platform.machine(), self.memory().total)

    def memory(self, index: int | None = None) -> MemoryFigures:
        """Return free and total memory; 0 for figures that the system or NumPy does not have."""
        free, total = host_memory()
        return MemoryFigures(free, total, allocated=0, reserved=0)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an uninitialized array."""
        return np.empty(shape, dtype)

    def copy(self, target: Any, source: Any, stream: Any = None) -> None:
        """Copy the elements synchronously."""
        np.copyto(target.reshape(-1), source.reshape(-1))

    def stream(self, *, priority: int = 0) -> HostStream:
        """Return a stream; all streams of the host are alike."""
        return HostStream()

    def current_stream(self) -> HostStream:
        """Return a stream; all streams of the host are alike."""
        return HostStream()

    def default_stream(self) -> HostStream:
        """Return a stream; all streams of the host are alike."""
        return HostStream()

    def event(self, *, timing: bool = True, blocking: bool = False) -> HostEvent:
        """Return an event."""
        return HostEvent()

    def empty_pinned(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Raise: page-locked memory needs CUDA.

        Raises:
            DeviceUnavailableError: always.
        """
        raise DeviceUnavailableError(NO_PINNED)

    def register(self, array: Any) -> contextlib.AbstractContextManager[None]:
        """Raise: page-locked memory needs CUDA.

        Raises:
            DeviceUnavailableError: always.
        """
        raise DeviceUnavailableError(NO_PINNED)

    def is_pinned(self, array: Any) -> bool:
        """Return False."""
        return False
