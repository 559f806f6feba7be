"""What ends the user's code that is more than an exception: no time, no memory, no process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gradtool.config.settings import Settings
from gradtool.findings.terminations import Mishap, ended, out_of_memory, timed_out
from gradtool.sandbox.interrupts import is_interruptible
from gradtool.sandbox.process_state import kept_ambience
from gradtool.sandbox.timeout import TimedOut
from gradtool.sandbox.user_errors import describe


class Ended(Exception):  # noqa: N818 - the state of a Function, not a fault of the program
    """The user's code did not come to an end of its own. Its argument says why."""

    def __init__(self, mishap: Mishap) -> None:
        super().__init__(mishap.message)
        self.mishap = mishap


@contextmanager
def unless_ended(settings: Settings, home: Path, *, environment: bool = True) -> Iterator[None]:
    """Run the user's code, which lies below `home`, in the block, and keep its ambience.

    An `Exception` passes, and so does the interrupt of a person.

    Raises:
        Ended: The code ran out of time or memory, or raised what ends a process.
    """
    try:
        with kept_ambience(environment=environment):
            yield
    except Exception as error:
        if isinstance(error, MemoryError):
            raise Ended(_mishap(error, settings, home)) from None
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and is_interruptible():
            raise
        raise Ended(_mishap(error, settings, home)) from None


def _mishap(error: BaseException, settings: Settings, home: Path) -> Mishap:
    told = describe(error, home)
    if isinstance(error, TimedOut):
        return timed_out(settings, told.location, told.detail)
    if isinstance(error, MemoryError):
        return out_of_memory(told.summary, settings, told.location, told.detail)
    return ended(told.summary, told.location, told.detail)
