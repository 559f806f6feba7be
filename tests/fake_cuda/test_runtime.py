"""The fake runtime does what the documentation of CUDA's says, seen through the real CuPy."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

cupy = pytest.importorskip("cupy")

SIZE = 1 << 20
BUSY = 30_000_000
"""Nanoseconds for which a stream is kept busy."""


@pytest.fixture
def runtime() -> Any:
    return cupy.cuda.runtime


def spin(stream: Any, nanoseconds: int = BUSY) -> None:
    """Keep a stream busy, in place of a kernel."""
    import ctypes

    library = ctypes.CDLL(cupy.cuda.runtime.__file__)
    assert library.fake_cuda_spin(ctypes.c_void_p(stream.ptr), ctypes.c_longlong(nanoseconds)) == 0


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def pinned(size: int = SIZE) -> Any:
    return np.frombuffer(cupy.cuda.alloc_pinned_memory(size), np.uint8, size)


def on_device(size: int = SIZE) -> Any:
    return cupy.empty(size, cupy.uint8)


def test_bytes_go_there_and_back() -> None:
    data = np.arange(SIZE, dtype=np.uint32).view(np.uint8)
    assert (cupy.asarray(data).get() == data).all()


def test_pinned_copies_return_at_once_and_pageable_ones_wait(runtime: Any) -> None:
    stream = cupy.cuda.Stream(non_blocking=True)
    target, sources = on_device(), {"pinned": pinned(), "pageable": np.empty(SIZE, np.uint8)}
    took = {}
    for name, source in sources.items():
        spin(stream)
        places = target.data.ptr, source.ctypes.data, SIZE, runtime.memcpyHostToDevice
        took[name] = seconds(lambda places=places: runtime.memcpyAsync(*places, stream.ptr))
        stream.synchronize()
    assert took["pinned"] < BUSY / 2e9 < took["pageable"]


def test_a_small_pageable_copy_to_the_device_is_staged(runtime: Any) -> None:
    stream, source = cupy.cuda.Stream(non_blocking=True), np.full(1 << 16, 7, np.uint8)
    target = on_device(1 << 16)
    spin(stream)
    runtime.memcpyAsync(
        target.data.ptr, source.ctypes.data, 1 << 16, runtime.memcpyHostToDevice, stream.ptr
    )
    source[:] = 9  # It was copied aside.
    stream.synchronize()
    assert (target.get() == 7).all()


def test_work_on_blocking_streams_is_ordered_with_the_default_stream() -> None:
    blocking, independent = cupy.cuda.Stream(), cupy.cuda.Stream(non_blocking=True)
    for stream, waits in ((blocking, True), (independent, False)):
        spin(stream)
        assert (seconds(cupy.cuda.Stream.null.synchronize) > BUSY / 2e9) == waits
        stream.synchronize()


def test_events_have_the_time_between_them_and_order_streams() -> None:
    first, second = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    start.record(first)
    spin(first)
    end.record(first)
    second.wait_event(end)
    assert not end.done
    second.synchronize()
    assert end.done
    assert cupy.cuda.get_elapsed_time(start, end) >= BUSY / 1e6


def test_a_captured_stream_does_its_work_when_the_graph_is_launched(runtime: Any) -> None:
    stream, other = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
    source, target, joined = pinned(), on_device(), cupy.cuda.Event(disable_timing=True)
    target.set(np.zeros(SIZE, np.uint8))
    source[:] = 5
    stream.begin_capture()
    joined.record(stream)
    other.wait_event(joined)  # It joins the capture.
    places = target.data.ptr, source.ctypes.data, SIZE, runtime.memcpyHostToDevice
    runtime.memcpyAsync(*places, other.ptr)
    graph = stream.end_capture()
    stream.synchronize()
    assert not target.get().any()
    for value in (5, 6):
        source[:] = value
        graph.launch(stream)
        stream.synchronize()
        assert (target.get() == value).all()


def test_waiting_for_a_captured_stream_invalidates_the_capture(runtime: Any) -> None:
    stream = cupy.cuda.Stream(non_blocking=True)
    stream.begin_capture()
    with pytest.raises(runtime.CUDARuntimeError, match="StreamCaptureUnsupported"):
        runtime.streamSynchronize(stream.ptr)
    with pytest.raises(runtime.CUDARuntimeError, match="StreamCaptureInvalidated"):
        stream.end_capture()


def test_what_cuda_refuses_is_refused(runtime: Any) -> None:
    host, device = pinned(), on_device()
    there = device.data.ptr, host.ctypes.data
    wrong: dict[str, Callable[[], Any]] = {
        "cudaErrorInvalidValue": lambda: runtime.memcpy(*there, SIZE, runtime.memcpyDeviceToHost),
        "cudaErrorInvalidMemcpyDirection": lambda: runtime.memcpy(*there, SIZE, 9),
        "cudaErrorInvalidResourceHandle": lambda: runtime.streamSynchronize(0x1234),
        "cudaErrorInvalidDevice": lambda: runtime.setDevice(99),
        "cudaErrorHostMemoryAlreadyRegistered": lambda: runtime.hostRegister(there[1], 4096, 0),
        "cudaErrorHostMemoryNotRegistered": lambda: runtime.hostUnregister(there[1]),
    }
    for name, call in wrong.items():
        with pytest.raises(runtime.CUDARuntimeError, match=name):
            call()
    large = on_device(1 << 22)
    with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorInvalidValue"):
        runtime.memcpy(large.data.ptr, there[1], 64 << 20, runtime.memcpyHostToDevice)


def test_devices_copy_to_one_another(runtime: Any) -> None:
    if runtime.getDeviceCount() < 2:
        pytest.skip("needs FAKE_CUDA_DEVICES=2")
    source = cupy.asarray(np.full(SIZE, 3, np.uint8))
    with cupy.cuda.Device(1):
        target = on_device()
    runtime.memcpyPeer(target.data.ptr, 1, source.data.ptr, 0, SIZE)
    assert (target.get() == 3).all()
    assert runtime.deviceCanAccessPeer(0, 1)
    runtime.deviceEnablePeerAccess(1)
    with pytest.raises(runtime.CUDARuntimeError, match="PeerAccessAlreadyEnabled"):
        runtime.deviceEnablePeerAccess(1)
    runtime.deviceDisablePeerAccess(1)
