"""A run of ``gradtool profile-transfer``: plan, probes, cells in turn, report.

Results are kept as they arrive, so that an interrupted run still has a report.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from gradtool.device import CUDA
from gradtool.measure.sampling import StopRule, sample_in_turn
from gradtool.results.transfer import Cell, Header, Link, TransferReport
from gradtool.transfer.analysis.advice import advise
from gradtool.transfer.analysis.fit import fits
from gradtool.transfer.errors import TransferError
from gradtool.transfer.machines.host.header import USUAL_CACHE, host_header
from gradtool.transfer.machines.host.machine import HostMachine
from gradtool.transfer.machines.machine import Machine
from gradtool.transfer.measuring.measured_cell import MeasuredCell
from gradtool.transfer.measuring.operation import Buffers, Workspace
from gradtool.transfer.plan.options import TransferOptions, Unwatched, Watcher
from gradtool.transfer.plan.plan import (
    MOST_ROTATION,
    MemoryBudget,
    fitted,
    memory_budget,
    plan,
    scenarios_in_turn,
)
from gradtool.transfer.plan.scenarios import SCENARIOS
from gradtool.transfer.probes import asynchrony, hazards, nodes, overlap, pinning
from gradtool.transfer.probes.pinning import with_reuses

_DEVICE = re.compile(r"cpu|cuda(?::(\d+))?")

_FOR_SAMPLES = 0.88
"""Share of the budget after which no sample is taken: the last checks of bytes need the rest."""

_FOR_PROBES = 0.4
"""Share of the budget after which a probe ends early."""

_FOR_WARMING = 0.6
"""Share of the budget after which no further cell is started, so that the others get samples."""

_LEAST_PROBED = 1 << 20

Check = Callable[[Sequence[Cell], bool], None]
"""Takes the cells of a plan, and True if they are simulated; raises to refuse the plan."""


def profile(
    options: TransferOptions,
    watcher: Watcher | None = None,
    *,
    machine: Machine | None = None,
    check: Check = lambda _cells, _simulated: None,
    rule: StopRule | None = None,
) -> TransferReport:
    """Measure the cells and probes that the options select.

    Args:
        options: The options.
        watcher: Receives the progress.
        machine: The machine to measure in place of the device that the options name; it is closed.
        check: Called with the plan before anything is measured.
        rule: The rule for when a cell has enough samples.

    Raises:
        TransferError: There is no such device, or the options cannot be satisfied.
    """
    machine = machine or machine_for(options.device)
    try:
        with machine.near():
            space = memory_budget(machine)
            cells, notices = fitted(plan(options, machine), space)
            check(cells, machine.simulated)
            run = _Run(options, machine, watcher or Unwatched(), cells, space)
            run.notices += notices
            return run.measure(rule or StopRule())
    finally:
        machine.close()


def machine_for(device: str | None) -> Machine:
    """The machine that a device's name stands for; None takes CUDA where there is one.

    Raises:
        TransferError: There is no such device; the text gives the reason.
    """
    if device is None:
        device = "cuda" if CUDA.count() else "cpu"
    match = _DEVICE.fullmatch(device)
    if match is None:
        raise TransferError(f"--device must be cpu, cuda or cuda:N, got {device!r}")
    return HostMachine() if device == "cpu" else _cuda(int(match[1] or 0))


def _cuda(index: int) -> Machine:
    reason = CUDA.why_unavailable()
    if reason is not None:
        hint = "" if "cpu" in reason else "; --device cpu measures the host alone"
        raise TransferError(f"--device cuda cannot be used: {reason}{hint}")
    if index >= CUDA.count():
        raise TransferError(f"--device cuda:{index} does not exist: CUDA has {CUDA.count()} here")
    from gradtool.transfer.machines.cuda.machine import CudaMachine

    return CudaMachine(index)


class _Run:
    """A run and its results so far."""

    def __init__(
        self,
        options: TransferOptions,
        machine: Machine,
        watcher: Watcher,
        cells: Sequence[Cell],
        space: MemoryBudget,
    ) -> None:
        self._options, self._machine, self._watcher = options, machine, watcher
        self._planned, self._space = cells, space
        self._began = machine.clock()
        self._header: Header | None = None
        self._link = Link()
        self._measured: list[MeasuredCell] = []
        self._records: dict[str, list[Any]] = {name: [] for name in options.probes}
        self.notices: list[str] = []
        self._interrupted = False

    def _seconds(self) -> float:
        return (self._machine.clock() - self._began) * 1e-9

    def measure(self, rule: StopRule) -> TransferReport:
        """Measure everything; a keyboard interrupt ends it early."""
        self._header, self._link = self._machine.describe(host_header(self._machine))
        try:
            self._probe()
            self._measure_cells(rule)
        except KeyboardInterrupt:
            self._interrupted = True
        return self._report()

    def _probe(self) -> None:
        machine, largest = self._machine, self._largest_probed()
        probes: dict[str, Callable[[], Iterable[Any]]] = {
            "asynchrony": lambda: asynchrony.probe_all(machine, largest),
            "hazards": lambda: hazards.demonstrate_all(machine),
            "pinning": lambda: pinning.measure_all(machine, largest),
            "overlap": lambda: overlap.measure_all(machine, largest),
            "nodes": lambda: nodes.measure_all(machine, largest, self._node()),
        }
        for name, found in self._records.items():
            self._watcher.stage(name)
            for record in probes[name]():
                found.append(record)
                self._watcher.sampled(len(self._planned), self._seconds())
                if self._seconds() > self._options.budget * _FOR_PROBES:
                    self.notices.append(f"the budget left no time for all of {name}")
                    break

    def _node(self) -> int | None:
        return self._header.numa_node if self._header else None

    def _largest_probed(self) -> int:
        """Probes go up to the largest copy that is measured, and to a MiB at least."""
        largest = max((cell.total for cell in self._planned), default=self._space.largest)
        return min(max(largest, _LEAST_PROBED), self._space.largest)

    def _measure_cells(self, rule: StopRule) -> None:
        if not self._planned:
            return
        buffers, workspace = self._workspace()
        try:
            self._watcher.stage("warming up")
            for cell in scenarios_in_turn(self._planned):
                route = SCENARIOS[cell.scenario].route
                self._measured.append(MeasuredCell(cell, route, workspace, rule))
            self._warm_up()
            self._watcher.stage("measuring")
            self._sample()
            for measured in self._measured:
                measured.finish()
        finally:
            for measured in self._measured:
                measured.close()
            buffers.close()

    def _workspace(self) -> tuple[Buffers, Workspace]:
        assert self._header is not None
        largest = max(cell.total for cell in self._planned)
        rotation = min(2 * (self._header.cache or USUAL_CACHE), MOST_ROTATION)
        rotation = min(rotation, self._space.largest)
        size = max(rotation + largest, largest)
        buffers = Buffers(self._machine, host=size, device=size)
        return buffers, Workspace(self._machine, self._machine.stream(), buffers, rotation)

    def _warm_up(self) -> None:
        for number, measured in enumerate(self._measured):
            if self._seconds() >= self._options.budget * _FOR_WARMING:
                return
            measured.warm_up()
            self._watcher.sampled(len(self._measured) - number, self._seconds())

    def _sample(self) -> None:
        finished = sample_in_turn(
            self._measured,
            seconds=self._options.budget * _FOR_SAMPLES - self._seconds(),
            clock=self._machine.clock,
            progress=lambda waiting: self._watcher.sampled(waiting, self._seconds()),
        )
        if not finished:
            short = sum(not measured.done() for measured in self._measured)
            self.notices.append(
                f"the budget of {self._options.budget:g} s ended with {short} of "
                f"{len(self._measured)} cells short of 15 samples or of a spread below 5 %"
            )

    def _report(self) -> TransferReport:
        assert self._header is not None
        done = {id(measured.cell): measured.result(self._link.gbps) for measured in self._measured}
        cells = tuple(done[id(cell)] for cell in self._planned if id(cell) in done)
        found = self._records
        report = TransferReport(
            simulated=self._machine.simulated,
            header=self._header,
            link=self._link,
            command=self._options.command,
            budget=self._options.budget,
            cells=cells,
            fits=tuple(fits(cells)),
            asynchrony=tuple(found.get("asynchrony", ())),
            hazards=tuple(found.get("hazards", ())),
            pinning=with_reuses(found.get("pinning", ()), cells),
            overlap=tuple(found.get("overlap", ())),
            nodes=tuple(found.get("nodes", ())),
            notices=tuple(self.notices),
            seconds=self._seconds(),
            interrupted=self._interrupted,
        )
        return replace(report, advice=advise(report))
