"""The part of CuPy that manages devices, for the stand-in: no device does any of it."""

from __future__ import annotations

import itertools
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.device.facts import facts, hold_to


class CUDARuntimeError(RuntimeError):
    """Error of the runtime."""


class Runtime:
    """``cupy.cuda.runtime`` of a machine with two devices."""

    CUDARuntimeError = CUDARuntimeError
    memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice = range(4)
    memoryTypeHost, memoryTypeUnregistered = 1, 0
    hostAllocPortable, hostAllocWriteCombined = 1, 4

    def __init__(self) -> None:
        self.devices = 2
        self.current = 0
        self.log: list[tuple[Any, ...]] = []
        self.pinned: list[Any] = []
        self.registered: set[int] = set()
        self.allocated: dict[int, Any] = {}

    def getDeviceCount(self) -> int:
        if not self.devices:
            raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected\nmore")
        return self.devices

    def getDevice(self) -> int:
        return self.current

    def setDevice(self, index: int) -> None:
        if not 0 <= index < self.getDeviceCount():
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self.current = index

    def deviceSynchronize(self) -> None:
        self.log.append(("deviceSynchronize", self.current))

    def getDeviceProperties(self, index: int) -> dict[str, Any]:
        return {
            "name": f"Paper {index}".encode(), "totalGlobalMem": 1 << 30, "major": 9, "minor": 1,
            "multiProcessorCount": 7,
        }  # fmt: skip

    def memGetInfo(self) -> tuple[int, int]:
        return 600, 1 << 30

    def runtimeGetVersion(self) -> int:
        return 12080

    def driverGetVersion(self) -> int:
        return 12090

    def memcpyAsync(self, dst: int, src: int, size: int, kind: int, stream: int) -> None:
        import ctypes

        self.log.append(("memcpyAsync", size, kind, stream))
        ctypes.memmove(dst, src, size)

    def memcpy(self, dst: int, src: int, size: int, kind: int) -> None:
        import ctypes

        ctypes.memmove(dst, src, size)

    def hostAlloc(self, size: int, flags: int) -> int:
        memory = np.empty(size, np.uint8)
        self.allocated[memory.ctypes.data] = memory
        self.log.append(("hostAlloc", size, flags))
        return int(memory.ctypes.data)

    def freeHost(self, ptr: int) -> None:
        del self.allocated[ptr]

    def deviceGetPCIBusId(self, device: int) -> str:
        return f"0000:{device:02X}:00.0"

    def hostRegister(self, ptr: int, size: int, flags: int) -> None:
        self.registered.add(ptr)

    def hostUnregister(self, ptr: int) -> None:
        self.registered.remove(ptr)

    def pointerGetAttributes(self, ptr: int) -> Any:
        known_arrays = [*self.pinned, *self.allocated.values()]
        spans = ((each.ctypes.data, each.nbytes) for each in known_arrays)
        inside = any(start <= ptr < start + size for start, size in spans)
        known = inside or ptr in self.registered
        return SimpleNamespace(type=self.memoryTypeHost if known else self.memoryTypeUnregistered)


class Pool:
    """A memory pool with figures that do not move by themselves."""

    def __init__(self) -> None:
        self.used, self.held, self.freed = 100, 200, 0

    def used_bytes(self) -> int:
        return self.used

    def total_bytes(self) -> int:
        return self.held

    def free_all_blocks(self) -> None:
        self.freed += 1


def make_cuda() -> Any:
    """``cupy.cuda``."""
    runtime = Runtime()
    pointers = itertools.count(16, 16)
    clock = itertools.count(0.0, 2.5)
    functions = facts()["functions"]

    class Event:
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            hold_to(functions["cuda.Event"], "Event", args, kwargs)
            self.options = kwargs
            self.at: float | None = None
            self.done = True

        def record(self, stream: Any = None) -> None:
            self.at = next(clock)
            runtime.log.append(("record", getattr(stream, "ptr", None)))

        def synchronize(self) -> None:
            runtime.log.append(("event.synchronize",))

    class Stream:
        null: Any

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            hold_to(functions["cuda.Stream"], "Stream", args, kwargs)
            self.ptr = 0 if kwargs.get("null") else next(pointers)
            self.priority = kwargs.get("priority", 0)
            self.device_id = runtime.current
            self.done = True

        def synchronize(self) -> None:
            runtime.log.append(("stream.synchronize", self.ptr))

        def launch_host_func(self, callback: Any, arg: Any) -> None:
            # A host function that waits must not keep the caller: it runs beside it, as it would.
            threading.Thread(target=callback, args=(arg,), daemon=True).start()

        def wait_event(self, event: Any) -> None:
            runtime.log.append(("wait_event", self.ptr))

        def use(self) -> None:
            stack[-1] = self

        def __enter__(self) -> Any:
            stack.append(self)
            return self

        def __exit__(self, *failure: object) -> None:
            stack.pop()

    class Device:
        def __init__(self, index: int) -> None:
            self.id = index

        def __enter__(self) -> Any:
            self.before = runtime.current
            runtime.setDevice(self.id)
            return self

        def __exit__(self, *failure: object) -> None:
            runtime.current = self.before

    Stream.null = Stream(null=True)
    stack = [Stream.null]

    def empty_pinned(shape: Any, dtype: Any = float, order: str = "C") -> Any:
        memory = np.empty(shape, dtype, order)  # type: ignore[call-overload]
        runtime.pinned.append(memory)
        return memory

    class MemoryHook:
        """Remembered when entered, for a test to call."""

        def __enter__(self) -> Any:
            hooks.append(self)
            return self

        def __exit__(self, *failure: object) -> None:
            hooks.remove(self)

    hooks: list[Any] = []
    return SimpleNamespace(
        nvrtc=SimpleNamespace(getVersion=lambda: (13, 0)),
        MemoryHook=MemoryHook, hooks=hooks,
        runtime=runtime, Event=Event, Stream=Stream, Device=Device,
        get_current_stream=lambda device_id=-1: stack[-1],
        get_elapsed_time=lambda start, end: end.at - start.at,
        pool=Pool(), pinned_pool=Pool(), empty_pinned=empty_pinned,
    )  # fmt: skip
