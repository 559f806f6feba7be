"""Numbers that cannot be are refused, with the reason."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from gradtool.results.transfer import Link
from gradtool.transfer.analysis.link_share import with_shares
from gradtool.transfer.errors import reason_of
from gradtool.transfer.measuring.outcome import unstable
from gradtool.transfer.measuring.timing import Times
from tests.transfer import fake_machine
from tests.transfer.fake_machine import FakeMachine
from tests.transfer.runs import run

ONE: dict[str, Any] = {
    "scenarios": ("pinned",), "sizes": (1 << 16,), "probes": (), "collections": (),
}  # fmt: skip


def refusals(machine: FakeMachine) -> set[str]:
    report = run(machine, **ONE)
    assert all(cell.done is None and cell.gbps is None for cell in report.cells)
    assert all(not cell.samples and not cell.verified for cell in report.cells)
    return {cell.unavailable for cell in report.cells}


def test_device_time_above_completion_time(monkeypatch: pytest.MonkeyPatch) -> None:
    real = fake_machine.FakeEvent.elapsed_time
    monkeypatch.setattr(
        fake_machine.FakeEvent, "elapsed_time", lambda self, end: real(self, end) * 1.1
    )
    reasons = refusals(FakeMachine())
    assert all(reason.startswith("not shown: device time ") for reason in reasons)


def test_a_device_time_below_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_machine.FakeEvent, "elapsed_time", lambda self, end: -1.0)
    assert all("device time" in reason for reason in refusals(FakeMachine()))


def test_a_rate_above_the_link() -> None:
    link = Link(generation=1, width=1, gbps=0.25, source="sysfs")
    (cell, *_) = run(FakeMachine(), **ONE).cells
    (shown,), kept = with_shares([cell], link)
    assert "GB/s is above the link's raw 0.25 GB/s" in shown.unavailable
    assert (shown.done, shown.gbps, shown.samples, shown.verified) == (None, None, (), False)
    assert kept == link


def test_a_link_that_several_cells_exceed_was_misread() -> None:
    link = Link(generation=1, width=1, gbps=0.25, source="sysfs")
    report = run(FakeMachine(link=link), **ONE)
    assert all(cell.done and cell.link_share is None for cell in report.cells)
    assert report.link.gbps is None
    assert "sysfs reports generation 1 x1, 0.25 GB/s, but copies reached" in report.link.unknown


def test_batches_of_two_sizes_that_do_not_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    def at_once(self: fake_machine.FakeStream, seconds: float) -> None:
        self.busy_until = max(self.busy_until, self.clock.now + 500 * seconds)

    monkeypatch.setattr(fake_machine.FakeStream, "work", at_once)
    cells = run(FakeMachine(), **ONE).cells
    reasons = {cell.unavailable for cell in cells if cell.mode == "non_blocking"}
    assert {cell.unavailable for cell in cells if cell.mode == "blocking"} == {""}
    assert all(
        re.fullmatch(
            r"not shown: each copy in a batch of \d+ takes 0\.5\d* times as long as in a batch "
            r"of \d+",
            each,
        )
        for each in reasons
    ), reasons


def test_times_that_add_up_are_stable() -> None:
    def of(runs: int, each: float) -> Times:
        return Times(call=each, done=each, device=each, envelope=each, runs=runs)

    samples = [of(10, 1.0), of(10, 1.2), of(10, 0.9)]
    assert unstable(samples, [of(20, 1.4), of(20, 2.0), of(20, 1.9)]) == ""
    assert unstable(samples, [of(20, 2.0)] * 2) == ""
    assert "in a batch of 20 takes 2 times as long as in a batch of 10" in unstable(
        samples, [of(20, 2.0)] * 3
    )


def test_memory_that_runs_out_is_the_reason_of_a_cell() -> None:
    machine = FakeMachine()

    def device(size: int) -> Any:
        raise MemoryError("Out of memory allocating 65,536 bytes")

    machine.device = device  # type: ignore[method-assign]
    assert refusals(machine) == {"Out of memory allocating 65,536 bytes"}


@pytest.mark.parametrize("where", [0, 12345, -1])
def test_bytes_that_did_not_arrive(where: int) -> None:
    machine = FakeMachine()

    def spoil(target: Any) -> None:
        if len(target) > 12345:
            target[where] ^= 1

    machine.after_copy = spoil
    assert refusals(machine) == {
        "not shown: the bytes that arrived differ from those that were sent"
    }


def test_a_copy_that_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = FakeMachine()
    monkeypatch.setattr(fake_machine.np, "copyto", lambda target, source: None)
    machine.write = lambda target, data: target.__setitem__(slice(None), data)  # type: ignore[method-assign]
    assert all("bytes" in reason for reason in refusals(machine))


def test_bytes_of_an_earlier_sample_do_not_pass() -> None:
    machine = FakeMachine()
    seen: list[Any] = []

    def replay(target: Any) -> None:
        seen.append(target.copy())
        target[:] = seen[max(0, len(seen) - 40)]

    machine.after_copy = replay
    assert all("bytes" in reason for reason in refusals(machine))


def test_a_failure_of_one_cell_is_its_reason() -> None:
    machine = FakeMachine()

    def fail(target: Any) -> None:
        raise RuntimeError("cudaErrorUnknown: it broke\nmore")

    machine.after_copy = fail
    assert refusals(machine) == {"cudaErrorUnknown: it broke"}


def test_the_pattern_differs_between_samples_and_places() -> None:
    from gradtool.transfer.measuring.byte_check import blocks, pattern

    first = pattern(0, 1 << 16, 1)
    assert (first != pattern(0, 1 << 16, 2)).mean() > 0.4
    assert (first != pattern(1 << 20, (1 << 20) + (1 << 16), 1)).mean() > 0.4
    assert len(np.unique(first)) == 256
    for size in (1, 5, 4096, 100_000, 1 << 22):
        covered = list(blocks(size, whole=False))
        assert covered[0][0] == 0
        assert covered[-1][1] == size
        assert sum(stop - start for start, stop in blocks(size, whole=True)) == size


def test_a_missing_compiler_is_named_with_its_remedy() -> None:
    error = RuntimeError('Failure finding "libnvrtc.so.13 or libnvrtc.so.12": No such file')
    assert "pip install 'gradtool[cuda12]'" in reason_of(error)
    assert reason_of(RuntimeError("out of memory\nat line 3")) == "out of memory"
    assert reason_of(RuntimeError()) == "RuntimeError"
