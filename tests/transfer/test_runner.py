"""A whole run on a device whose times are known: what it measures is what is so."""

from __future__ import annotations

import itertools
import threading

import pytest

from gradtool.results.transfer import Link
from gradtool.transfer.errors import TransferError
from gradtool.transfer.plan.options import RowOptions
from gradtool.transfer.plan.plan import cells_in_turn
from tests.transfer.fake_machine import CALL, LATENCY, FakeMachine
from tests.transfer.runs import cell_of, run

MIB = 1 << 20


def test_every_cell_is_measured_and_verified() -> None:
    machine = FakeMachine()
    report = run(machine, sizes=(4096, 1 << 16))
    assert {cell.unavailable for cell in report.cells} == {""}
    assert all(cell.verified and cell.done and cell.done.n >= 15 for cell in report.cells)
    assert not report.simulated
    assert machine.alive == []


def test_the_three_times_are_told_apart() -> None:
    report = run(scenarios=("pageable", "pinned"), sizes=(MIB,), probes=())
    pinned = cell_of(report, f"pinned.h2d.non_blocking[{MIB}]")
    waits = cell_of(report, f"pinned.h2d.blocking[{MIB}]")
    copy = LATENCY + MIB / 50e9
    for cell in (pinned, waits):
        assert cell.call
        assert cell.done
        assert cell.device
        assert cell.done.median == pytest.approx(copy, rel=0.05)
        assert cell.device.median == pytest.approx(copy, rel=0.05)
    assert pinned.call.median == pytest.approx(CALL, rel=0.05)
    assert waits.call.median == pytest.approx(waits.done.median, rel=0.05)
    assert pinned.host_freed == pytest.approx(1 - CALL / copy, rel=0.05)
    pageable = cell_of(report, f"pageable.h2d.non_blocking[{MIB}]")
    assert pageable.host_freed == pytest.approx(0, abs=0.02)


def test_rates_and_the_share_of_the_link() -> None:
    report = run(scenarios=("pinned", "device", "duplex"), sizes=(MIB,), probes=())
    pinned = cell_of(report, f"pinned.d2h.non_blocking[{MIB}]")
    rate = MIB / (LATENCY + MIB / 50e9) / 1e9
    assert pinned.gbps == pytest.approx(rate, rel=0.05)
    assert pinned.link_share == pytest.approx(rate / 63, rel=0.05)
    assert cell_of(report, f"device.d2d.blocking[{MIB}]").link_share is None
    both = cell_of(report, f"duplex.duplex.non_blocking[{MIB}]")
    assert both.gbps == pytest.approx(2 * rate, rel=0.1)


def test_an_unknown_link_leaves_the_share_open() -> None:
    report = run(FakeMachine(link=Link(unknown="hidden")), sizes=(MIB,), probes=())
    assert {cell.link_share for cell in report.cells} == {None}


def test_short_copies_are_batched_until_the_window_is_filled() -> None:
    report = run(scenarios=("pinned",), sizes=(4096, 64 * MIB), probes=())
    short = cell_of(report, "pinned.h2d.non_blocking[4096]")
    assert short.batch * (LATENCY + 4096 / 50e9) >= 100e-6
    assert cell_of(report, f"pinned.h2d.non_blocking[{64 * MIB}]").batch == 1


def test_steady_times_need_the_least_samples_and_unsteady_ones_the_whole_budget() -> None:
    one = {"scenarios": ("pinned",), "collections": (), "probes": ()}
    steady = run(sizes=(MIB,), **one)
    assert {cell.done.n for cell in steady.cells if cell.done} == {15}
    assert steady.notices == ()
    jitter = itertools.cycle((1.0, 1.7, 1.1, 2.3, 1.4))
    unsteady = run(FakeMachine(jitter=jitter), sizes=(64 * MIB,), budget=2.0, **one)
    counts = [cell.done.n for cell in unsteady.cells if cell.done and cell.done.trust]
    assert len(counts) == 4
    assert min(counts) > 15
    (notice,) = unsteady.notices
    assert "the budget of 2 s ran out" in notice


def test_cells_are_sampled_in_turn() -> None:
    jitter = itertools.cycle((1.0, 1.7, 1.1, 2.3, 1.4))
    ways = {"scenarios": ("pinned", "pageable"), "collections": (), "probes": ()}
    report = run(FakeMachine(jitter=jitter), sizes=(4 * MIB, 8 * MIB), budget=0.4, **ways)
    counts = {cell.done.n for cell in report.cells if cell.done}
    assert max(counts) - min(counts) <= 1


def test_a_budget_that_is_too_short_leaves_reasons() -> None:
    report = run(sizes=(64 * MIB,), probes=(), budget=0.05)
    missing = {cell.unavailable for cell in report.cells if not cell.done}
    assert missing == {"the budget ran out before the first sample"}


def test_a_budget_that_is_short_says_how_many_cells_are_done() -> None:
    report = run(scenarios=("pageable",), sizes=(4 << 10,), probes=(), budget=0.05, collections=())
    assert report.notices == (
        "when the budget of 0.05 s ran out, 1 of 4 cells had 15 samples and a spread below 5%",
    )


def test_probes_that_the_budget_cuts_short_share_a_notice() -> None:
    report = run(sizes=(64 * MIB,), probes=("hazards", "latency"), budget=0.05)
    (notice,) = (each for each in report.notices if "fully measured" in each)
    assert set(notice.rpartition(": ")[2].split(", ")) == {"hazards", "latency"}


def test_a_budget_that_is_short_leaves_something_of_every_scenario() -> None:
    report = run(sizes=(4 << 10, 64 * MIB), probes=(), budget=0.7, collections=())
    measured = {cell.scenario for cell in report.cells if cell.done}
    assert measured == {cell.scenario for cell in report.cells}
    assert {cell.unavailable for cell in report.cells if not cell.done} == {
        "the budget ran out before the first sample"
    }


def test_the_first_pass_compares_modes_and_begins_with_pageable_and_pinned() -> None:
    ways = ("registered", "pageable", "pinned")
    cells = run(scenarios=ways, sizes=(1, 2, 3), probes=(), collections=()).cells
    turns = cells_in_turn(cells)
    found = [({cell.bytes for cell in turn}, {cell.scenario for cell in turn}) for turn in turns]
    assert found == [
        ({1}, set(ways)), ({2}, {"pageable", "pinned"}), ({3}, {"pageable", "pinned"}),
        ({2}, {"registered"}), ({3}, {"registered"}),
    ]  # fmt: skip
    assert all({cell.mode for cell in turn} == {"blocking", "non_blocking"} for turn in turns)
    assert sum(map(len, turns)) == len(cells)


def test_rows_are_measured_beside_the_grid() -> None:
    rows = (
        RowOptions(name="ten", scenario="pinned", tensors=10, bytes=4000, published=1e-3),
        RowOptions(name="one", scenario="pageable", bytes=4000, mode="non_blocking"),
    )
    report = run(sizes=(), collections=(), scenarios=("pinned",), rows=rows, probes=())
    assert [(cell.row, cell.tensors, cell.published) for cell in report.cells] == [
        ("ten", 10, 1e-3), ("one", 1, None),
    ]  # fmt: skip
    assert all(cell.verified for cell in report.cells)


def test_memory_that_is_refused_is_a_reason_and_the_rest_goes_on() -> None:
    refusing = FakeMachine(refused=("write-combined", "pinned"))
    report = run(refusing, sizes=(MIB,), probes=("hazards",))
    reasons = {cell.scenario: cell.unavailable for cell in report.cells}
    assert reasons["write-combined"] == "no write-combined memory here"
    assert reasons["staged"] == "no pinned memory here"
    assert reasons["pageable"] == reasons["registered"] == ""
    assert {hazard.unavailable for hazard in report.hazards} == {"no pinned memory here"}


def test_default_sizes_that_do_not_fit_are_left_out() -> None:
    report = run(FakeMachine(free=1 << 28), sizes=None, scenarios=("pinned",), probes=())
    sizes = {cell.bytes for cell in report.cells if cell.tensors == 1}
    assert sizes == {4096, 1 << 16, MIB, 16 * MIB}
    assert report.notices[0].startswith("sizes left out: 64 MiB: 64 MiB does not fit")


class LosingMachine(FakeMachine):
    """A device that is lost after so many waits for it."""

    left = 0

    def synchronize(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("cudaErrorLaunchFailure: unspecified launch failure\nmore")
        super().synchronize()


@pytest.mark.parametrize("left", [0, 1, 30, 1000])
def test_a_lost_device_leaves_what_was_measured(left: int) -> None:
    machine = LosingMachine()
    machine.left = left
    report = run(machine, scenarios=("pinned", "pageable"), sizes=(4096, MIB))
    reasons = {cell.unavailable for cell in report.cells if not cell.done}
    lost = "the device was lost: cudaErrorLaunchFailure: unspecified launch failure"
    assert all("cudaErrorLaunchFailure" in reason for reason in reasons)
    assert any(notice.startswith(lost) for notice in report.notices)
    assert any(cell.done for cell in report.cells) == (left == 1000)


def test_a_probe_that_fails_is_a_notice_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class CompileError(Exception):
        """As CuPy's, which is no RuntimeError."""

    def fail(*_: object) -> None:
        raise CompileError("no NVRTC")

    monkeypatch.setattr("gradtool.transfer.probes.hazards.demonstrate_all", fail)
    report = run(scenarios=("pinned",), sizes=(MIB,), probes=("hazards", "pinning"))
    assert "hazards: not measured: no NVRTC" in report.notices
    assert report.pinning
    assert all(cell.done for cell in report.cells)


def test_what_does_not_fit_is_refused_before_anything_is_allocated() -> None:
    machine = FakeMachine(free=1 << 30)
    with pytest.raises(TransferError, match=r"1 GiB does not fit: with 1\.07 GB of memory free"):
        run(machine, sizes=(1 << 30,))
    assert machine.alive == []


def test_many_tensors_that_do_not_fit_become_fewer() -> None:
    rows = (RowOptions(name="many", scenario="pageable", tensors=100, bytes=4 * MIB),)
    report = run(FakeMachine(free=1 << 30), sizes=(), collections=(), rows=rows, probes=())
    (cell,) = (cell for cell in report.cells if cell.row)
    assert 1 < cell.tensors < 100
    assert cell.verified
    assert report.notices[0].startswith(f"many: {cell.tensors} tensors instead of 100: 400 MiB")


class Interrupting:
    """A watcher that is the user pressing Ctrl-C."""

    def __init__(self, after: int) -> None:
        self.after = after

    def stage(self, what: str) -> None: ...

    def sampled(self, waiting: int, seconds: float) -> None:
        self.after -= 1
        if self.after == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("after", [1, 10, 60, 200])
def test_an_interrupt_keeps_what_was_measured_and_leaves_nothing(after: int) -> None:
    from gradtool.transfer.plan.options import TransferOptions
    from gradtool.transfer.runner import profile
    from tests.transfer.runs import RAW

    machine = FakeMachine()
    options = TransferOptions(
        sizes=(4096, MIB), scenarios=RAW, probes=("overlap", "pinning", "hazards")
    )
    report = profile(options, Interrupting(after), machine=machine)
    assert report.interrupted
    assert machine.closed
    assert machine.alive == []
    if after == 200:
        assert any(cell.done for cell in report.cells)
    assert not [each for each in threading.enumerate() if each.name.startswith("gradtool")]
