"""Transfer profiles on a real device: cells verified, hazards caught, rates that can be."""

from __future__ import annotations

import time

import numpy as np
import pytest

from gradtool.device import CUDA, array_module
from gradtool.transfer.machines.cuda.machine import CudaMachine
from gradtool.transfer.plan.options import TransferOptions
from gradtool.transfer.probes import asynchrony, hazards
from gradtool.transfer.runner import profile

SIZE = 64 << 20


@pytest.mark.usefixtures("real_device")
def test_every_scenario_on_the_device() -> None:
    report = profile(TransferOptions(device="cuda", budget=60))
    assert {cell.unavailable for cell in report.cells} == {""}, [
        (cell.id, cell.unavailable) for cell in report.cells if cell.unavailable
    ]
    assert all(cell.verified for cell in report.cells)
    assert all(hazard.caught == hazard.trials for hazard in report.hazards)
    assert report.advice
    assert report.header.driver


def test_hazards_are_caught_and_cured_every_time() -> None:
    machine = CudaMachine()
    for found in hazards.demonstrate_all(machine, trials=100):
        assert (found.caught, found.cured_by_synchronize, found.cured_by_event) == (100,) * 3
    machine.close()


def test_every_probe_of_asynchrony_has_a_verdict() -> None:
    machine = CudaMachine()
    found = list(asynchrony.probe_all(machine, 1 << 20))
    assert all(bool(probe.verdict) != bool(probe.unavailable) for probe in found)
    machine.close()


@pytest.mark.usefixtures("real_device")
def test_pinned_copies_return_at_once() -> None:
    machine = CudaMachine()
    found = list(asynchrony.probe_all(machine, 1 << 20))
    pinned = {probe.verdict for probe in found if probe.memory == "pinned"}
    assert pinned == {"returns at once"}
    machine.close()


@pytest.mark.usefixtures("real_device")
def test_pinned_rate_is_that_of_a_bare_loop() -> None:
    report = profile(
        TransferOptions(
            device="cuda", sizes=(SIZE,), collections=(), scenarios=("pinned",),
            directions=("h2d",), probes=(), budget=20,
        )
    )  # fmt: skip
    (cell,) = [cell for cell in report.cells if cell.mode == "non_blocking"]
    assert cell.gbps == pytest.approx(_bare_loop(), rel=0.02)


def _bare_loop(count: int = 100) -> float:
    """GB/s of `memcpyAsync` in a loop with nothing around it."""
    runtime = array_module("cuda").cuda.runtime
    source, target = CUDA.empty_pinned((SIZE,), np.uint8), CUDA.empty((SIZE,), np.uint8)
    stream = CUDA.stream()
    places = target.data.ptr, source.ctypes.data, SIZE, runtime.memcpyHostToDevice, stream.ptr
    source[...] = 1
    rates = []
    for _ in range(7):
        stream.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            runtime.memcpyAsync(*places)
        stream.synchronize()
        rates.append(count * SIZE / (time.perf_counter() - start) / 1e9)
    return float(np.median(rates))


def test_a_copy_of_the_engine_that_does_not_block_returns_at_once() -> None:
    machine = CudaMachine()
    found = list(asynchrony.probe_all(machine, 1 << 20))
    ours = [probe for probe in found if probe.call == asynchrony.ENGINE_CALL]
    assert {probe.verdict for probe in ours if probe.memory == "pinned"} == {"returns at once"}
    machine.close()
