"""Trials of a Function that asks for a call before, which is then made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gradtool.cases.inference.trials import Trial, silenced
from gradtool.cases.preparation import Call, calls_before
from gradtool.sandbox.timeout import TimedOut, time_limit

_SECONDS = 3.0
"""Time after which a call is given up."""

_MOST_CALLS = 60
"""Calls for one Function, which may need others for other sizes."""

_IN_TURN = 3
"""Calls that one set of arguments may need, one after the other."""


class Preparing:
    """Trials with the calls that refusals ask for; each call is made once.

    Args:
        function: The Function.
    """

    def __init__(self, function: Any) -> None:
        self._function = function
        self._made: set[str] = set()
        self._helped: list[Call] = []

    def attempt(self, values: Mapping[str, Any], attempt: Callable[[], Trial]) -> Trial:
        """Try arguments, by name, and again after each call that their refusal asks for."""
        trial = attempt()
        for _ in range(_IN_TURN):
            again = self._again(trial, values, attempt)
            if again is None:
                break
            trial = again
        return trial

    def calls_for(self, values: Mapping[str, Any]) -> tuple[Call, ...]:
        """The calls that helped, of those that fit arguments."""
        return tuple(call for call in self._helped if call.fits(values))

    def _again(
        self, trial: Trial, values: Mapping[str, Any], attempt: Callable[[], Trial]
    ) -> Trial | None:
        """The trial after the first call that changes what is objected to; None without one."""
        objection = trial.objection
        for call in calls_before(self._function, objection, values) if objection else ():
            if str(call) in self._made or len(self._made) >= _MOST_CALLS:
                continue
            self._made.add(str(call))
            if _succeeds(call) and (again := attempt()).objection != objection:
                self._helped.append(call)
                return again
        return None


def _succeeds(call: Call) -> bool:
    try:
        with silenced(), time_limit(_SECONDS):
            call()
    except MemoryError:
        raise
    except (Exception, TimedOut):  # The user's function may raise anything.
        return False
    return True
