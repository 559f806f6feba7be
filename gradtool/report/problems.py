"""Everything a report has to tell, as findings.

A check can stop the gate without a finding of its own, above all when it is unverified.
Renderers list findings, so such a check is given one here, and none is lost.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradtool.report.verdicts import STOPPING
from gradtool.results.report import CheckResult, Finding, Location, Report, Severity


def problems(report: Report, *, known: bool = False) -> Iterator[Finding]:
    """Every finding, and one for each stopping check that has none, in the order of the checks.

    Those that a baseline has are among them only if `known` says so.
    """
    return (finding for finding in _all(report) if known or not finding.known)


def _all(report: Report) -> Iterator[Finding]:
    for module in report.modules:
        yield from told(module.checks, module.path, Location(path=module.path))
        for function in module.functions:
            name = f"{module.path}::{function.name}"
            yield from told(function.checks, name, function.location)
            for case in function.cases:
                yield from told(case.checks, f"{name}[{case.name}]", function.location)


def told(checks: tuple[CheckResult, ...], owner: str, location: Location) -> Iterator[Finding]:
    """The findings of some checks, and one for each that stops the gate without any."""
    for check in checks:
        if check.findings:
            yield from check.findings
        elif check.verdict in STOPPING:
            yield _finding(check, owner, location)


def _finding(check: CheckResult, owner: str, location: Location) -> Finding:
    return Finding(
        rule=check.rule,
        name=check.verdict.value,
        severity=Severity.ERROR,
        node_id=f"{owner}::{check.rule}",
        message=check.reason or "no reason was given",
        location=location,
    )
