"""The rules that a report tells of, so that whoever reads it need not have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradtool.results.report import CheckResult, ModuleResult, RuleInfo, Verdict
from gradtool.verify.rules import RULES

_SILENT = (Verdict.PASS, Verdict.SKIPPED)


def rulebook(modules: Iterable[ModuleResult]) -> tuple[RuleInfo, ...]:
    """Every rule that did not simply pass somewhere in `modules`, in the order of the codes."""
    told = {check.rule for check in _checks(modules) if check.findings or _is_told(check)}
    return tuple(
        RuleInfo(
            code=rule.code,
            name=rule.name,
            severity=rule.severity,
            summary=rule.summary,
            page=rule.page.strip(),
        )
        for rule in map(RULES.__getitem__, sorted(told))
    )


def _is_told(check: CheckResult) -> bool:
    return check.verdict not in _SILENT


def _checks(modules: Iterable[ModuleResult]) -> Iterator[CheckResult]:
    for module in modules:
        yield from module.checks
        for function in module.functions:
            yield from function.checks
            for case in function.cases:
                yield from case.checks
