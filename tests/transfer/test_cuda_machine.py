"""Calls of CUDA, cell by cell, on a stand-in that accepts only what CuPy accepts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool.device import DeviceUnavailableError
from gradtool.measure.sampling import StopRule
from gradtool.transfer.errors import TransferError, UnavailableError
from gradtool.transfer.machines.cuda.header import version_text
from gradtool.transfer.machines.cuda.link import local_processors, numa_node, read_link
from gradtool.transfer.machines.cuda.machine import CudaMachine
from gradtool.transfer.machines.cuda.nvml import Nvml
from gradtool.transfer.plan.options import TransferOptions
from gradtool.transfer.probes import asynchrony
from gradtool.transfer.runner import machine_for, profile
from tests.device.fake_cupy import install
from tests.transfer import fake_torch
from tests.transfer.runs import make_short

H2D, D2H, D2D = 1, 2, 3


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The stand-in, whose device takes next to no time."""
    stand_in = install(monkeypatch)
    monkeypatch.setattr(stand_in.cuda, "get_elapsed_time", lambda start, end: 1e-4)
    monkeypatch.setattr("gradtool.transfer.machines.cuda.machine._COMPUTED", 1 << 6)
    monkeypatch.setattr("gradtool.transfer.machines.cuda.header._LOAD_COPIES", 3)
    monkeypatch.setattr(stand_in.cuda.runtime, "memGetInfo", lambda: (1 << 33, 1 << 34))
    make_short(monkeypatch)
    fake_torch.install(monkeypatch, stand_in)
    yield stand_in
    assert stand_in.cuda.runtime.allocated == {}
    assert stand_in.cuda.runtime.registered == set()


def test_every_scenario_is_asked_of_the_runtime_as_it_takes_it(cupy: Any) -> None:
    report = profile(
        TransferOptions(
            device="cuda", sizes=(4096, 5 << 20), collections=((3, 4001),), budget=300,
            probes=("pinning", "overlap"),
        ),
        rule=StopRule(least=2, spread=1e9),
    )  # fmt: skip
    assert not report.simulated
    assert {cell.unavailable for cell in report.cells} == {""}, [
        (cell.id, cell.unavailable) for cell in report.cells if cell.unavailable
    ]
    assert all(cell.verified for cell in report.cells)
    assert {cell.device for cell in report.cells if cell.host_only} == {None}
    assert report.header.backend == "cuda"
    assert (report.header.runtime, report.header.cupy) == ("12.8", cupy.__version__)
    assert report.link.unknown == "neither sysfs nor NVML reports it"
    assert all(not each.unavailable for each in (*report.pinning, *report.overlap))
    log = cupy.cuda.runtime.log
    assert {entry[2] for entry in log if entry[0] == "hostAlloc"} == {1, 5}
    assert {entry[2] for entry in log if entry[0] == "memcpyAsync"} == {H2D, D2H, D2D}


def test_pytorch_works_on_the_stream_that_is_measured_and_gets_its_own_back(cupy: Any) -> None:
    import torch

    report = profile(
        TransferOptions(
            device="cuda:1", sizes=(4096,), collections=(), scenarios=("torch*",), probes=(),
            budget=300,
        ),
        rule=StopRule(least=2, spread=1e9),
    )  # fmt: skip
    assert all(cell.verified and cell.device for cell in report.cells)
    streams: list[Any] = torch.cuda.streams  # type: ignore[attr-defined]
    assert streams[-1] == ("default", "cuda:0")
    assert {place for ptr, place in streams if ptr != "default"} == {"cuda:1"}


def test_the_synchronous_copy_is_marked_on_the_default_stream(cupy: Any) -> None:
    machine = CudaMachine()
    assert machine.default_stream().ptr == 0
    source, target = np.arange(9, dtype=np.uint8), machine.device(9)
    machine.waiting_copier(target, source)()
    assert machine.read(target).tolist() == source.tolist()
    assert machine.pooled(5000).array.nbytes == 5000


def test_calls_are_probed_by_the_runtime_and_by_the_engine(cupy: Any) -> None:
    found = list(asynchrony.probe_all(CudaMachine(), 4096, held=0.005))
    assert [(each.call, each.memory, each.direction) for each in found] == [
        ("cudaMemcpyAsync", "pageable", "h2d"), ("cudaMemcpyAsync", "pageable", "d2h"),
        (asynchrony.ENGINE_CALL, "pageable", "h2d"), (asynchrony.ENGINE_CALL, "pageable", "d2h"),
        ("cudaMemcpyAsync", "pinned", "h2d"), ("cudaMemcpyAsync", "pinned", "d2h"),
        (asynchrony.ENGINE_CALL, "pinned", "h2d"),
    ]  # fmt: skip
    assert all(each.verdict for each in found)


@pytest.mark.parametrize(
    ("memory", "flags"), [("pageable", None), ("pinned", 1), ("write-combined", 5)]
)
def test_each_kind_of_memory(cupy: Any, memory: Any, flags: int | None) -> None:
    machine = CudaMachine(1)
    block = machine.host(memory, 5000)
    block.array[:] = np.arange(5000, dtype=np.uint8)
    device, stream = machine.device(5000), machine.stream()
    machine.copier(device, block.array, stream)()
    assert machine.read(device).tolist() == block.array.tolist()
    runtime = cupy.cuda.runtime
    assert runtime.log[-1] == ("memcpyAsync", 5000, H2D, stream.ptr)
    allocated = [entry[1:] for entry in runtime.log if entry[0] == "hostAlloc"]
    assert allocated == ([] if flags is None else [(5000, flags)])
    assert runtime.current == 1
    block.close()


def test_registered_memory_is_given_back_before_it_goes(cupy: Any) -> None:
    machine = CudaMachine()
    block = machine.host("registered", 1 << 16)
    assert cupy.cuda.runtime.registered == {block.array.ctypes.data}
    block.close()


def test_memory_that_cuda_refuses_is_a_reason(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_given: int) -> None:
        raise cupy.cuda.runtime.CUDARuntimeError("cudaErrorMemoryAllocation: out of memory\nmore")

    monkeypatch.setattr(cupy.cuda.runtime, "hostAlloc", refuse)
    monkeypatch.setattr(cupy.cuda.runtime, "hostRegister", refuse)
    machine = CudaMachine()
    with pytest.raises(
        UnavailableError,
        match=r"^cannot allocate 4 KiB of page-locked memory: "
        r"cudaErrorMem",
    ):
        machine.host("pinned", 4096)
    with pytest.raises(UnavailableError, match=r"could not be registered: .*out of memory$"):
        machine.host("registered", 4096)


def test_a_held_stream_is_held_by_a_function_of_the_host(cupy: Any) -> None:
    from gradtool.transfer.probes.held_stream import held

    machine = CudaMachine()
    with held(machine, machine.stream()) as hold:
        assert hold._stopped.is_set()


def test_devices_that_are_not_there(cupy: Any) -> None:
    with pytest.raises(TransferError, match="cuda:2 does not exist; CUDA devices here: 2"):
        machine_for("cuda:2")
    with pytest.raises(DeviceUnavailableError, match="invalid device ordinal"):
        CudaMachine(7)
    assert machine_for(None).place == "cuda:0"
    cupy.cuda.runtime.devices = 0
    with pytest.raises(TransferError, match=r"^--device cuda cannot be used: cudaErrorNoDevice"):
        machine_for("cuda")
    assert machine_for(None).simulated


def make_device(root: Path, bus: str, speed: str, width: str) -> Path:
    place = root / bus
    place.mkdir(parents=True)
    (place / "current_link_speed").write_text(f"{speed}\n")
    (place / "current_link_width").write_text(f"{width}\n")
    return place


def test_the_slowest_hop_is_the_link(tmp_path: Path) -> None:
    bridge = make_device(tmp_path, "0000:01:00.0", "16.0 GT/s PCIe", "16")
    device = make_device(bridge, "0000:3b:00.0", "32.0 GT/s PCIe", "16")
    (device / "numa_node").write_text("1\n")
    (device / "local_cpulist").write_text("0-2,8\n")
    devices = tmp_path / "devices"
    devices.mkdir()
    (devices / "0000:3b:00.0").symlink_to(device)
    link = read_link("0000:3B:00.0", None, devices)
    assert (link.generation, link.width, link.source) == (4, 16, "sysfs")
    assert link.gbps == pytest.approx(31.5, rel=0.01)
    assert numa_node("0000:3b:00.0", devices) == 1
    assert local_processors("0000:3B:00.0", devices) == {0, 1, 2, 8}
    assert numa_node("none", devices) is None
    assert local_processors("none", devices) == frozenset()


@pytest.mark.parametrize(
    ("speed", "width"), [("Unknown", "16"), ("32.0 GT/s", "0"), ("9 GT/s", "8")]
)
def test_a_link_that_cannot_be_told_is_unknown(tmp_path: Path, speed: str, width: str) -> None:
    make_device(tmp_path, "0000:3b:00.0", speed, width)
    link = read_link("0000:3b:00.0", None, tmp_path)
    assert link.gbps is None
    assert link.unknown


class Library:
    """The management library of a device with known figures."""

    def __init__(self, **figures: int) -> None:
        self.figures = figures

    def nvmlInit_v2(self) -> int:
        return 0

    def nvmlDeviceGetHandleByPciBusId_v2(self, bus: bytes, device: Any) -> int:
        return 0 if bus == b"0000:3b:00.0" else 6

    def nvmlSystemGetDriverVersion(self, text: Any, size: Any) -> int:
        text.value = b"570.1"
        return 0

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, device: Any, found: Any) -> int:
        found._obj.value = self.figures.get("throttle", 0)
        return 0

    def __getattr__(self, name: str) -> Any:
        def answer(device: Any, *arguments: Any) -> int:
            key = name + "".join(str(each.value) for each in arguments[:-1])
            if key not in self.figures:
                return 3
            arguments[-1]._obj.value = self.figures[key]
            return 0

        return answer


def test_the_management_library_tells_where_sysfs_does_not(tmp_path: Path) -> None:
    nvml = Nvml(
        "0000:3b:00.0",
        Library(
            nvmlDeviceGetCurrPcieLinkGeneration=5, nvmlDeviceGetCurrPcieLinkWidth=16,
            nvmlDeviceGetClockInfo1=1980, throttle=0x4,
        ),
    )  # fmt: skip
    link = read_link("0000:3b:00.0", nvml, tmp_path)
    assert (link.generation, link.width, link.source) == (5, 16, "NVML")
    assert link.gbps == pytest.approx(63, rel=0.01)
    assert nvml.clocks() == "SM 1980 MHz"
    assert nvml.driver() == "570.1"
    assert nvml.throttled()
    assert read_link("0000:3b:00.0", Nvml("0000:3b:00.0", Library()), tmp_path).gbps is None
    with pytest.raises(OSError, match="NVML error 6"):
        Nvml("0000:00:00.0", Library())


def test_versions_are_read() -> None:
    assert [version_text(number) for number in (12080, 12090, 13000)] == ["12.8", "12.9", "13.0"]
