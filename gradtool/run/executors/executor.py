"""The interface of executors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from gradtool.checking.unit import Discovery, DiscoveryResult, Unit, UnitResult
from gradtool.config.options import Watcher
from gradtool.results.report import OwnFault
from gradtool.workers.messages import WorkerFault


class UnitResults(msgspec.Struct):
    """The results of units, in their order."""

    done: list[UnitResult | None]
    """None for one that an interrupt left out."""
    interrupted: bool = False
    faults: tuple[OwnFault, ...] = ()
    """Where gradtool itself failed; of those units there is what was done before."""

    def require_sound(self) -> None:
        """Raise the first fault.

        Raises:
            WorkerFault: There is one.
        """
        if self.faults:
            raise WorkerFault.of(self.faults[0])


class Executor(Protocol):
    """Does the pieces of work of a run."""

    @property
    def numpy(self) -> str:
        """The version of NumPy that the work is done with."""

    def require_devices(self, devices: Sequence[str]) -> None:
        """Refuse devices that are not there.

        Raises:
            UsageError: One is missing.
        """

    def discover(self, discoveries: Sequence[Discovery]) -> list[DiscoveryResult]:
        """The answers to discoveries, in their order.

        Raises:
            UsageError: A file does not define a requested name.
        """

    def check(self, units: Sequence[Unit], watcher: Watcher) -> UnitResults:
        """The answers to units; an interrupt ends it early.

        Raises:
            UsageError: A Function has no case of the requested name.
        """

    def collect(self, units: Sequence[Unit]) -> list[UnitResult]:
        """The Functions with their cases, none checked.

        Raises:
            UsageError: A Function has no case of the requested name.
        """
