"""CUDA devices: their number, properties and the current one."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from gradtool.device import CUDA
from gradtool.device.protocol import Properties
from gradtool.engine._device import device as device_type
from gradtool.engine._tensor import Tensor


def index_of(given: Any) -> int:
    """Return the index of a CUDA device; that of the current one for None or ``cuda``.

    Raises:
        ValueError: `given` is not a CUDA device.
        DeviceUnavailableError: there is no such device, or CUDA cannot be used.
    """
    index = given if isinstance(given, int) and given >= 0 else _named_index(given)
    CUDA.require(index)
    return CUDA.current() if index is None else index


def _named_index(given: Any) -> int | None:
    if given is None or isinstance(given, int):
        return None  # in torch, a negative index means the current device
    place = device_type(given)
    if place.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {place}")
    return place.index


def device_count() -> int:
    """Return the number of usable CUDA devices: 0 without CuPy or a driver."""
    return CUDA.count()


def is_available() -> bool:
    """Return True if there is a usable CUDA device."""
    return CUDA.count() > 0


def is_initialized() -> bool:
    """Return True if CUDA can be used: CuPy initializes itself."""
    return is_available()


def init() -> None:
    """Make sure that CUDA can be used.

    Raises:
        DeviceUnavailableError: it cannot; the message has the reason.
    """
    CUDA.require()


def current_device() -> int:
    """Return the index of this thread's current device."""
    return index_of(None)


def set_device(device: Any) -> None:
    """Make a device this thread's current one; a negative index changes nothing."""
    CUDA.set_current(index_of(device))


def synchronize(device: Any = None) -> None:
    """Wait until a device has finished all work on all of its streams."""
    CUDA.synchronize(index_of(device))


def get_device_properties(device: Any = None) -> Properties:
    """Return name, memory in bytes, compute capability and multiprocessors of a device."""
    return CUDA.properties(index_of(device))


def get_device_name(device: Any = None) -> str:
    """Return the driver's name of a device."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Return major and minor compute capability of a device."""
    found = get_device_properties(device)
    return found.major, found.minor


class device:
    """Context with a device as the current one; None changes nothing."""

    def __init__(self, device: Any) -> None:
        unchanged = device is None or (isinstance(device, int) and device < 0)
        self.idx = -1 if unchanged else index_of(device)
        self._context: AbstractContextManager[Any] | None = None

    def __enter__(self) -> None:
        if self.idx >= 0:
            self._context = CUDA.select(self.idx)
            self._context.__enter__()

    def __exit__(self, *failure: Any) -> None:
        if self._context is not None:
            self._context.__exit__(*failure)


class device_of(device):
    """Context with a tensor's device as the current one; a CPU tensor changes nothing."""

    def __init__(self, obj: Tensor) -> None:
        super().__init__(obj.device if obj.is_cuda else None)
