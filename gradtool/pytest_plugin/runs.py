"""Where the tests of a Function get their answers.

A run of a Function answers all rules at all its cases, so it is made once, when the first of
its tests is run.
"""

from __future__ import annotations

import msgspec

from gradtool.checking.unit import Unit
from gradtool.pytest_plugin.answers import answer
from gradtool.results.report import CheckResult, FunctionResult, Location
from gradtool.run.session import Session


class Answered:
    """Checks of a module that were made when it was collected."""

    def __init__(self, checks: tuple[CheckResult, ...], location: Location) -> None:
        self.location = location
        self._checks = checks

    def want(self, case: str | None) -> None:
        """Nothing is left to be asked."""

    def answer(self, case: str | None, rule: str) -> CheckResult:  # noqa: ARG002 - there is none
        """What is known of one rule."""
        return answer(self._checks, (), rule)


class FunctionRun:
    """The run of one Function, made when its first answer is wanted."""

    def __init__(self, gate: Session, unit: Unit, found: FunctionResult) -> None:
        self.location = found.location
        self._gate = gate
        self._unit = unit
        self._cases = {case.name for case in found.cases}
        self._wanted: set[str] = set()
        self._result: FunctionResult | None = None

    def want(self, case: str | None) -> None:
        """Note that a test of `case`, or of the Function as a whole, will be run."""
        self._wanted |= self._cases if case is None else {case}

    def answer(self, case: str | None, rule: str) -> CheckResult:
        """What is known of one rule, at one case or of the Function as a whole."""
        result = self._checked()
        if case is None:
            return answer(result.checks, (), rule)
        own = (each.checks for each in result.cases if each.name == case)
        return answer(next(own, ()), result.checks, rule)

    def _checked(self) -> FunctionResult:
        if self._result is None:
            only = () if self._wanted == self._cases else tuple(sorted(self._wanted))
            self._result = self._gate.check(msgspec.structs.replace(self._unit, only=only))
        return self._result
