"""Runs on a device whose every time is known."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from msgspec.structs import replace

from gradtool.measure.sampling import runs_per_sample
from gradtool.results.transfer import Cell, Header, TransferReport
from gradtool.transfer.plan.options import TransferOptions
from gradtool.transfer.runner import profile
from tests.transfer.fake_machine import FakeMachine

HEADER = Header(
    gradtool="0.0", python="3.0", numpy="2.0", platform="Paper", device="Paper 0", backend="cuda",
    cpu="Pencil", cpus=2, cache=1 << 20, lock_limit=1 << 23, driver="1.2", runtime="3.4",
    cupy="5.6",
)  # fmt: skip

SIZES = (4 << 10, 16 << 10, 1 << 20)
RAW = ("pageable*", "pinned", "registered", "write-combined", "pin-*", "staged", "packed", "d*")
"""All but the engine's own, which would copy host memory, and those that start threads."""


def run(machine: FakeMachine | None = None, **options: Any) -> TransferReport:
    """A run with a header that is the same everywhere."""
    defaults = {
        "sizes": SIZES, "scenarios": RAW, "budget": 30.0, "collections": ((10, 4000),),
        "probes": ("pinning", "overlap"),  # the others wait in real time
    }  # fmt: skip
    machine = machine or FakeMachine()
    report = profile(TransferOptions(**defaults | options), machine=machine)
    assert machine.closed
    return replace(report, header=HEADER)


def make_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few slots and short samples, for runs on machines whose times are not looked at."""
    short = functools.partial(runs_per_sample, window=1e-6, warm=0.0)
    monkeypatch.setattr("gradtool.transfer.measuring.measured_cell.runs_per_sample", short)
    monkeypatch.setattr("gradtool.transfer.runner.MOST_ROTATION", 6 << 20)
    monkeypatch.setattr("gradtool.transfer.measuring.operation.MOST_SLOTS", 8)


def cell_of(report: TransferReport, id_: str) -> Cell:
    (found,) = [cell for cell in report.cells if cell.id == id_]
    return found
