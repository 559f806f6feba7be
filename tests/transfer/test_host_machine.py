"""The host in place of a device: real threads, real locks, and hazards that are always seen."""

from __future__ import annotations

import importlib.util
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradtool.measure.sampling import StopRule
from gradtool.transfer.errors import UnavailableError
from gradtool.transfer.machines import pages
from gradtool.transfer.machines.host import locked_memory
from gradtool.transfer.machines.host.machine import HostMachine
from gradtool.transfer.plan.options import TransferOptions
from gradtool.transfer.probes import asynchrony, hazards
from gradtool.transfer.probes.held_stream import held
from gradtool.transfer.runner import profile
from tests.transfer.fake_machine import FakeMachine
from tests.transfer.runs import make_short


@pytest.fixture
def machine() -> Iterator[HostMachine]:
    before = threading.active_count()
    machine = HostMachine()
    yield machine
    machine.close()
    assert threading.active_count() <= before


def test_a_stream_works_beside_its_giver_and_in_order(machine: HostMachine) -> None:
    stream, log = machine.stream(), []
    with held(machine, stream) as hold:
        stream.submit(lambda: log.append(1))
        stream.submit(lambda: log.append(2))
        assert not stream.query()
        assert log == []
        hold.open()
        stream.synchronize()
    assert log == [1, 2]
    assert stream.query()


def test_events_mark_and_time_what_was_given(machine: HostMachine) -> None:
    stream, start, end = machine.stream(), machine.event(), machine.event()
    start.record(stream)
    stream.submit(lambda: time.sleep(0.02))
    end.record(stream)
    assert not end.query()
    with pytest.raises(RuntimeError, match="both events must be reached"):
        start.elapsed_time(end)
    end.synchronize()
    assert end.query()
    assert 19 < start.elapsed_time(end) < 2000


def test_one_stream_waits_for_an_event_of_another(machine: HostMachine) -> None:
    first, second, log = machine.stream(), machine.stream(), []
    with held(machine, first) as hold:
        first.submit(lambda: log.append("first"))
        event = machine.event()
        event.record(first)
        second.wait_event(event)
        second.submit(lambda: log.append("second"))
        assert not second.query()
        hold.open()
    second.synchronize()
    assert log == ["first", "second"]


def test_a_failure_on_a_stream_is_raised_where_it_is_waited_for(machine: HostMachine) -> None:
    stream = machine.stream()
    stream.submit(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        stream.synchronize()
    stream.synchronize()


def test_a_held_stream_goes_on_when_the_limit_is_reached(machine: HostMachine) -> None:
    from gradtool.transfer.probes.held_stream import Hold

    stream = machine.stream()
    Hold(machine, stream, limit=0.01).close()
    stream.synchronize()


def locked_kilobytes() -> int:
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 - not a file
        return next(int(line.split()[1]) for line in status if line.startswith("VmLck"))


@pytest.mark.parametrize("memory", ["pinned", "registered"])
def test_pages_are_really_locked_and_given_back(machine: HostMachine, memory: Any) -> None:
    before = locked_kilobytes()
    block = machine.host(memory, 1 << 20)
    assert locked_kilobytes() == before + 1024
    block.close()
    assert locked_kilobytes() == before


class Refusing:
    """A system that locks nothing."""

    def mlock(self, *where: Any) -> int:
        import ctypes
        import errno

        ctypes.set_errno(errno.ENOMEM)
        return -1


def test_a_refused_lock_says_so_and_never_goes_on_unlocked(
    machine: HostMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locked_memory, "_system", Refusing)
    monkeypatch.setattr(locked_memory, "lock_limit", lambda: 8 << 20)
    with pytest.raises(UnavailableError) as refused:
        machine.host("pinned", 1 << 20)
    assert str(refused.value) == (
        "mlock of 1 MiB failed: Cannot allocate memory (limit: 8 MiB; raise it with 'ulimit -l')"
    )


def test_a_run_without_locks_measures_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locked_memory, "_system", Refusing)
    report = profile(
        TransferOptions(
            device="cpu", sizes=(4096,), collections=(), scenarios=("pageable", "pinned"),
            probes=("hazards", "pinning", "overlap"), budget=300,
        ),
        rule=StopRule(least=2, spread=1e9),
    )  # fmt: skip
    for cell in report.cells:
        assert ("mlock of" in cell.unavailable) == (cell.scenario == "pinned")
        assert cell.verified == (cell.scenario == "pageable")
    assert all("mlock of" in hazard.unavailable for hazard in report.hazards)
    assert all("mlock of" in cost.unavailable for cost in report.pinning)


def test_a_pool_that_is_refused_memory_takes_no_other_hazard_with_it(
    machine: HostMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_size: int) -> Any:
        raise UnavailableError("mlock of 64 KiB was refused")

    monkeypatch.setattr(machine, "pooled", refuse)
    found = {each.name: each for each in hazards.demonstrate_all(machine, trials=1)}
    refused = found.pop("h2d-recycled-too-early")
    assert (refused.unavailable, refused.trials) == ("mlock of 64 KiB was refused", 0)
    assert [each.caught for each in found.values()] == [1, 1]


@pytest.mark.parametrize("name", hazards.DEMONSTRATIONS)
def test_a_hazard_is_caught_and_cured_every_time(machine: HostMachine, name: str) -> None:
    found = {hazard.name: hazard for hazard in hazards.demonstrate_all(machine, trials=100)}[name]
    assert (found.caught, found.cured_by_synchronize, found.cured_by_event) == (100, 100, 100)
    assert found.simulated
    assert found.cost


def test_where_copies_are_done_at_once_there_is_no_hazard() -> None:
    for found in hazards.demonstrate_all(FakeMachine(), trials=3):
        assert (found.trials, found.caught) == (3, 0)
        assert found.cured_by_synchronize == 3


def test_a_cure_that_does_not_wait_is_no_cure(machine: HostMachine) -> None:
    setup = hazards.HazardSetup(machine)
    for wrong in (hazards.read_too_early, hazards.overwrite_too_early):
        slow = threading.Event()
        setup.stream.submit(lambda: None)
        # The stream is opened and busy with something else before the copy.
        real = setup.copier

        def copier(target: Any, source: Any, real: Any = real, slow: Any = slow) -> Any:
            def issue() -> None:
                setup.stream.submit(lambda: slow.wait(0.05))
                real(target, source)()

            return issue

        setup.copier = copier  # type: ignore[method-assign]
        assert wrong(setup, lambda _stream, _event: None)
        setup.copier = real  # type: ignore[method-assign]
    setup.close()


def test_the_asynchrony_of_calls_is_told(machine: HostMachine) -> None:
    found = list(asynchrony.probe_all(machine, 4096, held=0.02))
    (raw, engine) = ([each for each in found if bool(each.verdict) == is_raw] for is_raw in (1, 0))
    assert {probe.verdict for probe in raw} == {"returns at once"}
    assert {probe.unavailable for probe in engine} == {asynchrony.NO_STREAMS}
    assert {(probe.direction, probe.memory) for probe in raw} == {
        ("h2d", "pageable"), ("d2h", "pageable"), ("h2d", "mlock'ed"), ("d2h", "mlock'ed"),
    }  # fmt: skip
    stream = machine.stream()
    took = asynchrony.time_while_held(machine, stream, stream.synchronize, 0.02)
    assert took > 0.016


def test_every_scenario_runs_on_the_host_and_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    make_short(monkeypatch)
    report = profile(
        TransferOptions(
            device="cpu", sizes=(4096, 5 << 20), collections=((7, 4001),), budget=300,
            probes=("hazards", "overlap"), scenarios=("*",),
        ),
        rule=StopRule(least=2, spread=1e9),
    )  # fmt: skip
    assert report.simulated
    assert report.header.backend == "host-sim"
    for cell in report.cells:
        if cell.scenario == "write-combined":
            assert "needs CUDA" in cell.unavailable
        elif cell.scenario in ("engine-pinned", "engine-pin", "engine-pin-to"):
            assert "Tensor.pin_memory returns the tensor unchanged" in cell.unavailable
        elif cell.scenario.startswith("torch") and cell.unavailable:
            assert cell.scenario == "torch-pinned" or not importlib.util.find_spec("torch")
        else:
            assert cell.unavailable == "", cell.id
            assert cell.verified
    assert {cell.link_share for cell in report.cells} == {None}
    on_the_caller = {"engine", "torch", "memcpy", "memcpy-pinned"}
    untimed = {cell.scenario for cell in report.cells if cell.done and not cell.device}
    assert untimed == on_the_caller & {cell.scenario for cell in report.cells if cell.done}
    assert all(0 <= each.efficiency <= 1 for each in report.overlap if each.efficiency is not None)
    assert not [each for each in threading.enumerate() if each.name.startswith("gradtool")]


def test_memory_that_the_system_refuses_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_given: Any) -> Any:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(pages.mmap, "mmap", refuse)
    with pytest.raises(
        UnavailableError, match=r"cannot allocate 4 KiB of memory: Cannot allocate memory$"
    ):
        pages.fresh_pages(4096)


def test_a_pool_hands_out_again_what_it_was_given_back_last(machine: HostMachine) -> None:
    first, second = machine.pooled(4096), machine.pooled(4096)
    address = second.array.ctypes.data
    first.close()
    second.close()
    assert machine.pooled(4096).array.ctypes.data == address


def test_a_computation_takes_about_as_long_as_it_should(machine: HostMachine) -> None:
    stream = machine.stream()
    start = time.perf_counter()
    machine.computation(stream, 0.02)()
    stream.synchronize()
    assert 0.002 < time.perf_counter() - start < 2


def test_the_engines_copy_is_a_copy(machine: HostMachine) -> None:
    array = np.arange(5, dtype=np.uint8)
    assert machine.read(array) is array
    target = machine.device(5)
    machine.write(target, array)
    assert target.tolist() == array.tolist()
