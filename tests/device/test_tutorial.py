"""A script like those of tutorials on pinned memory, run as users run theirs, on the stand-in.

It times copies by `Timer`, looks into them with the profiler, and reads a result too early.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gradtool.cli.app import main
from gradtool.engine._profiling import cuda

SCRIPT = """
import gc
import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.benchmark import Timer

assert torch.cuda.is_available(), "needs a device"
plain = torch.randn(1000)
pinned = torch.randn(1000, pin_memory=True)
assert pinned.is_pinned() and not plain.is_pinned()

def time(label, stmt):
    timer = Timer(stmt, globals=globals())
    print(label, timer.adaptive_autorange(min_run_time=1e-3, max_run_time=1.0))

time("plain", "plain.to('cuda:0')")
time("pinned", "pinned.to('cuda:0', non_blocking=True)")
print(Timer("plain.to('cuda:0')", globals=globals()).timeit(3))

def send(*tensors):
    return [tensor.to("cuda:0") for tensor in tensors]

def send_and_wait_once(*tensors):
    sent = [tensor.to("cuda:0", non_blocking=True) for tensor in tensors]
    torch.cuda.synchronize()
    return sent

tensors = [torch.randn(10) for _ in range(20)]

def table(command):
    with profile(activities=[ProfilerActivity.CPU]) as found:
        exec(command)
    print(found.key_averages().table(row_limit=10))

table("send(*tensors)")
table("send_and_wait_once(*tensors)")
del tensors
gc.collect()

big = torch.arange(1, 100, dtype=torch.double, device="cuda").expand(5, 99).clone()
torch.testing.assert_close(big.mean(), torch.tensor(50, dtype=torch.double, device="cuda"))
fetched = big.to("cpu", non_blocking=True)
torch.cuda.synchronize()
torch.testing.assert_close(fetched.mean(), torch.tensor(50, dtype=torch.double))
print("fetched")
"""


def test_a_tutorial_runs_as_it_stands(
    cupy: Any,
    scripts_run_here: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cuda._hook_class.cache_clear()
    script = tmp_path / "tutorial.py"
    script.write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    code = main(["run", "tutorial.py"])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    assert out.startswith("plain <torch.utils.benchmark.utils.common.Measurement object at 0x")
    assert re.search(r"^  Median: [\d.]+ .s\n  IQR:    [\d.]+ .s \([\d.]+ to [\d.]+\)$", out, re.M)
    assert re.search(r"^  1 measurement, 3 runs , 1 thread$", out, re.M)
    waits_each, waits_once = re.findall(r"(?s)Self CPU %.*?Self CPU time total", out)
    assert re.search(r"cudaMemcpyAsync .* 20\s*$", waits_each, re.M)
    assert re.search(r"cudaStreamSynchronize .* 20\s*$", waits_each, re.M)
    assert re.search(r"cudaDeviceSynchronize .* 1\s*$", waits_once, re.M)
    assert "cudaStreamSynchronize" not in waits_once
    assert out.endswith("fetched\n")
