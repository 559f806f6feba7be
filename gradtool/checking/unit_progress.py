"""Progress of a unit, enough to report it if it is cut short."""

from __future__ import annotations

import msgspec

from gradtool.checking.unit import Unit, UnitResult
from gradtool.config.options import Watcher
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Coverage,
    FunctionResult,
    Location,
)


class UnitProgress:
    """Records what happens to a unit, as a `Listener`, and passes it to the watcher."""

    def __init__(self, unit: Unit, watcher: Watcher) -> None:
        self.unit = unit
        self.finished: dict[str, CaseResult] = {}
        self.current: str | None = None
        """The case that is being checked."""
        self._watcher = watcher
        self._listed: UnitResult | None = None
        self._coverage: Coverage | None = None
        self._exploring = 0.0

    @property
    def is_open(self) -> bool:
        """True once the cases are known."""
        return self._listed is not None

    @property
    def remaining(self) -> list[CaseResult]:
        """Cases that are not finished, as they were listed."""
        cases = self._listed.function.cases if self._listed else ()
        return [case for case in cases if case.name not in self.finished]

    @property
    def location(self) -> Location:
        """The location of the Function, if known."""
        known = Location(path=self.unit.shown, line=self.unit.line)
        return self._listed.function.location if self._listed else known

    def loaded(self) -> None:
        """The module is imported."""

    def opened(self, listed: UnitResult) -> None:
        """The cases are found."""
        self._listed = listed

    def case_started(self, name: str) -> None:
        """A case is about to be checked."""
        self.current = name
        self._watcher.case_started(f"{self.unit.node}[{name}]")

    def case_finished(self, case: CaseResult) -> None:
        """A case has been checked, or ended in some other way."""
        self.current = None
        self.finished[case.name] = case
        self._watcher.case_finished(self.unit.function, case)

    def exploring(self, what: str) -> None:
        """The Function is explored."""
        self._watcher.exploring(self.unit.node, what)

    def explored(self, coverage: Coverage | None, seconds: float) -> None:
        """The Function has been explored."""
        self._coverage, self._exploring = coverage, seconds

    def discard(self) -> None:
        """Forget the cases, and what was found at them."""
        self.current, self._listed, self._coverage = None, None, None
        self._exploring = 0.0
        self.finished.clear()

    def close(self, *checks: CheckResult) -> UnitResult:
        """The result of the Function, with more `checks` of it as a whole."""
        listed = self._listed or UnitResult(
            function=FunctionResult(name=self.unit.function, location=self.location)
        )
        # In the order of the listing, also where an interrupt left gaps.
        order = [case.name for case in listed.function.cases]
        function = msgspec.structs.replace(
            listed.function,
            cases=tuple(self.finished[name] for name in order if name in self.finished),
            checks=(*listed.function.checks, *checks),
            coverage=self._coverage,
            exploring=self._exploring,
        )
        self._watcher.function_finished(self.unit.shown, function)
        return msgspec.structs.replace(listed, function=function)
