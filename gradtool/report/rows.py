"""The lines a report consists of: one for each case, and one for what broke before any case.

Tables list them and the summary counts them, so the two always agree.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gradtool.report.verdicts import STOPPING, overall
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Coverage,
    FunctionResult,
    Location,
    ModuleResult,
    Report,
    Verdict,
)

_ROW_OF_ITS_OWN = STOPPING | {Verdict.KNOWN}
"""Verdicts of a Function's or module's own checks that are listed beside its cases."""


class Row(msgspec.Struct, frozen=True):
    """A case; without a case, a Function as a whole; without a Function, a module as a whole."""

    module: ModuleResult
    function: FunctionResult | None
    case: CaseResult | None
    checks: tuple[CheckResult, ...]
    verdict: Verdict

    @property
    def name(self) -> str:
        """``Function[case]``, ``Function`` or nothing."""
        if self.function is None:
            return ""
        return (
            self.function.name if self.case is None else f"{self.function.name}[{self.case.name}]"
        )

    @property
    def node_id(self) -> str:
        """The path of the module and the name within it."""
        return f"{self.module.path}::{self.name}" if self.name else self.module.path

    @property
    def coverage(self) -> Coverage | None:
        """Coverage of the Function, in the row of its last case."""
        is_last = self.function is not None and self.case in self.function.cases[-1:]
        return self.function.coverage if self.function is not None and is_last else None

    @property
    def location(self) -> Location:
        """The place of the Function, or of the module."""
        return self.function.location if self.function else Location(path=self.module.path)


def rows(report: Report) -> Iterator[Row]:
    """Every row of the report, in its order."""
    for module in report.modules:
        yield from module_rows(module, strict=report.strict)


def module_rows(module: ModuleResult, *, strict: bool) -> Iterator[Row]:
    """The rows of one module."""
    own = overall(module.checks, strict=strict)
    if own in _ROW_OF_ITS_OWN:
        yield Row(module, None, None, module.checks, own)
    for function in module.functions:
        yield from _function_rows(module, function, strict)


def _function_rows(module: ModuleResult, function: FunctionResult, strict: bool) -> Iterator[Row]:
    own = overall(function.checks, strict=strict)
    if own in _ROW_OF_ITS_OWN:
        yield Row(module, function, None, function.checks, own)
    elif not function.cases:
        yield Row(module, function, None, function.checks, Verdict.SKIPPED)
    for case in function.cases:
        yield Row(module, function, case, case.checks, overall(case.checks, strict=strict))
