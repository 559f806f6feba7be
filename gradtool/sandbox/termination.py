"""Ways in which the user's code ends other than by an exception: no time, no memory, no process."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from gradtool.config.settings import Settings
from gradtool.results.report import Location
from gradtool.sandbox.interrupts import is_interruptible
from gradtool.sandbox.process_state import preserved_process_state
from gradtool.sandbox.timeout import TimedOut
from gradtool.sandbox.user_errors import describe
from gradtool.verify.rules import codes


class Termination(msgspec.Struct, frozen=True):
    """Cause for which the code of a Function was cut short."""

    code: str
    message: str
    """Predicate of a sentence whose subject is "the Function"."""
    hint: str
    location: Location | None = None
    detail: str | None = None


def timed_out(
    settings: Settings, location: Location | None = None, detail: str | None = None
) -> Termination:
    """The time of the Function is up."""
    return Termination(
        codes.TIMED_OUT,
        f"took longer than {settings.timeout:g} s and was stopped",
        "look for an endless loop or a deadlock, use smaller arguments, or raise --timeout",
        location,
        detail,
    )


def out_of_memory(
    error: str, settings: Settings, location: Location | None = None, detail: str | None = None
) -> Termination:
    """An allocation failed with `error`."""
    limit = settings.memory_limit
    allowed = f" (--memory-limit is {limit / 2**20:.0f} MiB)" if limit else ""
    return Termination(
        codes.OUT_OF_MEMORY,
        f"ran out of memory{allowed}: {error}",
        "look for a buffer of the wrong size or one that grows, or raise --memory-limit",
        location,
        detail,
    )


def ended(means: str, location: Location | None = None, detail: str | None = None) -> Termination:
    """The Function ended its process by `means`."""
    hint = "raise an exception that says what is wrong instead of ending the process"
    return Termination(codes.ENDED, f"ended the process: {means}", hint, location, detail)


def crashed(
    cause: str,
    location: Location | None = None,
    detail: str | None = None,
    *,
    was_sent: bool = False,
) -> Termination:
    """A signal, or something as abrupt, killed the process; `was_sent` if a process sent it."""
    hint = "look for a call to compiled code with a wrong pointer, index or argument type"
    if was_sent:
        hint = "run the check again; if it fails again, look for code that sends the signal"
    return Termination(codes.CRASHED, f"crashed its process: {cause}", hint, location, detail)


class Terminated(Exception):  # noqa: N818 - the state of a Function, not a fault of the program
    """The user's code was cut short."""

    def __init__(self, termination: Termination) -> None:
        super().__init__(termination.message)
        self.termination = termination


@contextmanager
def user_code(settings: Settings, home: Path, *, environment: bool = True) -> Iterator[None]:
    """Run the user's code, which lies below `home`, in the block; restore the process state.

    An `Exception` passes, and so does the interrupt of a person.

    Raises:
        Terminated: The code ran out of time or memory, or raised what ends a process.
    """
    try:
        with preserved_process_state(environment=environment):
            yield
    except Exception as error:
        if is_out_of_memory(error):
            raise Terminated(_termination(error, settings, home)) from None
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and is_interruptible():
            raise
        raise Terminated(_termination(error, settings, home)) from None


def is_out_of_memory(error: BaseException) -> bool:
    """Return True for a `MemoryError`, or for a call to the system that found no memory.

    An import that lists a folder is one.
    """
    return isinstance(error, MemoryError) or (
        isinstance(error, OSError) and error.errno == errno.ENOMEM
    )


def _termination(error: BaseException, settings: Settings, home: Path) -> Termination:
    found = describe(error, home)
    if isinstance(error, TimedOut):
        return timed_out(settings, found.location, found.detail)
    if is_out_of_memory(error):
        return out_of_memory(found.summary, settings, found.location, found.detail)
    return ended(found.summary, found.location, found.detail)
