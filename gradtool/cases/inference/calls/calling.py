"""Cases of a Function from a call to one of its callers, whose arguments are searched instead."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from gradtool.adapters.library import library
from gradtool.cases.inference.calls.callers import Caller, callers, shown_to
from gradtool.cases.inference.calls.choices import chosen_beside
from gradtool.cases.inference.certainty import is_stated
from gradtool.cases.inference.climbing import Climb
from gradtool.cases.inference.drafts import Draft, others
from gradtool.cases.inference.observing import double_precision, observed
from gradtool.cases.inference.trials import BEYOND_LINES, Trial, floating_results, refused, silenced
from gradtool.collect.checkable import Checkable
from gradtool.config.schema import CaseConfig
from gradtool.sandbox.timeout import TimedOut, time_limit

_BUDGET = 150
"""Tries of the arguments of one caller."""

_SECONDS = 5.0
"""Processor time for all callers of a Function."""

_SECONDS_A_CALL = 3.0
"""Time after which a call is given up: a caller may do more than call the Function."""

_OTHERS = 6
"""Tries of other extents for a second case."""

_MOST_SHOWN = 8
"""Calls in examples of which the arguments are tried."""

_CONSTRUCTING, _CALLING, _REACHED = 0, 1, 2
"""Stages of a call, before the lines that it reached."""

NAMES = ("inferred", "inferred-2")


class Called(msgspec.Struct):
    """Cases that a call to a caller gives."""

    cases: list[CaseConfig] = msgspec.field(default_factory=list)
    caller: str = ""
    """The caller, or the example."""
    is_guess: bool = False
    calls: int = 0
    refusals: list[str] = msgspec.field(default_factory=list)
    """Why callers gave none, one line each."""


def call_callers(
    checkable: Checkable,
    make: Callable[[CaseConfig], list[Any]],
    attempt: Callable[[CaseConfig], Trial],
) -> Called:
    """The cases of the first caller that leads to accepted arguments.

    Args:
        checkable: The Function.
        make: Makes the values of a case of a caller.
        attempt: Tries a case of the Function.
    """
    called = _shown(checkable, attempt)
    if called.cases:
        return called
    deadline = time.thread_time() + _SECONDS
    for caller in callers(checkable.obj):
        calls = _Calls(caller, checkable, make, attempt)
        climb = Climb(caller.reading, calls.attempt, _BUDGET, deadline)
        best = climb.run()
        called.calls += climb.calls
        if best is not None and best.is_done:
            called.cases, called.caller = calls.cases(best.draft), caller.name
            called.is_guess = not is_stated(caller.reading, best)
            break
        if best is not None:
            called.refusals.append(f"{caller.name}: {best.trial.refusal or best.trial.doubt}")
    return called


def _shown(checkable: Checkable, attempt: Callable[[CaseConfig], Trial]) -> Called:
    """The case of the first example in a docstring whose arguments are accepted."""
    called = Called()
    for line, draft in itertools.islice(shown_to(checkable.obj), _MOST_SHOWN):
        called.calls += 1
        case = CaseConfig(args=draft, name=NAMES[0])
        if attempt(case).backward:
            called.cases, called.caller = [case], f"the example at line {line}"
            # A solver may stop at its default tolerance, short of what it is the derivative of.
            called.is_guess = any(isinstance(each, dict) and "literal" in each for each in draft)
            break
    return called


class _Calls:
    """Calls to a caller, with the arguments that reach the Function."""

    def __init__(
        self,
        caller: Caller,
        checkable: Checkable,
        make: Callable[[CaseConfig], list[Any]],
        attempt: Callable[[CaseConfig], Trial],
    ) -> None:
        self._caller = caller
        self._checkable = checkable
        self._make = make
        self._attempt = attempt
        self._found: list[CaseConfig] = []
        self._beside = chosen_beside(checkable.obj)

    def attempt(self, draft: Draft, name: str = NAMES[0]) -> Trial:
        """Call the caller, and try the arguments that reached the Function."""
        try:
            values = self._make(CaseConfig(args=draft, name=name))
        except (MemoryError, ValueError) as error:
            return Trial(refusal=str(error))
        with observed(self._checkable.obj, *self._beside) as seen:
            trial = self._call(values)
        if not seen:
            return trial
        case = CaseConfig(args=seen[0], name=name)
        inner = self._attempt(case)
        if inner.backward:
            self._found.append(case)
        return replace(inner, reached=(_REACHED, *inner.reached))

    def cases(self, draft: Draft) -> list[CaseConfig]:
        """The accepted case of a draft, and one of other extents, or else of other values."""
        first = self._found[-1]
        for other in [*others(draft)[:_OTHERS], draft]:
            if self.attempt(other, NAMES[1]).backward and self._found[-1].args != first.args:
                return [first, self._found[-1]]
        return [first]

    def _call(self, values: list[Any]) -> Trial:
        stage = _CONSTRUCTING
        given = dict(enumerate(values))
        try:
            with silenced(), double_precision(), time_limit(_SECONDS_A_CALL):
                function = self._caller.make(given)
                stage = _CALLING
                result = self._caller.call(function, given)
                _differentiate(result)
        except MemoryError:
            raise
        except TimedOut:
            return Trial(refusal=f"{self._caller.name} took too long", reached=(stage,))
        except Exception as error:
            return _staged(refused(error, self._checkable.file), stage)
        reason = f"{self._caller.name} did not call it"
        return Trial(refusal=reason, reached=(stage, BEYOND_LINES), missed=True)


def _differentiate(result: Any) -> None:
    """Run backward, in which a caller may call the Function with a cotangent to differentiate.

    An object is the result of the tensors that it holds, such as a matrix of its own.
    """
    held = result if isinstance(result, library().Tensor) else getattr(result, "__dict__", None)
    results = list(held.values()) if isinstance(held, dict) else result
    recorded = [value for value in floating_results(results) if value.requires_grad]
    if recorded:
        torch = library().torch
        cotangents = [torch.ones_like(value).requires_grad_() for value in recorded]
        torch.autograd.backward(recorded, cotangents, create_graph=True)


def _staged(trial: Trial, stage: int) -> Trial:
    return replace(trial, reached=(stage, *trial.reached))
