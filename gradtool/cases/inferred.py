"""Cases of a Function that are inferred by trying arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from gradtool.adapters.common.binding import names_of
from gradtool.cases.arguments import bind_arguments
from gradtool.cases.drawn import case_seed, draw
from gradtool.cases.inference.calls.unpacked import unpacked
from gradtool.cases.inference.clues import read_clues
from gradtool.cases.inference.finding import Tries, find_cases
from gradtool.cases.inference.search import SearchResult
from gradtool.cases.inference.trials import (
    Trial,
    attempt,
    read_by_triangle,
    that_may_not_change,
    without_influence,
)
from gradtool.cases.lacking import GAPS, lacking_in_backward
from gradtool.cases.nothing_found import debug_refusal, no_arguments, nothing_found
from gradtool.cases.preparation import Call
from gradtool.cases.preparing import Preparing
from gradtool.collect.checkable import Checkable
from gradtool.config.schema import CaseConfig
from gradtool.config.settings import Settings
from gradtool.findings.could_not_run import NoCase
from gradtool.verify.oracle.evaluation_timeout import EvaluationTimeout, EvaluationTimeoutError

_PER_TRY = 3
"""Evaluations in place of which a try of arguments counts: forward and backward."""

CallsFor = Callable[[tuple[Any, ...]], tuple[Call, ...]]


def infer_cases(checkable: Checkable, settings: Settings) -> tuple[SearchResult, CallsFor]:
    """Infer cases, and what tells the calls that have to come before one, from its arguments.

    Raises:
        NoCase: The Function accepts nothing that was tried.
    """
    parameters = checkable.parameters()
    if not parameters:
        raise no_arguments(checkable)
    parameters, values = unpacked(checkable.obj, parameters)
    read = read_clues(checkable.obj, tuple(parameter.name for parameter in parameters))
    clues = replace(read, passed={**read.passed, **values})
    trying = _Trying(checkable, settings)
    search = find_cases(checkable, parameters, clues, trying.tries(), GAPS)
    if not search.cases:
        debug_refusal(checkable, settings, search.likeliest)
        raise nothing_found(checkable, settings, search)
    if search.broken == "raised" or trying.has_gap:
        trial = trying.tries().attempt(search.cases[0])
        problem = lacking_in_backward(checkable, settings, trial)
        if problem is not None:
            raise problem
    return search, trying.calls_for


class _Trying:
    """The ways to try cases of a Function or another callable."""

    def __init__(self, checkable: Checkable, settings: Settings) -> None:
        self._checkable = checkable
        self._settings = settings
        self._timeout = EvaluationTimeout()
        self._preparing = Preparing(checkable.obj)
        self.has_gap = False
        """Backward used what is not here, for some arguments."""

    def tries(self) -> Tries:
        return Tries(
            self._try,
            lambda case: draw(self._checkable, self._settings, case, str(case.name))[0],
            self._at(without_influence),
            self._at(that_may_not_change),
            self._at(read_by_triangle),
        )

    def calls_for(self, args: tuple[Any, ...]) -> tuple[Call, ...]:
        return self._preparing.calls_for(self._named(args))

    def _try(self, case: CaseConfig) -> Trial:
        try:
            made = self._bound(case)
            return self._preparing.attempt(self._named(made[0]), lambda: self._attempt(*made))
        except NoCase as error:  # They are too large, for one.
            return Trial(refusal=str(error))

    def _attempt(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Trial:
        try:
            with self._timeout.limited(_PER_TRY):  # Wrong arguments may iterate without end.
                trial = attempt(self._checkable, args, kwargs)
        except EvaluationTimeoutError as error:
            return Trial(refusal=str(error))
        self.has_gap |= bool(trial.gap)
        return trial

    def _bound(self, case: CaseConfig) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = draw(self._checkable, self._settings, case, str(case.name))
        return bind_arguments(self._checkable, args, kwargs)

    def _named(self, args: tuple[Any, ...]) -> dict[str, Any]:
        return dict(zip(names_of(self._checkable.obj, len(args)), args, strict=True))

    def _at(
        self, look: Callable[[Checkable, tuple[Any, ...], int], list[int]]
    ) -> Callable[[CaseConfig], list[int]]:
        """Look at the positional arguments of a case."""
        seed = case_seed(self._checkable, self._settings, "")
        return lambda case: look(self._checkable, self._bound(case)[0], seed)
