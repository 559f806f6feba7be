"""``profile-transfer --device cuda`` as a user runs it, on the fake runtime, sound and faulty.

Whatever fails, the report shows what was measured, says what was not and why, in lines rather
than tracebacks, and the exit status says whether anything was measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradtool.transfer.measuring.outcome import NOT_VERIFIED

LOST = "the device was lost"
NOT_LOCKED = "of page-locked memory: cudaErrorMemoryAllocation"
SMALL = ("--scenario", "pageable,pinned,registered,staged", "--size", "4KiB,1MiB", "--budget", "3")


def profile(
    tmp_path: Path, *arguments: str, **settings: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Run the command; return how it ended and its report."""
    path = tmp_path / "report.json"
    command = [sys.executable, "-m", "gradtool", "profile-transfer", "--device", "cuda"]
    done = subprocess.run(
        [*command, *arguments, "--report", f"json={path}"],
        env={**os.environ, **settings}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stdout + done.stderr
    return done, json.loads(path.read_text()) if path.exists() else {}


def measured(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in report["cells"] if "done" in cell]


EVERYTHING = """\
version: 1
transfer:
  sizes: [64KiB]
  collections: [{tensors: 20, each: 4000}]
"""


def test_everything_is_measured_and_labelled_as_simulated(tmp_path: Path) -> None:
    config = tmp_path / "everything.yaml"
    config.write_text(EVERYTHING)
    done, report = profile(tmp_path, "--config", str(config), "--budget", "30")
    assert done.returncode in {0, 5}, done.stderr
    assert report["simulated"]
    assert {"SIMULATED"} == {
        line.partition(" ")[0] for line in done.stdout.splitlines() if line.endswith("the device")
    }
    reasons = {
        cell["unavailable"]
        for cell in report["cells"]
        if "unavailable" in cell and not cell["scenario"].startswith("torch")
    }
    # Of a busy machine: no time, or times that do not add up.
    assert {reason.partition(":")[0] for reason in reasons} <= {"not measured", "not shown"}
    assert NOT_VERIFIED not in reasons
    assert len(measured(report)) >= 30
    assert all(cell["verified"] for cell in measured(report))
    assert all(each["caught"] == each["trials"] for each in report["hazards"])
    verdicts = {each["verdict"] for each in report["asynchrony"] if each["memory"] == "pinned"}
    assert verdicts == {"returns at once"}


FAULTS = {
    "lost at the first copy": ("cudaMemcpyAsync@1=719", 5, LOST),
    "lost in a copy": ("cudaMemcpyAsync@2s=719", 0, LOST),
    "lost by an illegal address": ("cudaEventRecord@2s=700", 0, LOST),
    "lost by an uncorrectable error": ("cudaDeviceSynchronize@2s=214", 0, LOST),
    "lost when memory is released": ("cudaFreeHost@1=719", 5, LOST),
    "no memory of the device": ("cudaMalloc@1+=2", 5, "Out of memory"),
    "no memory after the header": ("cudaMalloc@4+=2", 0, ""),
    "no pinned memory": ("cudaHostAlloc@1+=2", 0, NOT_LOCKED),
    "no pinned memory after a while": ("cudaHostAlloc@4+=2", 0, NOT_LOCKED),
    "no registering": ("cudaHostRegister@1+=2", 0, "could not be registered"),
    "no streams": ("cudaStreamCreateWithPriority@1+=2", 5, "every cell: not measured"),
    "no events": ("cudaEventCreateWithFlags@1+=2", 5, "out of memory"),
    "no host functions": ("cudaLaunchHostFunc@1+=801", 0, "hazards: not measured"),
    "no address of the device": ("cudaDeviceGetPCIBusId@1+=1", 0, "the device's description"),
    "no answer about memory": ("cudaMemGetInfo@1=2", 2, "cannot be used"),
    "no device to select": ("cudaSetDevice@1=100", 2, "cannot be used"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_leaves_a_readable_report(tmp_path: Path, name: str) -> None:
    fault, status, said = FAULTS[name]
    done, report = profile(tmp_path, *SMALL, FAKE_CUDA_FAULTS=fault)
    # On a busy machine there may be no time to measure anything, or no number good enough.
    assert done.returncode in {status, 5}, done.stdout + done.stderr
    if done.returncode == status:
        # Lines are wrapped for the terminal: text is looked for without their ends.
        assert said in " ".join((done.stdout + done.stderr).split())
    if done.returncode == 0:
        assert measured(report)
    if said == LOST:
        unmeasured = [cell for cell in report["cells"] if "done" not in cell]
        assert all(cell["unavailable"] for cell in unmeasured)


SHORTAGES = {
    "little memory of the device": ({"FAKE_CUDA_MEMORY": "2e6"}, "sizes left out: 1 MiB"),
    "little memory to lock": ({"FAKE_CUDA_HOST_MEMORY": "1e6"}, NOT_LOCKED),
    "bytes that change on the way": ({"FAKE_CUDA_CORRUPT": "40"}, NOT_VERIFIED),
    "allocations that wait": ({"FAKE_CUDA_HOST_ALLOC_WAITS": "1"}, "hazard"),
}


@pytest.mark.parametrize("name", SHORTAGES)
def test_a_shortage_leaves_a_readable_report(tmp_path: Path, name: str) -> None:
    settings, said = SHORTAGES[name]
    done, report = profile(tmp_path, "--scenario", "pageable,pinned", "--budget", "6", **settings)
    assert done.returncode in {0, 5}, done.stdout + done.stderr
    assert said in " ".join(done.stdout.split())
    assert report["cells"]


def test_no_device_is_one_line(tmp_path: Path) -> None:
    done, _ = profile(tmp_path, FAKE_CUDA_DEVICES="0")
    assert done.returncode == 2
    assert "cudaErrorNoDevice" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_pytorch_that_cannot_be_imported_is_a_reason(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise OSError('libtorch_cuda.so: cannot open')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done, report = profile(
        tmp_path, "--scenario", "torch", "--size", "4KiB", "--budget", "5", PYTHONPATH=path
    )
    assert done.returncode == 5, done.stderr
    reasons = {cell["unavailable"] for cell in report["cells"] if cell["scenario"] == "torch"}
    assert reasons == {"libtorch_cuda.so: cannot open"}


TUTORIAL = """
import torch

plain = torch.arange(1000, dtype=torch.double)
pinned = plain.pin_memory()
assert pinned.is_pinned() and not plain.is_pinned()

sent = [tensor.to("cuda", non_blocking=True) for tensor in (plain, pinned) for _ in range(20)]
torch.cuda.synchronize()
assert all(torch.equal(tensor.cpu(), plain) for tensor in sent)

stream, done = torch.cuda.Stream(), torch.cuda.Event()
with torch.cuda.stream(stream):
    copied = pinned.to("cuda", non_blocking=True)
    done.record()
done.synchronize()
assert torch.equal(copied.cpu(), plain)

fetched = copied.to("cpu", non_blocking=True)
torch.cuda.synchronize()
assert torch.equal(fetched, plain)
print("the tutorial ran")
"""


def test_the_tutorials_copies_run_on_the_engine(tmp_path: Path) -> None:
    script = tmp_path / "tutorial.py"
    script.write_text(TUTORIAL)
    done = subprocess.run(
        [sys.executable, "-m", "gradtool", "run", str(script)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "the tutorial ran\n"), done.stderr
