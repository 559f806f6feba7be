"""A run of ``gradtool profile-transfer``: cells in a first pass, probes, then more samples.

Results are kept as they arrive, and every part may fail on its own: an interrupted run, or one
whose device is lost, still has a report of what was measured.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from msgspec.structs import replace

from gradtool.device import CUDA
from gradtool.measure.sampling import StopRule
from gradtool.measure.summary import FEWEST
from gradtool.results.transfer import Cell, Link, TransferReport
from gradtool.transfer.analysis.advice import advise
from gradtool.transfer.analysis.fit import fits
from gradtool.transfer.analysis.link_share import with_shares
from gradtool.transfer.errors import TransferError, guarded, reason_of
from gradtool.transfer.machines.host.header import USUAL_CACHE, host_header
from gradtool.transfer.machines.host.machine import HostMachine
from gradtool.transfer.machines.machine import Machine
from gradtool.transfer.measuring.measured_cell import MeasuredCell, sample_in_rounds
from gradtool.transfer.measuring.operation import Buffers, Workspace
from gradtool.transfer.measuring.outcome import NOT_REACHED
from gradtool.transfer.plan.options import TransferOptions, Unwatched, Watcher
from gradtool.transfer.plan.plan import (
    MOST_ROTATION,
    MemoryBudget,
    cells_in_turn,
    fitted,
    memory_budget,
    plan,
)
from gradtool.transfer.plan.scenarios import SCENARIOS
from gradtool.transfer.probes import asynchrony, hazards, latency, nodes, overlap, pinning, staging
from gradtool.transfer.probes.pinning import with_reuses

_DEVICE = re.compile(r"cpu|cuda(?::(\d+))?")

_FOR_FIRST_PASS = 0.55
"""Share of the budget after which no further cell is started."""

_FOR_PROBES = 0.75
"""Share of the budget after which a probe ends early."""

_FOR_SAMPLES = 0.88
"""Share of the budget after which no sample is taken: the last checks of bytes need the rest."""

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
            given = options.sizes is not None
            cells, notices = fitted(plan(options, machine), space, sizes_given=given)
            check(cells, machine.simulated)
            run = _Run(options, machine, watcher or Unwatched(), cells, space)
            run.notices += notices
            return run.measure(rule or StopRule())
    finally:
        with guarded(lambda _reason: None):  # A device that was lost cannot be closed.
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
        hint = "" if "cpu" in reason else "; --device cpu measures only the host"
        raise TransferError(f"--device cuda cannot be used: {reason}{hint}")
    count = CUDA.count()
    if index >= count:
        raise TransferError(f"--device cuda:{index} does not exist; CUDA devices here: {count}")
    from gradtool.transfer.machines.cuda.machine import CudaMachine

    try:
        return CudaMachine(index)
    except RuntimeError as error:
        raise TransferError(f"--device cuda:{index} cannot be used: {reason_of(error)}") from error


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
        self._header, self._link = host_header(machine), Link(unknown="the device was not queried")
        self._measured: list[MeasuredCell] = []
        self._records: dict[str, list[Any]] = {name: [] for name in options.probes}
        self.notices: list[str] = []
        self._interrupted = False
        self._lost = ""

    def _seconds(self) -> float:
        return (self._machine.clock() - self._began) * 1e-9

    def _left(self, share: float) -> float:
        return self._options.budget * share - self._seconds()

    def _guarded(self, part: str) -> AbstractContextManager[None]:
        """Run a part of the run; a failure becomes a notice, and the rest goes on."""
        return guarded(lambda reason: self._failed(part, reason))

    def _failed(self, part: str, reason: str) -> None:
        self.notices.append(f"{part}: not measured: {reason}")
        self._notice_loss()

    def _notice_loss(self) -> None:
        """After a failure: determine whether the device still answers."""
        with guarded(self._lose):
            self._machine.synchronize()

    def _lose(self, reason: str) -> None:
        if not self._lost:
            self._lost = f"the device was lost: {reason}"
            self.notices.append(f"{self._lost}, after {self._seconds():.1f} s")

    def measure(self, rule: StopRule) -> TransferReport:
        """Measure everything; a keyboard interrupt ends it early."""
        try:
            with self._guarded("the device's description"):
                self._header, self._link = self._machine.describe(self._header)
            self._measure(rule)
        except KeyboardInterrupt:
            self._interrupted = True
        return self._report()

    def _measure(self, rule: StopRule) -> None:
        buffers = Buffers(self._machine)
        try:
            with self._guarded("every cell"):
                workspace = Workspace(
                    self._machine, self._machine.stream(), buffers, self._rotation()
                )
                self._pass_once(workspace, rule)
            self._probe()
            self._refine()
            for measured in self._measured:
                measured.finish()
        finally:
            for measured in self._measured:
                measured.close()
            with guarded(self._lose):
                self._machine.synchronize()
            with guarded(self._lose):
                buffers.close()

    def _rotation(self) -> int:
        cache = self._header.cache or USUAL_CACHE
        return min(2 * cache, MOST_ROTATION, self._space.largest)

    def _pass_once(self, workspace: Workspace, rule: StopRule) -> None:
        """Take a few samples of each cell, as far as the time goes."""
        self._watcher.stage("first samples")
        for turn in cells_in_turn(self._planned):
            started = self._warmed_up(turn, workspace, rule)
            if self._lost or not started:
                return
            self._sample(started, max(self._left(_FOR_SAMPLES), 0.0), FEWEST)

    def _warmed_up(
        self, turn: Sequence[Cell], workspace: Workspace, rule: StopRule
    ) -> list[MeasuredCell]:
        """Start cells until the time for that is up."""
        started = []
        for cell in turn:
            if self._left(_FOR_FIRST_PASS) <= 0 or self._lost:
                break
            measured = MeasuredCell(cell, SCENARIOS[cell.scenario].route, workspace, rule)
            self._measured.append(measured)
            measured.warm_up()
            started.append(measured)
            self._note_failure(measured)
            self._watcher.sampled(len(self._planned) - len(self._measured), self._seconds())
        return started

    def _note_failure(self, measured: MeasuredCell) -> None:
        if measured.problem:
            self._notice_loss()

    def _sample(self, cells: Sequence[MeasuredCell], seconds: float, rounds: int | None) -> bool:
        failed = sum(bool(cell.problem) for cell in cells)
        finished = sample_in_rounds(
            cells,
            seconds=seconds,
            clock=self._machine.clock,
            rounds=rounds,
            progress=lambda waiting: self._watcher.sampled(waiting, self._seconds()),
        )
        if sum(bool(cell.problem) for cell in cells) > failed:
            self._notice_loss()
        return finished

    def _refine(self) -> None:
        """Take more samples of all cells in turn."""
        self._watcher.stage("measuring")
        if self._lost or self._sample(self._measured, self._left(_FOR_SAMPLES), None):
            return
        short = sum(not measured.done for measured in self._measured)
        if short:
            every = len(self._planned)
            self.notices.append(
                f"when the budget of {self._options.budget:g} s ran out, {every - short} of "
                f"{every} cells had 15 samples and a spread below 5%"
            )

    def _probe(self) -> None:
        machine, largest = self._machine, self._largest_probed()
        probes: dict[str, Callable[[], Iterable[Any]]] = {
            "asynchrony": lambda: asynchrony.probe_all(machine, largest),
            "hazards": lambda: hazards.demonstrate_all(machine),
            "latency": lambda: latency.measure_all(machine),
            "staging": lambda: staging.measure_all(machine, largest),
            "pinning": lambda: pinning.measure_all(machine, largest),
            "overlap": lambda: overlap.measure_all(machine, largest),
            "nodes": lambda: nodes.measure_all(machine, largest, self._header.numa_node),
        }
        unfinished = []
        for name, found in self._records.items():
            if self._lost:
                break
            self._watcher.stage(name)
            with self._guarded(name):
                if not self._collect(probes[name](), found):
                    unfinished.append(name)
        if unfinished:
            listed = ", ".join(unfinished)
            self.notices.append(f"the budget ran out before these were fully measured: {listed}")

    def _collect(self, records: Iterable[Any], found: list[Any]) -> bool:
        """Add records; return False if the budget ran out."""
        for record in records:
            found.append(record)
            self._watcher.sampled(len(self._planned), self._seconds())
            if self._left(_FOR_PROBES) < 0:
                return False
        return True

    def _largest_probed(self) -> int:
        """Probes go up to the largest copy that is measured, and to a MiB at least."""
        largest = max((cell.total for cell in self._planned), default=self._space.largest)
        return min(max(largest, _LEAST_PROBED), self._space.largest)

    def _cells(self) -> tuple[Cell, ...]:
        """All planned cells, with their results or the reason why they have none."""
        done = {id(measured.cell): measured.result() for measured in self._measured}
        found = (
            done.get(id(cell)) or replace(cell, unavailable=NOT_REACHED) for cell in self._planned
        )
        if not self._lost:
            return tuple(found)
        return tuple(
            replace(cell, unavailable=self._lost) if cell.unavailable == NOT_REACHED else cell
            for cell in found
        )

    def _stopped_early(self) -> list[str]:
        """Notices about cells that have samples, and failed later."""
        reasons = Counter(
            measured.problem for measured in self._measured if measured.problem and measured.count
        )
        return [
            f"{count} cell{'s' if count > 1 else ''} got no more samples: {reason}"
            for reason, count in reasons.items()
        ]

    def _report(self) -> TransferReport:
        found = self._records
        cells, link = with_shares(self._cells(), self._link)
        report = TransferReport(
            simulated=self._machine.simulated,
            header=self._header,
            link=link,
            command=self._options.command,
            budget=self._options.budget,
            cells=cells,
            fits=tuple(fits(cells)),
            asynchrony=tuple(found.get("asynchrony", ())),
            hazards=tuple(found.get("hazards", ())),
            pinning=with_reuses(found.get("pinning", ()), cells),
            overlap=tuple(found.get("overlap", ())),
            latency=tuple(found.get("latency", ())),
            staging=tuple(found.get("staging", ())),
            nodes=tuple(found.get("nodes", ())),
            notices=(*self.notices, *self._stopped_early()),
            seconds=self._seconds(),
            interrupted=self._interrupted,
        )
        return replace(report, advice=advise(report))
