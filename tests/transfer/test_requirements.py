"""Thresholds and comparisons: what they mean, and what cannot be meant."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from gradtool.measure.sampling import StopRule
from gradtool.measure.summary import summarize
from gradtool.report.transfer.document import render
from gradtool.results.transfer import Cell, Link, TransferReport
from gradtool.transfer.analysis import requirements
from gradtool.transfer.analysis.changes import (
    compared,
    load_report,
    parse_share,
    require_comparable,
)
from gradtool.transfer.errors import TransferError
from gradtool.transfer.plan.options import TransferOptions
from gradtool.transfer.runner import profile
from tests.transfer.fake_machine import RATES, FakeMachine
from tests.transfer.runs import run

SIZES = (4096, 1 << 20)


def small(machine: FakeMachine | None = None) -> TransferReport:
    return run(machine, scenarios=("pageable", "pinned"), sizes=SIZES, probes=())


@pytest.fixture(scope="module")
def report() -> TransferReport:
    return small()


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ("pinned.h2d.gbps >= 30", True),
        ("pinned.h2d.gbps >= 0.4*link", True),
        ("pinned.h2d.gbps >= 0.9 * link", False),
        ("pinned.h2d.non_blocking.call_us < 2", True),
        ("pinned.h2d.call_us < 2", False),  # a blocking call waits
        ("pinned.d2h.gbps > 2*pageable.d2h.gbps", True),
        ("pageable.d2h.done_us <= pinned.d2h.done_us", False),
        ("pinned.h2d.link_share > 0.4", True),
        ("pinned.h2d.non_blocking.host_freed >= 9e-1", True),
        ("pinned.h2d.device_gbps < 1e3", True),
    ],
)
def test_thresholds(report: TransferReport, text: str, met: bool) -> None:
    threshold = requirements.parse(text)
    requirements.require_decidable([threshold], report.cells, simulated=False)
    found = requirements.decide(threshold, report)
    assert found.met == met
    assert found.text == text
    assert f"[{1 << 20}]" in found.reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pinned.h2d.gbps", "write it as in 'pinned.h2d.gbps >= 0.8"),
        ("pinned.h2d.gbps == 3", "write it as in"),
        ("pinned.h2d.gbsp >= 3", "unknown metric 'gbsp' (known: gbps, "),
        ("3 >= pinned.h2d.gbps", "the left side must name a cell's metric"),
        ("link >= 3", "the left side must name a cell's metric"),
        ("pinned.h2d.gbps >= 3*4", "'3*4' is neither a number nor a metric"),
    ],
)
def test_thresholds_that_mean_nothing(text: str, message: str) -> None:
    with pytest.raises(TransferError) as error:
        requirements.parse(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_thresholds_that_could_never_be_decided(report: TransferReport) -> None:
    unknown = requirements.parse("pined.h2d.gbps >= 3")
    with pytest.raises(TransferError, match=r"this run measures no 'pined\.h2d'"):
        requirements.require_decidable([unknown], report.cells, simulated=False)
    link = requirements.parse("pinned.h2d.gbps >= link")
    with pytest.raises(TransferError, match="there is no link without a device"):
        requirements.require_decidable([link], report.cells, simulated=True)


def test_a_number_that_is_missing_decides_nothing() -> None:
    refused = small(FakeMachine(refused=("pinned",)))
    found = requirements.decide(requirements.parse("pinned.h2d.gbps > 0"), refused)
    assert (found.met, found.decided) == (False, False)
    assert "no pinned memory here" in found.reason
    unknown = small(FakeMachine(link=Link(unknown="hidden")))
    found = requirements.decide(requirements.parse("pinned.h2d.gbps > 0*link"), unknown)
    assert (found.met, found.decided) == (False, False)
    assert "the link's rate is unknown" in found.reason


def large(report: TransferReport) -> list[Cell]:
    return [cell for cell in report.cells if cell.bytes > 4096]


@pytest.mark.parametrize(
    ("samples", "reason"),
    [((1e-5,) * 3, "it has only 3 samples"), ((1e-5, 1e-5, 2e-5, 3e-5) * 4, "scatter by ")],
)
def test_a_number_that_cannot_be_trusted_decides_nothing(
    report: TransferReport, samples: tuple[float, ...], reason: str
) -> None:
    doubted = tuple(
        replace(cell, done=summarize(samples), samples=samples) if cell.bytes > 4096 else cell
        for cell in report.cells
    )
    bad = replace(report, cells=doubted)
    found = requirements.decide(requirements.parse("pinned.h2d.gbps < 1"), bad)
    assert (found.met, found.decided) == (False, False)
    assert reason in found.reason
    assert "pinned.h2d.blocking" in found.reason
    beside = compared(bad, report, 0.1)
    assert beside.notices[-1].startswith("not compared, too few samples, or too noisy,")
    assert not any(change.id.endswith(f"[{1 << 20}]") for change in beside.changes)


def test_a_cell_that_fails_decides_whatever_the_others_are(report: TransferReport) -> None:
    first, *others = (cell for cell in large(report) if cell.scenario == "pinned")
    mixed = replace(report, cells=(first, *(replace(each, done=None) for each in others)))
    found = requirements.decide(requirements.parse("pinned.h2d.gbps > 1e3"), mixed)
    assert (found.met, found.decided) == (False, True)


def noisy(seed: int, *, factor: float = 1.0, spread: float = 0.04) -> FakeMachine:
    """Times that scatter, with a burst of slow ones now and then, as on a shared machine."""
    rng = np.random.default_rng(seed)

    def times() -> Iterator[float]:
        while True:
            burst = 1.5 if rng.random() < 0.05 else 1.0
            yield factor * burst * float(rng.lognormal(0, spread))

    return FakeMachine(jitter=times())


def few(machine: FakeMachine) -> TransferReport:
    """One size, eight samples a cell."""
    options = TransferOptions(
        sizes=(1 << 20,), scenarios=("pageable", "pinned"), probes=(), collections=(), budget=30.0
    )
    return profile(options, machine=machine, rule=StopRule(least=8, most=8))


def test_a_run_compared_with_itself_has_no_regression() -> None:
    runs = [few(noisy(seed)) for seed in range(21)]
    changes = [
        change
        for before, after in itertools.pairwise(runs)
        for change in compared(after, before, 0.1).changes
    ]
    assert len(changes) > 0.9 * 20 * len(runs[0].cells)
    assert not any(change.regressed for change in changes)


def test_a_slowdown_of_a_fifth_is_found_with_eight_samples() -> None:
    changes = [
        change
        for seed in range(10)
        for change in compared(few(noisy(seed + 50, factor=1.2)), few(noisy(seed)), 0.1).changes
    ]
    assert sum(change.regressed for change in changes) >= 0.9 * len(changes)


def slower(factor: float) -> FakeMachine:
    jitter = itertools.cycle((1.0, 1.01, 0.99, 1.005))
    return FakeMachine(rates={name: rate / factor for name, rate in RATES.items()}, jitter=jitter)


@pytest.mark.parametrize(("factor", "regressed"), [(1.0, False), (1.05, False), (1.5, True)])
def test_a_run_beside_an_earlier_one(
    report: TransferReport, factor: float, regressed: bool
) -> None:
    found = compared(small(slower(factor)), report, 0.1)
    changes = [change for change in found.changes if change.id.endswith(f"[{1 << 20}]")]
    assert len(found.changes) == len(report.cells)
    assert {change.regressed for change in changes} == {regressed}
    assert all(change.ratio.low <= change.ratio.value <= change.ratio.high for change in changes)
    assert found.unmatched == ()


def test_being_faster_is_no_regression(report: TransferReport) -> None:
    found = compared(small(slower(0.5)), report, 0.0)
    assert not any(change.regressed for change in found.changes)
    assert any(change.ratio.verdict == "faster" for change in found.changes)


def test_cells_of_one_run_only_are_named(report: TransferReport) -> None:
    half = replace(report, cells=report.cells[:2])
    found = compared(half, report, 0.1)
    assert len(found.unmatched) == len(report.cells) - 2
    named = ", ".join(found.unmatched[:3])
    more = f" and {len(found.unmatched) - 3} more"
    assert found.notices[-1] == f"not compared, measured in the earlier run only: {named}{more}"
    other = replace(report, header=replace(report.header, device="Paper 1"))
    assert "another device: Paper 1, not Paper 0" in compared(report, other, 0.1).notices[-1]


def test_runs_that_share_no_cell_say_so(report: TransferReport) -> None:
    first, second = (replace(report, cells=(cell,)) for cell in report.cells[:2])
    found = compared(first, second, 0.1)
    assert found.changes == ()
    assert found.notices[-3:] == (
        "--compare: nothing was compared: no cell was measured well in both runs",
        f"not compared, measured in the earlier run only: {report.cells[1].id}",
        f"not compared, measured in this run only: {report.cells[0].id}",
    )


def test_runs_of_the_same_cells_have_nothing_to_say(report: TransferReport) -> None:
    assert compared(report, report, 0.1).notices == report.notices


def test_simulated_and_real_runs_are_never_compared(report: TransferReport) -> None:
    with pytest.raises(TransferError, match="was measured on a device, but this one is simulated"):
        require_comparable(report, simulated=True)
    require_comparable(report, simulated=False)


def test_an_earlier_report_is_read_or_refused(tmp_path: Path, report: TransferReport) -> None:
    path = tmp_path / "old.json"
    path.write_text(render(report))
    assert load_report(str(path)) == report
    with pytest.raises(TransferError, match=r"cannot read .*none\.json: No such file"):
        load_report(str(tmp_path / "none.json"))
    path.write_text(render(report).replace('"schema": 1', '"schema": 99'))
    with pytest.raises(TransferError, match="has schema 99, but this gradtool reads 1"):
        load_report(str(path))
    for text in ("{}", "[", '{"schema": 1, "kind": "transfer"}'):
        path.write_text(text)
        with pytest.raises(TransferError, match="is not a profile-transfer report"):
            load_report(str(path))


def test_shares() -> None:
    assert parse_share("10%") == pytest.approx(0.1)
    assert parse_share("0.25") == 0.25
    with pytest.raises(
        TransferError, match=r"must be a percentage or a fraction, such as 10% or 0\.1, got 'ten'"
    ):
        parse_share("ten")
