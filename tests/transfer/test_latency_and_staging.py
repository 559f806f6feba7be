"""Latency of single copies and the staging sweep, where times are known beforehand."""

from __future__ import annotations

import itertools

import pytest

from gradtool.report.transfer.tables import tables
from gradtool.transfer.machines.host.machine import HostMachine
from gradtool.transfer.probes import latency, staging
from tests.transfer.fake_machine import LATENCY, FakeMachine
from tests.transfer.runs import run


def test_the_slow_copies_show_in_the_high_percentile() -> None:
    slow = itertools.cycle([1.0] * 49 + [20.0])
    found = list(latency.measure_all(FakeMachine(jitter=slow), copies=500))
    assert [(each.memory, each.direction) for each in found] == [
        ("pageable", "h2d"), ("pageable", "d2h"), ("pinned", "h2d"), ("pinned", "d2h"),
    ]  # fmt: skip
    for each in found:
        assert each.p50 == pytest.approx(LATENCY, rel=0.2)
        assert each.p99 == pytest.approx(20 * LATENCY, rel=0.2)
        assert each.n == 500


def test_memory_that_is_refused_is_a_reason() -> None:
    found = list(latency.measure_all(FakeMachine(refused=("pinned",)), copies=10))
    assert [each.unavailable for each in found] == ["", ""] + ["no pinned memory here"] * 2
    machine = FakeMachine(refused=("pinned",))
    reasons = {each.unavailable for each in staging.measure_all(machine, 1 << 20)}
    assert reasons == {"no pinned memory here"}
    assert machine.alive == []


def test_staging_sends_all_pieces_with_every_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(staging, "thread_count", lambda: 2)
    machine = HostMachine()
    found = list(staging.measure_all(machine, (1 << 20) + 4096, samples=2))
    machine.close()
    assert [(each.threads, each.chunk) for each in found] == [
        (threads, chunk) for threads in (1, 2) for chunk in (256 << 10, 1 << 20)
    ]
    assert all(each.gbps and each.done and each.done.n == 2 for each in found)


def test_both_have_tables() -> None:
    report = run(probes=("latency", "staging"), scenarios=("pinned",), sizes=(1 << 20,))
    titles = [table.title for table in tables(report)]
    assert "one copy of 8 B, issued and waited for" in titles
    assert "GB/s for 1 MiB of pageable memory, sent through two pinned buffers" in titles
    assert report.notices == ()
