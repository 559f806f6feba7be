"""A CUDA device: a `gradtool.transfer.machines.machine.Machine` by calls to the runtime.

Copies are `memcpyAsync` with the pointers determined beforehand.
"""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from gradtool.device import CUDA, HOST, array_module
from gradtool.device.cuda import CudaEvent, CudaStream
from gradtool.measure.clock import CLOCK, Clock
from gradtool.results.transfer import Header, Link
from gradtool.transfer.machines.cuda.header import describe, near
from gradtool.transfer.machines.cuda.pinned_memory import (
    allocate_pinned,
    pinned_from_pool,
    register,
)
from gradtool.transfer.machines.machine import Buffer, Call, HostBlock, Memory
from gradtool.transfer.machines.pages import fresh_pages, touch

_COMPUTED = 1 << 24
"""Elements of the array in a computation: one pass takes longer than its launch."""


SIMULATED = "SIMULATED"
"""First word of the name of a device that a CUDA runtime for tests simulates."""


class CudaMachine:
    """One CUDA device."""

    on_host = False

    def __init__(self, index: int = 0, clock: Clock = CLOCK) -> None:
        """Make the device current in this thread.

        Raises:
            DeviceUnavailableError: CUDA cannot be used, or has no such device.
        """
        CUDA.require(index)
        CUDA.set_current(index)
        self.index, self.clock = index, clock
        self.place = f"cuda:{index}"
        self.device_name = CUDA.properties(index).name
        self.simulated = self.device_name.startswith(SIMULATED)

    @property
    def _runtime(self) -> Any:
        return array_module("cuda").cuda.runtime

    def describe(self, header: Header) -> tuple[Header, Link]:
        """Add driver, runtime, clocks and NUMA node."""
        return describe(self, self.index, header)

    def near(self) -> AbstractContextManager[Any]:
        """Run on the processors that belong to the device."""
        return near(self.index)

    def free_memory(self) -> tuple[int, int]:
        """Free bytes of the host and of the device."""
        return HOST.memory().free, CUDA.memory(self.index).free

    def host(self, memory: Memory, size: int) -> HostBlock:
        """New host memory of a kind."""
        if memory == "pageable":
            return HostBlock(fresh_pages(size), lambda: None)
        if memory == "registered":
            array = fresh_pages(size)
            touch(array)
            return HostBlock(array, register(array))
        return allocate_pinned(size, write_combined=memory == "write-combined")

    def lock(self, array: Buffer) -> Call:
        """Register an array's memory."""
        return register(array)

    def device(self, size: int) -> Buffer:
        """Memory of the device from CuPy's pool."""
        return CUDA.empty((size,), np.uint8)

    def stream(self) -> CudaStream:
        """A stream that does not wait for the default one."""
        return CUDA.stream()

    def event(self) -> CudaEvent:
        """An event that keeps the time and is waited for by spinning."""
        return CUDA.event()

    def copier(self, target: Buffer, source: Buffer, stream: Any) -> Call:
        """`memcpyAsync` with its arguments determined; the call keeps the arrays alive."""
        arguments = self._arguments(target, source)
        copy = functools.partial(self._runtime.memcpyAsync, *arguments, stream.ptr)
        copy.kept = target, source  # type: ignore[attr-defined]  # alive as long as the call
        return copy

    def _arguments(self, target: Buffer, source: Buffer) -> tuple[int, int, int, int]:
        """Both addresses, the size and the kind of a copy."""
        runtime = self._runtime
        kind = {
            (False, True): runtime.memcpyHostToDevice,
            (True, False): runtime.memcpyDeviceToHost,
            (False, False): runtime.memcpyDeviceToDevice,
        }[isinstance(target, np.ndarray), isinstance(source, np.ndarray)]
        size = min(target.nbytes, source.nbytes)
        return _address(target), _address(source), size, kind

    def default_stream(self) -> CudaStream:
        """The legacy default stream, which the synchronous `memcpy` uses."""
        return CUDA.default_stream()

    def waiting_copier(self, target: Buffer, source: Buffer) -> Call:
        """The synchronous `memcpy`, which may return once pageable memory was staged."""
        copy = functools.partial(self._runtime.memcpy, *self._arguments(target, source))
        copy.kept = target, source  # type: ignore[attr-defined]  # as above
        return copy

    def pooled(self, size: int) -> HostBlock:
        """From CuPy's pool."""
        return pinned_from_pool(size)

    def host_function(self, stream: Any, function: Call) -> None:
        """Call `launch_host_func`; the function must not call CUDA."""
        stream.inner.launch_host_func(lambda _nothing: function(), None)

    def write(self, target: Buffer, data: Buffer) -> None:
        """Write by the synchronous `memcpy`, from pageable memory."""
        data = np.ascontiguousarray(data)
        kind = self._runtime.memcpyHostToDevice
        self._runtime.memcpy(target.data.ptr, data.ctypes.data, data.nbytes, kind)

    def read(self, source: Buffer) -> Buffer:
        """Read by the synchronous `memcpy`, to pageable memory."""
        found = np.empty(source.nbytes, np.uint8)
        kind = self._runtime.memcpyDeviceToHost
        self._runtime.memcpy(found.ctypes.data, source.data.ptr, found.nbytes, kind)
        return found

    def computation(self, stream: Any, seconds: float) -> Call:
        """Multiply an array of the device, as often as fills the time."""
        module = array_module("cuda")
        numbers = module.ones(_COMPUTED, np.float32)
        start, end = self.event(), self.event()
        passes = functools.partial(_multiply, module, numbers, stream)
        passes(2)  # Compiles the kernel.
        start.record(stream)
        passes(8)
        end.record(stream)
        end.synchronize()
        each = max(start.elapsed_time(end) * 1e-3 / 8, 1e-6)
        return functools.partial(passes, max(1, round(seconds / each)))

    def current(self, stream: Any) -> AbstractContextManager[Any]:
        """CuPy's current stream of this thread."""
        context: AbstractContextManager[Any] = stream
        return context

    def synchronize(self) -> None:
        """Wait for the device."""
        CUDA.synchronize(self.index)

    def close(self) -> None:
        """Release the memory in CuPy's pools."""
        self.synchronize()
        CUDA.release_unused()


def _address(array: Buffer) -> int:
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)


def _multiply(module: Any, numbers: Any, stream: Any, passes: int) -> None:
    with stream:
        for _ in range(passes):
            module.multiply(numbers, 1.0, out=numbers)
