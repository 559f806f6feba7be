"""Copies, streams, events, page-locked memory and memory figures of a real device."""

from __future__ import annotations

import numpy as np
import pytest

import gradtool.engine as torch
from gradtool.device import CUDA

COUNT = 1 << 22


def host() -> torch.Tensor:
    return torch.arange(COUNT, dtype=torch.int64)


@pytest.mark.parametrize("non_blocking", [False, True])
@pytest.mark.parametrize("page_locked", [False, True])
def test_there_and_back(page_locked: bool, non_blocking: bool) -> None:
    x = host().pin_memory() if page_locked else host()
    assert x.is_pinned() == page_locked
    there = x.to("cuda", non_blocking=non_blocking)
    back = there.to("cpu", non_blocking=non_blocking)
    torch.cuda.synchronize()
    assert back.is_pinned() == non_blocking
    np.testing.assert_array_equal(back.numpy(), x.numpy())


def test_arrays_that_are_not_contiguous() -> None:
    x = torch.arange(24).reshape(4, 6)[:, ::2].t()
    np.testing.assert_array_equal(x.cuda().cpu().numpy(), x.numpy())
    there = torch.arange(24, device="cuda").reshape(4, 6)[:, ::2].t()
    np.testing.assert_array_equal(there.cpu().numpy(), x.numpy())
    back = there.to("cpu", non_blocking=True)
    torch.cuda.synchronize()
    np.testing.assert_array_equal(back.numpy(), x.numpy())


def test_many_copies_that_do_not_block_keep_their_memory() -> None:
    sources = [torch.full((1 << 16,), number, device="cuda") for number in range(50)]
    copies = [each.to("cpu", non_blocking=True) for each in sources]
    torch.cuda.synchronize()
    assert [int(each.numpy().max()) for each in copies] == list(range(50))
    assert [int(each.numpy().min()) for each in copies] == list(range(50))


def test_the_runtime_copies_on_a_stream() -> None:
    source = CUDA.empty_pinned((COUNT,), np.int64)
    source[...] = np.arange(COUNT)
    first, second = CUDA.empty((COUNT,), np.int64), CUDA.empty((COUNT,), np.int64)
    back = CUDA.empty_pinned((COUNT,), np.int64)
    CUDA.synchronize()
    stream = CUDA.stream()
    CUDA.copy(first, source, stream)
    CUDA.copy(second, first, stream)
    CUDA.copy(back, second, stream)
    stream.synchronize()
    assert stream.query()
    np.testing.assert_array_equal(back, source)


def test_registered_memory() -> None:
    array = np.zeros(COUNT)
    assert not CUDA.is_pinned(array)
    with CUDA.register(array):
        assert CUDA.is_pinned(array)
    assert not CUDA.is_pinned(array)


def test_events_time_a_stream() -> None:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() == side
        start.record()
        x = host().pin_memory().to("cuda", non_blocking=True)
        end.record()
    torch.cuda.current_stream().wait_stream(side)
    x.record_stream(torch.cuda.current_stream())
    assert int((x + 1).sum()) == COUNT * (COUNT + 1) // 2
    end.synchronize()
    assert end.query()
    assert 0 < start.elapsed_time(end) < 10_000


def test_memory_figures() -> None:
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    x = torch.zeros(COUNT, device="cuda")
    assert torch.cuda.memory_allocated() >= before + x.nbytes
    held = x.nbytes
    del x
    assert torch.cuda.max_memory_allocated() >= before + held
    assert torch.cuda.memory_allocated() == before
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total == torch.cuda.get_device_properties().total_memory


def test_what_the_device_says_of_itself() -> None:
    assert torch.cuda.is_available()
    assert torch.cuda.get_device_name()
    assert torch.cuda.get_device_capability() >= (5, 0)
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.cuda.set_device(torch.cuda.device_count())


def test_indices_out_of_range_are_refused() -> None:
    x = torch.arange(3.0, device="cuda")
    with pytest.raises(IndexError, match="out of bounds"):
        x[torch.tensor([0, 3], device="cuda")]
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        x + torch.ones(3)
