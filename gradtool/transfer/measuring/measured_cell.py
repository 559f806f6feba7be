"""A cell while it is measured: its operation and its samples."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from gradtool.measure.sampling import StopRule, runs_per_sample
from gradtool.results.transfer import Cell
from gradtool.transfer.errors import UnavailableError
from gradtool.transfer.measuring.byte_check import ByteCheck
from gradtool.transfer.measuring.operation import Operation, Route, Slot, Workspace
from gradtool.transfer.measuring.outcome import Outcome
from gradtool.transfer.measuring.timing import Times, timed

_DOUBLED = {3, 7, 11}
"""Numbers of samples after which one of twice as many runs is taken: times must add up."""


class MeasuredCell:
    """Takes samples of one cell; a `gradtool.measure.sampling.Sampled`."""

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

    def done(self) -> bool:
        """Return True once it has enough samples, or if it can have none that count."""
        usable = self._operation is not None and self._warm and self._verified
        if not usable or self._problem:
            return True
        return self._rule.satisfied([times.done for times in self._samples])

    @contextlib.contextmanager
    def _recording_failure(self) -> Iterator[None]:
        """Record a failure in the block as the reason that this cell has no number."""
        try:
            yield
        except (UnavailableError, MemoryError, RuntimeError) as error:
            self._problem = next(iter(str(error).splitlines()), "") or type(error).__name__

    def result(self, link: float | None = None) -> Cell:
        """The cell with the results so far.

        Args:
            link: Raw rate of the link in GB/s, where it is known.
        """
        outcome = Outcome(
            samples=self._samples, doubled=self._double, runs=self._runs,
            verified=self._verified, cache_hot=self._hot, marked=self._marked,
            problem=self._problem,
        )  # fmt: skip
        return outcome.record(self.cell, link)

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
            operation.close()

    def _check_whole(self) -> None:
        slots = self._slots(1)
        self._check.prepare(slots, whole=True)
        self._run(slots)
        self._verified &= self._check.arrived(slots, whole=True)
