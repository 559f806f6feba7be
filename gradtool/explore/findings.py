"""Findings of what exploring discovered: the rule that is broken, and the case to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from gradtool.collect.checkable import Checkable
from gradtool.config.settings import Settings
from gradtool.explore.explorer import Discovered
from gradtool.explore.written import written
from gradtool.findings.check_results import check_result
from gradtool.results.report import CheckResult


def results(
    node: str, checkable: Checkable, found: Sequence[Discovered], settings: Settings
) -> list[CheckResult]:
    """The results of a Function's node for all that was discovered."""
    return [_result(node, checkable, each, settings) for each in found]


def _result(node: str, checkable: Checkable, found: Discovered, settings: Settings) -> CheckResult:
    where = f"where {found.variant.change} (otherwise the same as case {found.case.name!r})"
    flaws = tuple(
        replace(flaw, message=f"{flaw.message}; found by exploration, {where}")
        for flaw in found.outcome.flaws
    )
    result = check_result(node, checkable, structs.replace(found.outcome, flaws=flaws), settings)
    case = written(checkable, found.variant.point)
    return structs.replace(
        result, findings=tuple(structs.replace(each, case=case) for each in result.findings)
    )
