"""Both kinds of device offer the same, and copy bytes right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool.device import CUDA, HOST, DeviceUnavailableError, backend, driver


def test_a_backend_for_each_kind() -> None:
    assert backend("cpu") is HOST
    assert backend("cuda") is CUDA


def test_the_host_does_work_at_once() -> None:
    target, source = HOST.empty((2, 3), np.float32), np.arange(6, dtype=np.float32)
    start, end = HOST.event(), HOST.event()
    with HOST.stream() as stream:
        start.record(stream)
        HOST.copy(target, source, stream)
        end.record()
    HOST.synchronize()
    assert end.query()
    assert stream.query()
    assert target.ravel().tolist() == source.tolist()
    assert start.elapsed_time(end) >= 0
    with pytest.raises(RuntimeError, match="Both events must be recorded"):
        start.elapsed_time(HOST.event())


def test_the_host_has_no_page_locked_memory() -> None:
    assert not HOST.is_pinned(np.ones(3))
    with pytest.raises(DeviceUnavailableError, match="needs CUDA"):
        HOST.empty_pinned((3,), np.float32)
    with pytest.raises(DeviceUnavailableError, match="needs CUDA"):
        HOST.register(np.ones(3))
    with pytest.raises(DeviceUnavailableError, match="there is only one CPU device"):
        HOST.select(1)


def test_copies_go_by_the_runtime_and_keep_to_the_stream(cupy: Any) -> None:
    source = np.arange(6, dtype=np.float32)
    first, second = CUDA.empty((6,), np.float32), CUDA.empty((6,), np.float32)
    back = np.zeros(6, np.float32)
    stream = CUDA.stream()
    CUDA.copy(first, source, stream)
    CUDA.copy(second, first, stream)
    CUDA.copy(back, second, stream)
    assert back.tolist() == source.tolist()
    runtime = cupy.cuda.runtime
    kinds = (
        runtime.memcpyHostToDevice, runtime.memcpyDeviceToDevice, runtime.memcpyDeviceToHost
    )  # fmt: skip
    assert runtime.log == [("memcpyAsync", 24, kind, stream.ptr) for kind in kinds]


def test_copies_that_would_go_wrong_are_refused(cupy: Any) -> None:
    array = CUDA.empty((6,), np.float32)
    with pytest.raises(ValueError, match="cannot copy 8 bytes to 24"):
        CUDA.copy(array, np.ones(1))
    with pytest.raises(ValueError, match="only contiguous arrays"):
        CUDA.copy(array, np.ones(12, np.float32)[::2])
    assert cupy.cuda.runtime.log == []


def test_registered_memory_is_page_locked_as_long_as_it_lasts(cupy: Any) -> None:
    array = np.ones(5)
    with CUDA.register(array):
        assert CUDA.is_pinned(array)
    assert not CUDA.is_pinned(array)
    assert CUDA.is_pinned(CUDA.empty_pinned((3,), np.float32))


def test_why_there_is_no_device(cupy: Any) -> None:
    assert CUDA.why_unavailable() is None
    cupy.cuda.runtime.devices = 0
    assert CUDA.why_unavailable() == ("cudaErrorNoDevice: no CUDA-capable device is detected")
    with pytest.raises(DeviceUnavailableError, match="CUDA cannot be used: cudaErrorNoDevice"):
        CUDA.require()


@pytest.mark.parametrize(
    ("offered", "installed", "why"),
    [
        (None, ["cupy-cuda12x 14.0"], "no NVIDIA driver found (no lib"),
        (
            (12, 4), ["cupy-cuda13x 14.0"],
            "cupy-cuda13x 14.0 is for CUDA 13, but the driver supports 12.4: pip install "
            "'gradtool[cuda12]' instead, or update the driver",
        ),
        ((12, 4), ["cupy-cuda12x 14.0"], "cudaErrorInsufficientDriver: too old"),
    ],
)  # fmt: skip
def test_a_driver_that_is_none_for_this_cupy_is_told_with_what_to_do(
    cupy: Any,
    monkeypatch: pytest.MonkeyPatch,
    offered: tuple[int, int] | None,
    installed: list[str],
    why: str,
) -> None:
    def refuse() -> int:
        raise cupy.cuda.runtime.CUDARuntimeError("cudaErrorInsufficientDriver: too old\nmore")

    monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", refuse)
    monkeypatch.setattr(driver, "driver_version", lambda: offered)
    monkeypatch.setattr(driver, "installed_cupy", lambda: installed)
    assert (CUDA.why_unavailable() or "").startswith(why)
