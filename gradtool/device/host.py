# ruff: noqa: ARG002 - what the protocol passes matters to devices only.
"""Host memory as a device: work is done at once, so streams and events have nothing to wait for."""

from __future__ import annotations

import contextlib
import platform
import time
from typing import Any

import numpy as np

from gradtool.device.host_memory import host_memory
from gradtool.device.protocol import DeviceUnavailableError, MemoryFigures, Properties

NO_PINNED = "page-locked memory needs CUDA: on device 'cpu' there is nothing that it would speed up"


class HostStream:
    """The order in which a program does things."""

    ptr = 0

    def query(self) -> bool:
        """True: nothing is ever left to do."""
        return True

    def synchronize(self) -> None:
        """Return."""

    def wait_event(self, event: Any) -> None:
        """Return: what an event marks has been done."""

    def __enter__(self) -> HostStream:
        return self

    def __exit__(self, *failure: object) -> None:
        return None


class HostEvent:
    """A reading of the clock."""

    def __init__(self) -> None:
        self._at: float | None = None

    def record(self, stream: Any = None) -> None:
        """Read the clock."""
        self._at = time.perf_counter()

    def query(self) -> bool:
        """True: work is done when it is given."""
        return True

    def synchronize(self) -> None:
        """Return."""

    def elapsed_time(self, end: Any) -> float:
        """Milliseconds from this reading to that of `end`.

        Raises:
            RuntimeError: one of them was not recorded.
        """
        if self._at is None or end._at is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return float(end._at - self._at) * 1e3


class HostBackend:
    """The one host, whose memory is NumPy's to manage."""

    kind = "cpu"

    def count(self) -> int:
        """One."""
        return 1

    def why_unavailable(self) -> str | None:
        """None: it is always there."""
        return None

    def current(self) -> int:
        """The only one."""
        return 0

    def select(self, index: int | None) -> contextlib.nullcontext[None]:
        """Nothing to select.

        Raises:
            DeviceUnavailableError: `index` is not 0 or None.
        """
        if index:
            raise DeviceUnavailableError(f"device 'cpu:{index}' does not exist: there is one host")
        return contextlib.nullcontext()

    def synchronize(self, index: int | None = None) -> None:
        """Return: work is done when it is given."""

    def properties(self, index: int | None = None) -> Properties:
        """The processor's name and the memory of the machine."""
        return Properties(platform.processor() or platform.machine(), self.memory().total)

    def memory(self, index: int | None = None) -> MemoryFigures:
        """Memory that may be taken, and all of it; 0 for what the system or NumPy does not tell."""
        free, total = host_memory()
        return MemoryFigures(free, total, allocated=0, reserved=0)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array whose elements are not set."""
        return np.empty(shape, dtype)

    def copy(self, target: Any, source: Any, stream: Any = None) -> None:
        """Copy elements; done on return."""
        np.copyto(target.reshape(-1), source.reshape(-1))

    def stream(self, *, priority: int = 0) -> HostStream:
        """A stream like any other here."""
        return HostStream()

    def current_stream(self) -> HostStream:
        """A stream like any other here."""
        return HostStream()

    def default_stream(self) -> HostStream:
        """A stream like any other here."""
        return HostStream()

    def event(self, *, timing: bool = True, blocking: bool = False) -> HostEvent:
        """A reading of the clock to come."""
        return HostEvent()

    def empty_pinned(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Refuse.

        Raises:
            DeviceUnavailableError: always.
        """
        raise DeviceUnavailableError(NO_PINNED)

    def register(self, array: Any) -> contextlib.AbstractContextManager[None]:
        """Refuse.

        Raises:
            DeviceUnavailableError: always.
        """
        raise DeviceUnavailableError(NO_PINNED)

    def is_pinned(self, array: Any) -> bool:
        """False."""
        return False
