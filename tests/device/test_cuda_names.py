"""``torch.cuda``: devices, streams, events and memory."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as torch
from gradtool.device import peaks

cuda = torch.cuda


def test_devices(cupy: Any) -> None:
    assert (cuda.is_available(), cuda.device_count(), cuda.current_device()) == (True, 2, 0)
    cuda.set_device(1)
    assert cuda.current_device() == 1
    assert str(torch.zeros(1, device="cuda").device) == "cuda:1"
    with cuda.device(0):
        assert cuda.current_device() == 0
    with cuda.device_of(torch.zeros(1)):
        assert cuda.current_device() == 1
    assert cuda.get_device_name("cuda:1") == "Paper 1"
    assert cuda.get_device_capability() == (9, 1)
    assert cuda.get_device_properties(0).multi_processor_count == 7


def test_what_is_no_device(cupy: Any) -> None:
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        cuda.synchronize("cpu")
    with pytest.raises(RuntimeError, match="invalid device ordinal: 'cuda:7' of 2"):
        cuda.set_device(7)


def test_work_is_given_to_the_stream_of_the_context(cupy: Any) -> None:
    side = cuda.Stream(device=1, priority=-1)
    assert str(side.device) == "cuda:1"
    assert cuda.current_stream() == cuda.default_stream() != side
    with cuda.stream(side):
        assert cuda.current_stream() == side
        assert cuda.current_device() == 1
    assert cuda.current_stream() == cuda.default_stream()
    with cuda.stream(None):
        assert cuda.current_stream() == cuda.default_stream()


def test_events_time_and_order_work(cupy: Any) -> None:
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    side = cuda.Stream()
    start.record(side)
    end.record(side)
    assert start.elapsed_time(end) == 2.5
    log = cupy.cuda.runtime.log
    assert log == [("record", side.cuda_stream)] * 2
    log.clear()
    side.wait_stream(cuda.current_stream())
    end.wait()
    end.synchronize()
    assert log == [("record", 0), ("wait_event", side.cuda_stream), ("wait_event", 0),
                   ("event.synchronize",)]  # fmt: skip


def test_events_that_cannot_tell_the_time(cupy: Any) -> None:
    timed, plain = cuda.Event(enable_timing=True), cuda.Event()
    with pytest.raises(ValueError, match="enable_timing=True"):
        plain.elapsed_time(timed)
    with pytest.raises(RuntimeError, match="must be recorded"):
        timed.elapsed_time(timed)
    timed.record()
    timed.inner.inner.done = False
    assert not timed.query()
    with pytest.raises(RuntimeError, match="must be completed"):
        timed.elapsed_time(timed)
    assert plain.query()


def _is_kept(x: Any) -> bool:
    from gradtool.device import transfers

    return any(held is x._array for each in transfers._in_flight.values() for _, held in each)


def test_memory_is_kept_until_a_recorded_stream_is_done(cupy: Any) -> None:
    x = torch.ones(3, device="cuda")
    x.record_stream(cuda.Stream())
    assert _is_kept(x)
    assert cuda.synchronize() is None
    torch.ones(1, device="cuda").record_stream(cuda.Stream())
    assert not _is_kept(x)
    with pytest.raises(RuntimeError, match="is only for tensors on a CUDA device"):
        torch.ones(1).record_stream(cuda.Stream())


def test_memory_figures(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peaks, "_of_thread", type("Local", (), {})())
    peaks._hook_class.cache_clear()
    pool = cupy.cuda.pool
    assert (cuda.memory_allocated(), cuda.memory_reserved()) == (100, 200)
    assert cuda.mem_get_info() == (600, 1 << 30)
    cuda.reset_peak_memory_stats()
    (hook,) = cupy.cuda.hooks
    pool.used = 170
    hook.malloc_postprocess(device_id=0, size=70, mem_size=70, mem_ptr=1, pmem_id=1)
    pool.used = 50
    assert (cuda.max_memory_allocated(), cuda.max_memory_reserved()) == (170, 200)
    cuda.reset_peak_memory_stats()
    assert cuda.max_memory_allocated() == 50
    cuda.empty_cache()
    assert (pool.freed, cupy.cuda.pinned_pool.freed) == (1, 1)
    peaks._hook_class.cache_clear()


def test_without_cupy_nothing_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "cupy", None)
    assert (cuda.is_available(), cuda.device_count(), cuda.is_initialized()) == (False, 0, False)
    cuda.manual_seed_all(0)
    cuda.empty_cache()
    for use in (cuda.current_device, cuda.Stream, cuda.Event, cuda.synchronize):
        with pytest.raises(RuntimeError, match="CUDA cannot be used: CuPy is not installed"):
            use()
