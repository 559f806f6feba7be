"""Copies, allocations and waiting in a profile, by the names that the runtime has for them."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as torch
from gradtool.engine._profiling import cuda
from gradtool.engine.profiler import ProfilerActivity, profile

pytestmark = pytest.mark.usefixtures("cupy")


@pytest.fixture(autouse=True)
def _hooks_of_this_stand_in() -> None:
    cuda._hook_class.cache_clear()


def counted(work: Any, *, device: bool = False) -> tuple[dict[str, int], Any]:
    with profile(activities=[ProfilerActivity.CPU, *[ProfilerActivity.CUDA] * device]) as found:
        work()
    averages = found.key_averages()
    return {row.key: row.count for row in averages}, averages


def test_a_blocking_copy_waits_for_its_stream_each_time() -> None:
    tensors = [torch.ones(10) for _ in range(5)]
    counts, _ = counted(lambda: [tensor.to("cuda:0") for tensor in tensors])
    names = ["aten::to", "aten::_to_copy", "cudaMemcpyAsync", "cudaStreamSynchronize"]
    assert [counts[name] for name in names] == [5] * 4
    assert list(counts)[:2] == names[:2]


def test_copies_that_do_not_block_wait_once() -> None:
    tensors = [torch.ones(10) for _ in range(5)]

    def copy() -> None:
        for tensor in tensors:
            tensor.to("cuda:0", non_blocking=True)
        torch.cuda.synchronize()

    counts, _ = counted(copy)
    assert (counts["cudaMemcpyAsync"], counts["cudaDeviceSynchronize"]) == (5, 1)
    assert "cudaStreamSynchronize" not in counts


def test_a_copy_to_the_host_keeps_its_values() -> None:
    held = torch.arange(6.0, device="cuda").reshape(2, 3)
    kept: list[Any] = []
    counts, _ = counted(lambda: kept.extend([held.cpu(), held.t().cpu()]))
    assert kept[0].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert kept[1].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert counts["cudaMemcpyAsync"] == 2


def test_the_time_of_the_device_has_columns_of_its_own() -> None:
    x = torch.ones(4, device="cuda")
    _, averages = counted(lambda: x.exp(), device=True)
    table = averages.table(sort_by="cuda_time_total")
    assert "Self CUDA" in table
    assert "Self CUDA time total:" in table


def test_allocations_are_told_of_while_the_profile_lasts(cupy: Any) -> None:
    def allocate() -> None:
        (hook,) = cupy.cuda.hooks
        hook.malloc_preprocess(device_id=0, size=512, mem_size=512)
        hook.alloc_preprocess(device_id=0, mem_size=512)
        hook.alloc_postprocess(device_id=0, mem_size=512, mem_ptr=1)
        hook.malloc_postprocess(device_id=0, size=512, mem_size=512, mem_ptr=1, pmem_id=1)

    counts, _ = counted(allocate)
    assert counts == {"aten::empty_strided": 1, "cudaMalloc": 1}
    assert cupy.cuda.hooks == []
