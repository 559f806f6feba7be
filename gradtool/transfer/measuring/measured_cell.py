"""A cell while it is measured: its operation and its samples."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Sequence

from gradtool.measure.clock import Clock
from gradtool.measure.sampling import StopRule, runs_per_sample
from gradtool.results.transfer import Cell
from gradtool.transfer.errors import guarded
from gradtool.transfer.measuring.byte_check import ByteCheck
from gradtool.transfer.measuring.operation import Operation, Route, Slot, Workspace
from gradtool.transfer.measuring.outcome import Outcome
from gradtool.transfer.measuring.timing import Times, timed

_DOUBLED = {3, 7, 11}
"""Numbers of samples after which one of twice as many runs is taken: times must add up."""


class MeasuredCell:
    """Takes samples of one cell."""

    def __init__(self, cell: Cell, route: Route, workspace: Workspace, rule: StopRule) -> None:
        self.cell = cell
        self._workspace, self._rule = workspace, rule
        self._check = ByteCheck(workspace.machine)
        self._events = workspace.machine.event(), workspace.machine.event()
        self._cursor = 0
        self._runs = 1
        self._samples: list[Times] = []
        self._double: list[Times] = []
        self._verified = True
        self._warm = False
        self._problem = ""
        self._operation: Operation | None = self._made(route)
        made = self._operation
        self._hot, self._marked = (made.cache_hot, made.marked) if made else (False, True)

    def _made(self, route: Route) -> Operation | None:
        made: list[Operation] = []
        with self._recording_failure():
            made.append(route(self.cell, self._workspace))
        return made[0] if made else None

    def warm_up(self) -> None:
        """Run it until the machine is awake, and determine how many runs a sample needs."""
        if self._operation is None:
            return
        self._warm = True
        most = self._operation.most or 1_000_000
        with self._recording_failure():
            self._runs = min(most, runs_per_sample(lambda count: self._window(min(count, most))))

    def _window(self, count: int) -> float:
        times = self._run(self._slots(count))
        # A count at the limit counts as a full window: more runs are never made.
        cut = self._operation is not None and count == self._operation.most
        return max(times.done * count, 1.0 if cut else 0.0)

    def take(self) -> None:
        """Take a sample, with its bytes checked outside of the measured time."""
        with self._recording_failure():
            if self._is_double_due():
                self._double.append(self._sample(2 * self._runs))
            self._samples.append(self._sample(self._runs))

    def _is_double_due(self) -> bool:
        most = self._operation.most if self._operation else None
        fits = most is None or 2 * self._runs <= most
        return fits and len(self._samples) in _DOUBLED

    def _sample(self, runs: int) -> Times:
        slots = self._slots(runs)
        first = not self._samples
        checked = list({id(slot): slot for slot in slots}.values()) if first else slots[-1:]
        self._check.prepare(checked, whole=first)
        times = self._run(slots)
        self._verified &= self._check.arrived(checked, whole=first)
        return times

    @property
    def usable(self) -> bool:
        """True while it can take samples that count."""
        ready = self._operation is not None and self._warm
        return ready and self._verified and not self._problem

    @property
    def done(self) -> bool:
        """True once it has enough samples, or if it can have none that count."""
        if not self.usable:
            return True
        return self._rule.satisfied([times.done for times in self._samples])

    @property
    def count(self) -> int:
        """Number of samples so far."""
        return len(self._samples)

    @property
    def problem(self) -> str:
        """The reason why it can take no more samples; empty if it can."""
        return self._problem

    def _recording_failure(self) -> contextlib.AbstractContextManager[None]:
        """Record a failure in the block as the reason that this cell takes no more samples."""
        return guarded(self._fail)

    def _fail(self, reason: str) -> None:
        self._problem = self._problem or reason

    def result(self) -> Cell:
        """The cell with the results so far."""
        outcome = Outcome(
            samples=self._samples, doubled=self._double, runs=self._runs,
            verified=self._verified, cache_hot=self._hot, marked=self._marked,
            problem="" if self._samples else self._problem,
        )  # fmt: skip
        return outcome.record(self.cell)

    def _slots(self, count: int) -> list[Slot]:
        """The slots of the next sample, in the order in which they are used."""
        operation = self._operation
        assert operation is not None
        operation.prepare(count)
        available = operation.slots
        found = [available[(self._cursor + each) % len(available)] for each in range(count)]
        self._cursor = (self._cursor + count) % len(available)
        return found

    def _run(self, slots: list[Slot]) -> Times:
        workspace, calls = self._workspace, [slot.issue for slot in slots]
        stream = (self._operation and self._operation.stream) or workspace.stream
        workspace.machine.synchronize()
        with workspace.machine.current(stream):
            times = timed(calls, stream, *self._events, workspace.machine.clock)
        if self._operation is not None:
            self._operation.finish()
        return times

    def finish(self) -> None:
        """Check all bytes of a last run, and release the resources of the operation."""
        if self._operation is not None and self._samples and not self._problem:
            with self._recording_failure():
                self._check_whole()
        self.close()

    def close(self) -> None:
        """Release the resources of the operation."""
        operation, self._operation = self._operation, None
        if operation is not None:
            with self._recording_failure():
                operation.close()

    def _check_whole(self) -> None:
        slots = self._slots(1)
        self._check.prepare(slots, whole=True)
        self._run(slots)
        self._verified &= self._check.arrived(slots, whole=True)


def sample_in_rounds(
    cells: Sequence[MeasuredCell],
    *,
    seconds: float,
    clock: Clock,
    rounds: int | None = None,
    progress: Callable[[int], None] = lambda _unfinished: None,
) -> bool:
    """Take one sample of each cell, in an order shuffled every round, until all have enough.

    A cell that has enough stays in turn while others need more, so that the samples of cells that
    are compared come from the same minutes, and none follows always the same other.

    Args:
        cells: The cells, warmed up.
        seconds: Time limit; a sample that has begun is finished.
        clock: Source of times.
        rounds: Rounds at most.
        progress: Called after every sample with the number of unfinished cells.

    Returns:
        True if all have enough, or all rounds were made.
    """
    end, shuffled = clock() + seconds * 1e9, random.Random(0)
    made = 0
    while rounds is None or made < rounds:
        waiting = sum(not cell.done for cell in cells)
        usable = [cell for cell in cells if cell.usable]
        if not usable or (rounds is None and not waiting):
            return True
        shuffled.shuffle(usable)
        for cell in usable:
            if clock() >= end:
                return False
            cell.take()
            progress(waiting)
        made += 1
    return True
