"""The Functions of the zoo, with what each says of itself.

A wrong Function has the attributes ``expect``, the rules it must trip, ``diagnosis``, the kind
of mistake where the gradient is wrong, ``says``, what a hint has to contain if it can name the
step of forward, and ``at``, the method a finding must point to
(backward unless it says otherwise). A finding that must point to a line within the method
has the comment ``# <-`` there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gradtool.checking.plan import PlannedFunction
from gradtool.checking.worker_session import WorkerSession
from gradtool.collect.discovery import function_location
from gradtool.results.report import Finding, FunctionResult, Report, Severity
from gradtool.run.run_plan import RunPlan
from tests.options import check_options

ZOO = Path(__file__).resolve().parent

DIAGNOSES = {
    "sign": r"wrong sign",
    "factor": r"times|factor|too (large|small)",
    "mean": r"mean|1/|times|number of",
    "transpose": r"transpose",
    "swapped": r"is (minus )?that of|swaps the cotangents",
    "inner": r"is the derivative times .*(`|output)|an extra factor for each entry",
    "term": r"is missing the term",
    "places": r"leaves out|reaches|wrong only in|summed, expanded or indexed",
    "rounded": r"cut short, or computed in lower precision",
    "reduce": r"reduce|summed|sum over|broadcast",
    "cotangent": r"depend on grad_output|multiply by it",
    "diagonal": r"diagonal",
    "output": r"at the output",
    "mask": r"only|mask|branch|where|entries",
    "slice": r"only|slice|entries|element",
    "conjugate": r"conj",
    "ignored": r"ignor|output \d",
    "zero": r"zero",
    "order": r"flip|permute|rolled",
}
"""What a hint says of each kind of mistake. ``other`` is a mistake that has no name of its own."""


@dataclass(frozen=True)
class Member:
    """One Function of the zoo."""

    path: Path
    name: str
    target: Any

    @property
    def id(self) -> str:
        return f"{self.path.stem}::{self.name}"

    @property
    def expect(self) -> frozenset[str]:
        return frozenset(getattr(self.target, "expect", ()))

    @property
    def diagnosis(self) -> str | None:
        return getattr(self.target, "diagnosis", None)

    @property
    def says(self) -> str | None:
        """What a hint has to contain, in place of what it says of the kind of mistake."""
        return getattr(self.target, "says", None)

    @property
    def line(self) -> int | None:
        """The line its findings must point to."""
        return self._marked() or self._method()

    @property
    def source(self) -> str:
        """The lines of the class."""
        return "\n".join(text for _, text in self._lines())

    def _lines(self) -> Iterator[tuple[int, str]]:
        lines = self.path.read_text(encoding="utf-8").splitlines()
        start = next(i for i, text in enumerate(lines) if text.startswith(f"class {self.name}("))
        for number in range(start, len(lines)):
            if number > start and re.match(r"\S", lines[number]):
                return
            yield number + 1, lines[number]

    def _marked(self) -> int | None:
        return next((number for number, text in self._lines() if text.endswith("# <-")), None)

    def _method(self) -> int | None:
        location = function_location(getattr(self.target, getattr(self.target, "at", "backward")))
        return location.line if location else None


def by_id(member: Member) -> str:
    """The id, for tests to be named by."""
    return member.id


@cache
def planned(kind: str) -> list[PlannedFunction]:
    """The Functions in ``wrong`` or ``right`` with their cases, in the order of their names."""
    plan, session = RunPlan(check_options(paths=(str(ZOO / kind),))), WorkerSession()
    modules = plan.modules([session.discover(discovery) for discovery in plan.discoveries()])
    return [session.plan(unit) for module in modules for unit in module.units]


@cache
def members(kind: str) -> tuple[Member, ...]:
    return tuple(
        Member(Path(function.unit.path), function.checkable.name, function.checkable.obj)
        for function in planned(kind)
    )


def results(report: Report) -> dict[str, FunctionResult]:
    """What came of each Function, by the id of its member."""
    return {
        f"{Path(module.path).stem}::{function.name}": function
        for module in report.modules
        for function in module.functions
    }


def strict_findings(function: FunctionResult) -> list[Finding]:
    """The findings that fail a strict run."""
    return [f for f in _findings(function) if f.severity is not Severity.NOTE]


def _findings(function: FunctionResult) -> Iterator[Finding]:
    for check in (*function.checks, *(c for case in function.cases for c in case.checks)):
        yield from check.findings
