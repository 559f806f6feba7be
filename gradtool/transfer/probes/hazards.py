"""Hazards of reading or writing too early, shown reliably rather than by chance.

The stream is held, so that a non-blocking copy has certainly not begun: a careless program reads
the old bytes, and the bytes that it writes are sent. Then the same with a wait for the stream,
and for an event after the copy, which cure it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from msgspec.structs import replace

from gradtool.device.protocol import Stream
from gradtool.results.transfer import Hazard
from gradtool.transfer.errors import UnavailableError, reason_of
from gradtool.transfer.machines.machine import Buffer, Call, Machine
from gradtool.transfer.measuring.byte_check import POISON
from gradtool.transfer.probes.held_stream import held

SIZE = 1 << 16
TRIALS = 10

_RIGHT, _LATER = 0x3C, 0x96
"""The value that should arrive, and the value that the host writes over it."""

Cure = Callable[[Stream, Any], Any]
"""Waits until a copy is done, by its stream or by the event after it."""


class HazardSetup:
    """Page-locked memory, memory of the device, and a stream between them."""

    def __init__(self, machine: Machine, size: int = SIZE) -> None:
        self.machine = machine
        self._block = machine.host("pinned", size)
        self.host = self._block.array
        self.device = machine.device(size)
        self.stream = machine.stream()
        self.event = machine.event()

    def set_device(self, value: int) -> None:
        """Fill the device's memory."""
        self.machine.write(self.device, np.full(len(self.host), value, np.uint8))
        self.machine.synchronize()

    def device_holds(self, value: int) -> bool:
        """Return True if all of the device's bytes have this value."""
        return _all(self.machine.read(self.device), value)

    def copier(self, target: Buffer, source: Buffer) -> Call:
        """A copy on the stream, with the event after it."""
        copy = self.machine.copier(target, source, self.stream)

        def issue() -> None:
            copy()
            self.event.record(self.stream)

        return issue

    def close(self) -> None:
        """Release the memory."""
        self.machine.synchronize()
        del self.host
        self._block.close()


def _all(array: Any, value: int) -> bool:
    return bool((array == value).all())


def read_too_early(setup: HazardSetup, cure: Cure | None = None) -> bool:
    """Return True if a program that copies to the host and reads at once reads the wrong bytes."""
    setup.set_device(_RIGHT)
    setup.host.fill(POISON)
    with held(setup.machine, setup.stream) as hold:
        setup.copier(setup.host, setup.device)()
        if cure is not None:
            hold.open()
            cure(setup.stream, setup.event)
        seen = setup.host.copy()
    return not _all(seen, _RIGHT)


def overwrite_too_early(setup: HazardSetup, cure: Cure | None = None) -> bool:
    """Return True if a program that copies to the device and writes at once sends wrong bytes."""
    setup.set_device(POISON)
    setup.host.fill(_RIGHT)
    with held(setup.machine, setup.stream) as hold:
        setup.copier(setup.device, setup.host)()
        if cure is not None:
            hold.open()
            cure(setup.stream, setup.event)
        setup.host.fill(_LATER)
    return not setup.device_holds(_RIGHT)


def recycle_too_early(setup: HazardSetup, cure: Cure | None = None) -> bool:
    """Return True if a block released to its pool during a copy from it sends another's bytes."""
    setup.set_device(POISON)
    block = setup.machine.pooled(len(setup.host))
    block.array.fill(_RIGHT)
    with held(setup.machine, setup.stream) as hold:
        setup.copier(setup.device, block.array)()
        if cure is not None:
            hold.open()
            cure(setup.stream, setup.event)
        block.close()
        other = setup.machine.pooled(len(setup.host))
        other.array.fill(_LATER)
    other.close()
    return not setup.device_holds(_RIGHT)


def by_synchronize(stream: Stream, _event: Any) -> None:
    """Wait for the stream."""
    stream.synchronize()


def by_event(_stream: Stream, event: Any) -> None:
    """Wait for the event after the copy."""
    event.synchronize()


DEMONSTRATIONS: dict[str, tuple[str, Callable[[HazardSetup, Cure | None], bool]]] = {
    "d2h-read-too-early": (
        "a non-blocking copy to the host, read before it is done", read_too_early,
    ),
    "h2d-overwrite-too-early": (
        "a non-blocking copy to the device, its source overwritten before it is done",
        overwrite_too_early,
    ),
    "h2d-recycled-too-early": (
        "a non-blocking copy to the device, its page-locked block returned to the pool and "
        "reused before it is done",
        recycle_too_early,
    ),
}  # fmt: skip


def demonstrate_all(machine: Machine, trials: int = TRIALS) -> Iterator[Hazard]:
    """Demonstrate each hazard in `trials` trials, and each cure in as many."""
    try:
        setup = HazardSetup(machine)
    except UnavailableError as error:
        for name, (what, _) in DEMONSTRATIONS.items():
            yield Hazard(simulated=machine.simulated, name=name, what=what, unavailable=str(error))
        return
    try:
        for name, (what, wrong) in DEMONSTRATIONS.items():
            blank = Hazard(simulated=machine.simulated, name=name, what=what)
            try:
                yield _demonstrated(blank, setup, wrong, trials)
            except (UnavailableError, MemoryError) as error:  # The pool refused a block.
                yield replace(blank, unavailable=reason_of(error))
    finally:
        setup.close()


def _demonstrated(
    blank: Hazard,
    setup: HazardSetup,
    wrong: Callable[[HazardSetup, Cure | None], bool],
    trials: int,
) -> Hazard:
    return replace(
        blank,
        trials=trials,
        caught=sum(wrong(setup, None) for _ in range(trials)),
        cured_by_synchronize=sum(not wrong(setup, by_synchronize) for _ in range(trials)),
        cured_by_event=sum(not wrong(setup, by_event) for _ in range(trials)),
        cost=_cost_of_a_wait(setup),
    )


def _cost_of_a_wait(setup: HazardSetup, times: int = 100) -> float:
    """Seconds of a wait for an event that has been reached."""
    setup.event.record(setup.stream)
    setup.event.synchronize()
    start = setup.machine.clock()
    for _ in range(times):
        setup.event.synchronize()
    return (setup.machine.clock() - start) * 1e-9 / times
