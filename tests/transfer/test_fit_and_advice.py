"""The line through the medians, what pinning pays, and the sentences that follow."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gradtool.transfer.analysis.advice import NO_DEVICE, advise
from gradtool.transfer.analysis.fit import fit_line
from gradtool.transfer.probes.overlap import efficiency
from tests.transfer.fake_machine import LATENCY, FakeMachine
from tests.transfer.runs import run

MIB = 1 << 20


@given(st.floats(1e-7, 1e-3), st.floats(1e8, 1e12))
def test_a_line_is_found_again(latency: float, rate: float) -> None:
    sizes = [4.0**power for power in range(2, 14)]
    line = fit_line(sizes, [latency + size / rate for size in sizes])
    assert line.rate == pytest.approx(rate, rel=1e-3)
    assert line.latency == pytest.approx(latency, rel=1e-3)
    assert line.half_size == pytest.approx(latency * rate, rel=1e-2)
    assert line.worst < 1e-3


def test_what_is_no_line_is_refused() -> None:
    with pytest.raises(ValueError, match="two sizes"):
        fit_line([4, 4], [1, 1])
    with pytest.raises(ValueError, match="took no longer"):
        fit_line([1, 10, 100], [100, 10, 1])


def test_a_latency_is_never_below_zero() -> None:
    line = fit_line([1e3, 1e4, 1e5], [0.5e-6, 1e-5, 1e-4])
    assert line.latency == 0
    assert 1e9 < line.rate < 2e9


def test_intervals_hold_the_true_line_and_narrow_with_the_errors() -> None:
    rng = np.random.default_rng(3)
    sizes = [4.0**power for power in range(4, 13)]
    exact = np.array([1e-5 + size / 2e10 for size in sizes])
    held = {0.01: 0, 0.1: 0}
    widths = dict.fromkeys(held, 0.0)
    for error in held:
        for _ in range(200):
            noisy = exact * (1 + error * rng.standard_normal(len(sizes)))
            line = fit_line(sizes, list(noisy), [error] * len(sizes))
            (slow, fast), (least, most) = line.rate_interval, line.latency_interval
            held[error] += slow <= 2e10 <= fast and least <= 1e-5 <= most
            widths[error] += (fast - slow) / 200
    assert min(held.values()) >= 180
    assert widths[0.01] < 0.2 * widths[0.1]


def test_the_fits_of_a_run() -> None:
    report = run(scenarios=("pageable", "pinned"), sizes=(4096, 1 << 16, MIB, 4 * MIB), probes=())
    found = {(fit.scenario, fit.direction, fit.mode): fit for fit in report.fits}
    assert len(found) == 8
    fit = found["pinned", "h2d", "non_blocking"]
    assert fit.gbps == pytest.approx(50, rel=0.02)
    assert fit.latency == pytest.approx(LATENCY, rel=0.1)
    assert fit.half_size == pytest.approx(LATENCY * 50e9, rel=0.1)
    assert fit.gbps_interval
    assert fit.gbps_interval[0] < fit.gbps < fit.gbps_interval[1]
    assert found["pageable", "d2h", "blocking"].gbps == pytest.approx(10, rel=0.02)


def texts(**options: object) -> list[str]:
    return [advice.text for advice in run(**options).advice]  # type: ignore[arg-type]


def test_what_is_faster_is_advised_with_its_size_and_its_rows() -> None:
    report = run()
    (pinned,) = [each for each in report.advice if each.text.startswith("Keep data that is sent")]
    assert pinned.rests_on == (f"pinned.h2d.blocking[{MIB}]", f"pageable.h2d.blocking[{MIB}]")
    assert pinned.from_size == 4096
    factor = (LATENCY + MIB / 10e9) / (LATENCY + MIB / 50e9)
    stated = re.search(r"from 4 KiB up, copies are ([\d.]+) times as fast", pinned.text)
    assert stated
    assert float(stated[1]) == pytest.approx(factor, rel=0.05)
    ids = {cell.id for cell in report.cells}
    for advice in report.advice:
        assert advice.rests_on
        assert all(name in ids or " " in name for name in advice.rests_on)


def test_no_difference_is_an_answer() -> None:
    same = dict.fromkeys(("pageable", "pinned", "registered", "write-combined"), 10e9)
    jitter = itertools.cycle((1.0, 1.02, 1.01, 1.03, 0.99, 1.0, 0.98))
    machine = FakeMachine(rates=same, jitter=jitter)
    found = texts(machine=machine, scenarios=("pinned", "registered"), probes=())
    assert any("works as well as allocating pinned" in text for text in found)


def test_what_is_slower_is_advised_against() -> None:
    slow = {"pageable": 50e9, "pinned": 10e9, "registered": 10e9, "write-combined": 5e9}
    ways = ("pageable", "pinned", "write-combined", "pin-on-the-fly")
    found = texts(machine=FakeMachine(rates=slow), scenarios=ways, probes=())
    assert any(text.startswith("Leave data for the device in pageable") for text in found)
    assert any(text.startswith("Write-combined memory does not pay") for text in found)
    assert any(text.startswith("Do not pin memory just for one copy") for text in found)


def test_the_reuses_after_which_pinning_pays() -> None:
    ways = ("pageable", "pinned")
    report = run(sizes=(MIB,), scenarios=ways, directions=("h2d",), probes=("pinning",))
    costs = {(cost.memory, cost.bytes): cost for cost in report.pinning}
    cost = costs["pinned", MIB]
    size = MIB
    lock = size / 2e9
    assert cost.reuses == pytest.approx(lock / (size / 10e9 - size / 50e9), rel=0.1)
    alone = run(sizes=(MIB,), scenarios=("pinned",), probes=("pinning",))
    reasons = {cost.reuses_reason for cost in alone.pinning}
    assert reasons == {"the copies of this size were not measured"}


def test_pinning_that_is_not_faster_never_pays() -> None:
    same = dict.fromkeys(("pageable", "pinned", "registered"), 10e9)
    report = run(FakeMachine(rates=same), sizes=(MIB,), scenarios=("pageable", "pinned"))
    reasons = {cost.reuses_reason for cost in report.pinning if cost.bytes == MIB}
    assert reasons <= {"never: a pinned copy is not faster", ""}
    assert all(cost.reuses is None for cost in report.pinning if cost.memory == "pinned")


def test_simulated_runs_give_no_advice_about_a_gpu() -> None:
    ways = ("pageable*", "pinned")
    report = run(FakeMachine(simulated=True), sizes=(4096, 1 << 16, 1 << 18), scenarios=ways)
    texts_ = [advice.text for advice in report.advice]
    assert texts_[-1] == NO_DEVICE
    assert all("pinned" not in text and "GPU" not in text for text in texts_[:-1])
    assert {cost.reuses for cost in report.pinning} == {None}
    records = (report.cells, report.fits, report.hazards, report.pinning, report.overlap)
    assert all(record.simulated for group in records for record in group)
    assert all("pinned" not in cell.label for cell in report.cells)


def test_a_link_that_is_not_used_well_is_said() -> None:
    slow = {"pageable": 5e9, "pinned": 20e9, "registered": 20e9, "write-combined": 20e9}
    found = texts(
        machine=FakeMachine(rates=slow), sizes=(4 * MIB,), scenarios=("pinned",), probes=()
    )
    assert any("of the link's 63.0 GB/s: check whether" in text for text in found)


def test_cells_too_noisy_to_use_support_no_advice() -> None:
    report = run(scenarios=("pageable", "pinned"), probes=())
    noisy = tuple(
        replace(cell, done=replace(cell.done, p75=cell.done.median * 2)) if cell.done else cell
        for cell in report.cells
    )
    assert advise(replace(report, cells=noisy)) == ()


@pytest.mark.parametrize(
    ("copy", "compute", "both", "found"),
    [(1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 2.0, 0.0), (1.0, 3.0, 3.5, 0.5), (1.0, 1.0, 2.5, 0.0)],
)
def test_the_part_of_a_copy_that_is_hidden(
    copy: float, compute: float, both: float, found: float
) -> None:
    assert efficiency(copy, compute, both) == pytest.approx(found)
