"""CUDA through CuPy, which is loaded when the first of these is used."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtool.device.arrays import array_module
from gradtool.device.driver import mismatch
from gradtool.device.protocol import DeviceUnavailableError, MemoryFigures, Properties

_NO_DRIVER = "cudaErrorInsufficientDriver"
"""What the runtime calls a driver that is too old, and one that is not there."""


class CudaStream:
    """A stream of a device; one of CuPy's inside."""

    def __init__(self, stream: Any) -> None:
        self.inner = stream

    @property
    def ptr(self) -> int:
        """The handle that the runtime knows it by."""
        return int(self.inner.ptr)

    def query(self) -> bool:
        """Whether all of its work is done."""
        return bool(self.inner.done)

    def synchronize(self) -> None:
        """Wait until all of its work is done."""
        self.inner.synchronize()

    def wait_event(self, event: Any) -> None:
        """Let further work wait for an event."""
        self.inner.wait_event(event.inner)

    def use(self) -> None:
        """Make it the current stream of this thread."""
        self.inner.use()

    def __enter__(self) -> CudaStream:
        self.inner.__enter__()
        return self

    def __exit__(self, *failure: object) -> None:
        self.inner.__exit__(*failure)


class CudaEvent:
    """A mark in a stream; one of CuPy's inside."""

    def __init__(self, event: Any) -> None:
        self.inner = event

    def record(self, stream: Any = None) -> None:
        """Mark the end of what the stream (the current one) has been given so far."""
        self.inner.record((stream or CUDA.current_stream()).inner)

    def query(self) -> bool:
        """Whether the work before the mark is done."""
        return bool(self.inner.done)

    def synchronize(self) -> None:
        """Wait until the work before the mark is done."""
        self.inner.synchronize()

    def elapsed_time(self, end: Any) -> float:
        """Milliseconds from this mark to that of `end`."""
        return float(array_module("cuda").cuda.get_elapsed_time(self.inner, end.inner))


class CudaBackend:
    """All CUDA devices that CuPy sees."""

    kind = "cuda"

    @property
    def _cuda(self) -> Any:
        return array_module("cuda").cuda

    def count(self) -> int:
        """How many there are: none without CuPy or without a driver."""
        try:
            return int(self._cuda.runtime.getDeviceCount())
        except Exception:  # a CuPy that cannot load its libraries raises what it likes
            return 0

    def why_unavailable(self) -> str | None:
        """That CuPy or a driver is missing, or no device; None if CUDA can be used."""
        try:
            count = int(self._cuda.runtime.getDeviceCount())
        except Exception as error:  # as above; its first line is the reason
            said = next(iter(str(error).splitlines()), type(error).__name__)
            return (mismatch() or said) if _NO_DRIVER in said else said
        return None if count else "the driver sees no CUDA device"

    def require(self, index: int | None = None) -> None:
        """Refuse to go on without a device.

        Raises:
            DeviceUnavailableError: CUDA cannot be used, or has no device of this number.
        """
        reason = self.why_unavailable()
        if reason is not None:
            raise DeviceUnavailableError(f"CUDA cannot be used: {reason}")
        if index is not None and not 0 <= index < self.count():
            raise DeviceUnavailableError(
                f"CUDA error: invalid device ordinal: 'cuda:{index}' of {self.count()}"
            )

    def current(self) -> int:
        """The number of the device that new arrays are made on, in this thread."""
        return int(self._cuda.runtime.getDevice())

    def set_current(self, index: int) -> None:
        """Make a device the current one of this thread."""
        self._cuda.runtime.setDevice(index)

    def select(self, index: int | None) -> contextlib.AbstractContextManager[Any]:
        """Make a device the current one for as long as the context lasts."""
        return contextlib.nullcontext() if index is None else self._cuda.Device(index)

    def synchronize(self, index: int | None = None) -> None:
        """Wait until a device has done all of its work."""
        with self.select(index):
            self._cuda.runtime.deviceSynchronize()

    def properties(self, index: int | None = None) -> Properties:
        """What the runtime says of a device."""
        given = self._cuda.runtime.getDeviceProperties(self.current() if index is None else index)
        name = given["name"]
        return Properties(
            name=name.decode() if isinstance(name, bytes) else str(name),
            total_memory=int(given["totalGlobalMem"]),
            major=int(given["major"]),
            minor=int(given["minor"]),
            multi_processor_count=int(given["multiProcessorCount"]),
        )

    def memory(self, index: int | None = None) -> MemoryFigures:
        """What the driver says of a device's memory, and CuPy's pool of its own."""
        with self.select(index):
            free, total = self._cuda.runtime.memGetInfo()
            pool = self.pool()
            return MemoryFigures(int(free), int(total), pool.used_bytes(), pool.total_bytes())

    def pool(self) -> Any:
        """CuPy's memory pool; its figures are those of the current device."""
        return array_module("cuda").get_default_memory_pool()

    def release_unused(self) -> None:
        """Give back memory that is held for the next arrays, page-locked memory too."""
        self.pool().free_all_blocks()
        array_module("cuda").get_default_pinned_memory_pool().free_all_blocks()

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array of the current device whose elements are not set."""
        return array_module("cuda").empty(shape, dtype)

    def copy(self, target: Any, source: Any, stream: Any = None) -> None:
        """Copy elements between contiguous arrays of one size, in order with the stream's work.

        Raises:
            ValueError: the arrays differ in size, or one is not contiguous.
        """
        if target.nbytes != source.nbytes:
            raise ValueError(f"cannot copy {source.nbytes} bytes to {target.nbytes}")
        if not (target.flags.c_contiguous and source.flags.c_contiguous):
            raise ValueError("only contiguous arrays are copied as they lie")
        runtime = self._cuda.runtime
        kinds = {
            (True, False): runtime.memcpyHostToDevice,
            (False, True): runtime.memcpyDeviceToHost,
            (False, False): runtime.memcpyDeviceToDevice,
            (True, True): runtime.memcpyHostToHost,
        }
        kind = kinds[isinstance(source, np.ndarray), isinstance(target, np.ndarray)]
        ptr = (stream or self.current_stream()).ptr
        runtime.memcpyAsync(_address(target), _address(source), target.nbytes, kind, ptr)

    def stream(self, *, priority: int = 0) -> CudaStream:
        """A new stream of the current device, which does not wait for the default one."""
        return CudaStream(self._cuda.Stream(non_blocking=True, priority=priority))

    def current_stream(self) -> CudaStream:
        """The stream that this thread gives work to."""
        return CudaStream(self._cuda.get_current_stream())

    def default_stream(self) -> CudaStream:
        """The stream that is current unless another is made so."""
        return CudaStream(self._cuda.Stream.null)

    def event(self, *, timing: bool = True, blocking: bool = False) -> CudaEvent:
        """A new event; `blocking` lets waiting for it sleep rather than spin."""
        return CudaEvent(self._cuda.Event(block=blocking, disable_timing=not timing))

    def empty_pinned(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """A host array in page-locked memory, from CuPy's pool of it."""
        array_module("cuda")
        import cupyx

        return cupyx.empty_pinned(shape, dtype)

    @contextlib.contextmanager
    def register(self, array: Any) -> Iterator[None]:
        """Page-lock the memory of a host array for as long as the context lasts."""
        self._cuda.runtime.hostRegister(array.ctypes.data, array.nbytes, 0)
        try:
            yield
        finally:
            self._cuda.runtime.hostUnregister(array.ctypes.data)

    def is_pinned(self, array: Any) -> bool:
        """Whether a host array lies in page-locked memory; False without CUDA."""
        if not isinstance(array, np.ndarray) or not array.size or not self.count():
            return False
        runtime = self._cuda.runtime
        return bool(runtime.pointerGetAttributes(array.ctypes.data).type == runtime.memoryTypeHost)


def _address(array: Any) -> int:
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)


CUDA = CudaBackend()
