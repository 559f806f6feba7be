"""Answers to the tests: the checks of a Function at a case, of the Function itself, of a module.

A run of a Function answers for all its cases, so it is made once, when the first of its tests is
run.
"""

from __future__ import annotations

import msgspec

from gradtool.checking.unit import Unit
from gradtool.report.verdicts import STOPPING
from gradtool.results.report import CheckResult, FunctionResult, Location
from gradtool.run.session import Session


class Answered:
    """Checks of a module, known since it was collected."""

    has_failed = False
    """It has no cases."""

    def __init__(self, checks: tuple[CheckResult, ...], location: Location) -> None:
        self.location = location
        self._checks = checks

    def want(self, case: str | None) -> None:
        """Do nothing: the answer is known."""

    def answer(self, case: str | None) -> tuple[CheckResult, ...]:  # noqa: ARG002 - there is none
        """The checks."""
        return self._checks


class FunctionRun:
    """The run of one Function, made for the first of its tests."""

    def __init__(self, session: Session, unit: Unit, found: FunctionResult) -> None:
        self.location = found.location
        self._session = session
        self._unit = unit
        self._cases = {case.name for case in found.cases}
        self._wanted: set[str] = set()
        self._result: FunctionResult | None = None

    def want(self, case: str | None) -> None:
        """Note that the test of `case`, or of the Function itself, will be run."""
        self._wanted |= self._cases if case is None else {case}

    def answer(self, case: str | None) -> tuple[CheckResult, ...]:
        """The checks at a case, or of the Function itself."""
        result = self._checked()
        if case is None:
            return result.checks
        own = next((each.checks for each in result.cases if each.name == case), ())
        # A case that was never reached fails for what stopped the Function.
        return own or tuple(check for check in result.checks if check.verdict in STOPPING)

    @property
    def has_failed(self) -> bool:
        """Return True if some case failed, so that no other arguments were tried."""
        return any(case.verdict in STOPPING for case in self._checked().cases)

    def _checked(self) -> FunctionResult:
        if self._result is None:
            only = () if self._wanted == self._cases else tuple(sorted(self._wanted))
            self._result = self._session.check(msgspec.structs.replace(self._unit, only=only))
        return self._result
