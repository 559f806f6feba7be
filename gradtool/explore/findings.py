"""Findings of what exploring discovered: the rule that is broken, and the case to keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from gradtool.collect.checkable import Checkable
from gradtool.config.settings import Settings
from gradtool.explore.explorer import Discovered
from gradtool.explore.ignored_option import changed_options
from gradtool.explore.point import Point
from gradtool.explore.variants.plain import with_defaults
from gradtool.explore.written import written
from gradtool.findings.check_results import check_result
from gradtool.results.report import CheckResult


def results(
    node: str, checkable: Checkable, found: Sequence[Discovered], settings: Settings
) -> list[CheckResult]:
    """The results of a Function's node for all that was discovered."""
    return [_result(node, checkable, each, settings) for each in found]


def _result(node: str, checkable: Checkable, found: Discovered, settings: Settings) -> CheckResult:
    change = " and ".join([found.variant.change, *_other_changes(checkable, found, settings)])
    where = f"where {change} (otherwise the same as case {found.case.name!r})"
    flaws = tuple(
        structs.replace(flaw, message=f"{flaw.message}; found by exploration, {where}")
        for flaw in found.outcome.flaws
    )
    result = check_result(node, checkable, structs.replace(found.outcome, flaws=flaws), settings)
    case = written(checkable, found.variant.point)
    return structs.replace(
        result, findings=tuple(structs.replace(each, case=case) for each in result.findings)
    )


def _other_changes(checkable: Checkable, found: Discovered, settings: Settings) -> Iterator[str]:
    """Yield the options that differ from the case, but that the change does not name."""
    at = Point.of(checkable, found.case, settings.device)
    point = found.variant.point
    for position, _ in changed_options(with_defaults(at, checkable.parameters()), point):
        name = f"`{point.names[position]}`"
        if name not in found.variant.change:
            yield f"{name} is {point.values[position]!r}"
