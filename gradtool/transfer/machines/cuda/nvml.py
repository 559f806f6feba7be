"""NVML, the driver's management library: link, clocks, version.

It is called through ctypes, for reading only: the device is not changed.
"""

from __future__ import annotations

import ctypes
from typing import Any

_LIBRARY = "libnvidia-ml.so.1"
_CLOCKS = {"SM": 1, "memory": 2}
"""NVML's numbers of the clocks."""


class Nvml:
    """One device, by its PCI address."""

    def __init__(self, bus: str, library: Any = None) -> None:
        """Find the device.

        Raises:
            OSError: there is no such library, or it does not know the device.
        """
        self._library = ctypes.CDLL(_LIBRARY) if library is None else library
        self._device = ctypes.c_void_p()
        self._require(self._library.nvmlInit_v2())
        find = self._library.nvmlDeviceGetHandleByPciBusId_v2
        self._require(find(bus.encode(), ctypes.byref(self._device)))

    def _require(self, status: int) -> None:
        if status:
            raise OSError(f"NVML error {status}")

    def link(self) -> tuple[int, int] | None:
        """Generation and width of the link now."""
        generation = self._number("nvmlDeviceGetCurrPcieLinkGeneration")
        width = self._number("nvmlDeviceGetCurrPcieLinkWidth")
        return None if generation is None or width is None else (generation, width)

    def clocks(self) -> str:
        """Present MHz of multiprocessors and memory; empty where NVML does not report them."""
        parts = []
        for name, number in _CLOCKS.items():
            found = self._number("nvmlDeviceGetClockInfo", number)
            if found is not None:
                parts.append(f"{name} {found} MHz")
        return ", ".join(parts)

    def throttled(self) -> bool:
        """Return True while power or heat holds the clocks down."""
        reasons = ctypes.c_ulonglong()
        status = self._library.nvmlDeviceGetCurrentClocksThrottleReasons(
            self._device, ctypes.byref(reasons)
        )
        return not status and bool(reasons.value & _THROTTLING)

    def driver(self) -> str | None:
        """The driver's version."""
        text = ctypes.create_string_buffer(96)
        status = self._library.nvmlSystemGetDriverVersion(text, ctypes.c_uint(len(text)))
        return None if status else text.value.decode()

    def _number(self, function: str, *arguments: int) -> int | None:
        found = ctypes.c_uint()
        status = getattr(self._library, function)(
            self._device, *map(ctypes.c_uint, arguments), ctypes.byref(found)
        )
        return None if status else found.value


_THROTTLING = 0x4 | 0x8 | 0x20 | 0x40 | 0x80
"""Of the throttle reasons: power cap, hardware slowdown, heat (both kinds), power brake."""


def nvml_of(bus: str) -> Nvml | None:
    """Open the device's NVML; None where the library is missing or does not know the device."""
    try:
        return Nvml(bus)
    except (OSError, AttributeError):
        return None
