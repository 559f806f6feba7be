"""Peaks of CUDA memory, which CuPy's pool does not record."""

from __future__ import annotations

import functools
import threading
from typing import Any

from gradtool.device.arrays import array_module
from gradtool.device.cuda import CUDA


class Peaks:
    """Peaks of each device, updated at every allocation of this thread."""

    def __init__(self) -> None:
        self._most: dict[int, tuple[int, int]] = {}

    def note(self, index: int) -> None:
        """Update the peaks from a device's current use."""
        now = CUDA.memory(index)
        allocated, reserved = self._most.get(index, (0, 0))
        self._most[index] = max(allocated, now.allocated), max(reserved, now.reserved)

    def allocated(self, index: int) -> int:
        """Return the peak of bytes in arrays."""
        self.note(index)
        return self._most[index][0]

    def reserved(self, index: int) -> int:
        """Return the peak of bytes in the pool."""
        self.note(index)
        return self._most[index][1]

    def reset(self, index: int) -> None:
        """Reset to the device's current use."""
        self._most.pop(index, None)
        self.note(index)


_of_thread = threading.local()


def peaks() -> Peaks:
    """Return this thread's peaks, counted from the first call on: CuPy's hooks are per thread."""
    found: Peaks | None = getattr(_of_thread, "peaks", None)
    if found is None:
        found = _of_thread.peaks = Peaks()
        _of_thread.hook = _hook_class()(found)
        _of_thread.hook.__enter__()
    return found


@functools.cache
def _hook_class() -> Any:
    """Make the class of a CuPy hook, whose base exists once CuPy is loaded."""

    class PeakHook(array_module("cuda").cuda.MemoryHook):  # type: ignore[misc]
        """Update the peaks after every allocation."""

        name = "gradtool"

        def __init__(self, of: Peaks) -> None:
            super().__init__()
            self._peaks = of

        def malloc_postprocess(self, **given: Any) -> None:
            """Called by CuPy with the device and size of an allocation."""
            self._peaks.note(given["device_id"])

    return PeakHook
