"""CUDA through CuPy, which is loaded on first use."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtool.device.arrays import array_module
from gradtool.device.driver import mismatch
from gradtool.device.protocol import DeviceUnavailableError, MemoryFigures, Properties

_NO_DRIVER = "cudaErrorInsufficientDriver"
"""The runtime's error for a driver that is too old or missing."""


class CudaStream:
    """A stream of a device; wraps CuPy's."""

    def __init__(self, stream: Any) -> None:
        self.inner = stream

    @property
    def ptr(self) -> int:
        """Handle of the CUDA runtime."""
        return int(self.inner.ptr)

    def query(self) -> bool:
        """Return True if all of its work is finished."""
        return bool(self.inner.done)

    def synchronize(self) -> None:
        """Wait until all of its work is finished."""
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
    """A mark in a stream; wraps CuPy's event."""

    def __init__(self, event: Any) -> None:
        self.inner = event

    def record(self, stream: Any = None) -> None:
        """Mark the current end of a stream, by default the current stream."""
        self.inner.record((stream or CUDA.current_stream()).inner)

    def query(self) -> bool:
        """Return True if the work before the mark is finished."""
        return bool(self.inner.done)

    def synchronize(self) -> None:
        """Wait until the work before the mark is finished."""
        self.inner.synchronize()

    def elapsed_time(self, end: Any) -> float:
        """Return the milliseconds from this mark to that of `end`."""
        return float(array_module("cuda").cuda.get_elapsed_time(self.inner, end.inner))


NO_COMPILER = (
    "NVRTC, which compiles CuPy's kernels, is missing: "
    "pip install 'gradtool[cuda12]' or 'gradtool[cuda13]'"
)


class CudaBackend:
    """All CUDA devices that CuPy sees."""

    kind = "cuda"

    @property
    def _cuda(self) -> Any:
        return array_module("cuda").cuda

    def count(self) -> int:
        """Return the number of devices: 0 without CuPy or a driver."""
        try:
            return int(self._cuda.runtime.getDeviceCount())
        except Exception:  # a CuPy that cannot load its libraries may raise anything
            return 0

    def why_unavailable(self) -> str | None:
        """Return the reason why CUDA cannot be used, or None."""
        try:
            count = int(self._cuda.runtime.getDeviceCount())
        except Exception as error:  # as above; its first line is the reason
            message = next(iter(str(error).splitlines()), type(error).__name__)
            return (mismatch() or message) if _NO_DRIVER in message else message
        return None if count else "the driver finds no CUDA device"

    def why_no_kernels(self) -> str | None:
        """Return the reason why CuPy cannot compile its kernels, or None."""
        try:
            self._cuda.nvrtc.getVersion()
        except Exception:  # it looks for the library in many ways, with errors of their own
            return NO_COMPILER
        return None

    def require(self, index: int | None = None) -> None:
        """Raise if CUDA, or a device of this index, cannot be used.

        Raises:
            DeviceUnavailableError: CUDA cannot be used, or has no device of this index.
        """
        reason = self.why_unavailable()
        if reason is not None:
            raise DeviceUnavailableError(f"CUDA cannot be used: {reason}")
        if index is not None and not 0 <= index < self.count():
            raise DeviceUnavailableError(
                f"CUDA error: invalid device ordinal: 'cuda:{index}' of {self.count()}"
            )

    def current(self) -> int:
        """Return the index of this thread's current device."""
        return int(self._cuda.runtime.getDevice())

    def set_current(self, index: int) -> None:
        """Make a device this thread's current one."""
        self._cuda.runtime.setDevice(index)

    def select(self, index: int | None) -> contextlib.AbstractContextManager[Any]:
        """Return a context with a device as the current one."""
        return contextlib.nullcontext() if index is None else self._cuda.Device(index)

    def synchronize(self, index: int | None = None) -> None:
        """Wait until a device has finished all of its work."""
        with self.select(index):
            self._cuda.runtime.deviceSynchronize()

    def properties(self, index: int | None = None) -> Properties:
        """Return the runtime's properties of a device."""
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
        """Return the memory use of a device, from the driver and from CuPy's pool."""
        with self.select(index):
            free, total = self._cuda.runtime.memGetInfo()
            pool = self.pool()
            return MemoryFigures(int(free), int(total), pool.used_bytes(), pool.total_bytes())

    def pool(self) -> Any:
        """Return CuPy's memory pool, whose figures are those of the current device."""
        return array_module("cuda").get_default_memory_pool()

    def release_unused(self) -> None:
        """Release free memory of the pools, page-locked memory too."""
        self.pool().free_all_blocks()
        array_module("cuda").get_default_pinned_memory_pool().free_all_blocks()

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an uninitialized array on the current device."""
        return array_module("cuda").empty(shape, dtype)

    def copy(self, target: Any, source: Any, stream: Any = None) -> None:
        """Copy between contiguous arrays of one size, in order with the stream's work.

        Raises:
            ValueError: the arrays differ in size, or one is not contiguous.
        """
        if target.nbytes != source.nbytes:
            raise ValueError(f"cannot copy {source.nbytes} bytes to {target.nbytes}")
        if not (target.flags.c_contiguous and source.flags.c_contiguous):
            raise ValueError("only contiguous arrays can be copied directly")
        runtime = self._cuda.runtime
        kinds = {
            (True, False): runtime.memcpyHostToDevice,
            (False, True): runtime.memcpyDeviceToHost,
            (False, False): runtime.memcpyDeviceToDevice,
            (True, True): runtime.memcpyHostToHost,
        }
        kind = kinds[isinstance(source, np.ndarray), isinstance(target, np.ndarray)]
        ptr = (stream or self.current_stream()).ptr
        runtime.memcpyAsync(address(target), address(source), target.nbytes, kind, ptr)

    def stream(self, *, priority: int = 0) -> CudaStream:
        """Make a stream of the current device, which does not wait for the default one."""
        return CudaStream(self._cuda.Stream(non_blocking=True, priority=priority))

    def current_stream(self) -> CudaStream:
        """Return this thread's current stream."""
        return CudaStream(self._cuda.get_current_stream())

    def default_stream(self) -> CudaStream:
        """Return the default stream."""
        return CudaStream(self._cuda.Stream.null)

    def event(self, *, timing: bool = True, blocking: bool = False) -> CudaEvent:
        """Make an event; with `blocking`, waiting for it sleeps rather than spins."""
        return CudaEvent(self._cuda.Event(block=blocking, disable_timing=not timing))

    def empty_pinned(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an uninitialized host array in page-locked memory, from CuPy's pool."""
        array_module("cuda")
        import cupyx

        return cupyx.empty_pinned(shape, dtype)

    @contextlib.contextmanager
    def register(self, array: Any) -> Iterator[None]:
        """Return a context in which the memory of a host array is page-locked."""
        self._cuda.runtime.hostRegister(array.ctypes.data, array.nbytes, 0)
        try:
            yield
        finally:
            self._cuda.runtime.hostUnregister(array.ctypes.data)

    def is_pinned(self, array: Any) -> bool:
        """Return True for a host array in page-locked memory; False without CUDA."""
        if not isinstance(array, np.ndarray) or not array.size or not self.count():
            return False
        runtime = self._cuda.runtime
        return bool(runtime.pointerGetAttributes(array.ctypes.data).type == runtime.memoryTypeHost)


def address(array: Any) -> int:
    """Return the address of an array's first element."""
    # `ctypes.data` makes an object each time and takes three times as long.
    on_host = isinstance(array, np.ndarray)
    return int(array.__array_interface__["data"][0] if on_host else array.data.ptr)


CUDA = CudaBackend()
