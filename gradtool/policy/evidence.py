"""Refuse a pass that rests on nothing: GT119 where no entry of any derivative was compared.

A worker may have nothing to compare, since all tensors of its cases are empty, or may have been
kept from comparing. The counts decide, not the reason: a Function whose cases compared nothing
is unverified, unless its check found a violated rule, or found that there is no derivative.
"""

from __future__ import annotations

import msgspec

from gradtool.config.settings import Settings
from gradtool.findings.finding import make_finding
from gradtool.policy.changes import Policy, RunSettings, change_functions
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    FunctionResult,
    Location,
    Report,
    Severity,
    Skip,
    SkipKind,
    Verdict,
)
from gradtool.verify.rules import codes

_HINT = (
    "add a case with a non-empty floating-point tensor of ordinary size that requires a gradient, "
    "and keep the tolerance well below that gradient"
)


def require_evidence(run: RunSettings) -> Policy:
    """Mark a Function as unverified if nothing was compared at its cases."""

    def function(node: str, result: FunctionResult) -> FunctionResult:
        unit = run.units.get(node)
        # A part of the cases may be those that have nothing to compare.
        is_part = unit is None or unit.only or unit.keyword is not None
        if unit is None or is_part or codes.NOTHING_CHECKED not in unit.settings.codes:
            return result
        if not _lacks_evidence(result, unit.settings):
            return result
        if not result.cases:
            missing = _unverified(node, "it has no case", result.location, unit.settings)
            return msgspec.structs.replace(result, checks=(*result.checks, missing))
        cases = tuple(_marked(node, result, case, unit.settings) for case in result.cases)
        return msgspec.structs.replace(result, cases=cases)

    def policy(report: Report) -> Report:
        # What an interrupt or a fault left out is reported as such.
        if report.interrupted or report.faults:
            return report
        return change_functions(report, function)

    return policy


def _lacks_evidence(function: FunctionResult, settings: Settings) -> bool:
    checks = [*function.checks, *(check for case in function.cases for check in case.checks)]
    if any(map(_is_broken, checks)) or any(case.compared for case in function.cases):
        return False
    if not function.cases:
        return not any(map(_is_listed_only, function.checks))
    return not all(_is_excused(case, settings) for case in function.cases)


def _is_listed_only(check: CheckResult) -> bool:
    """Return True for a Function that is abstract or was not reached, which its report says."""
    is_abstract = check.skip is not None and check.skip.kind is SkipKind.INAPPLICABLE
    return check.rule == codes.NOT_REACHED or (check.rule == codes.NO_CASE and is_abstract)


def _is_broken(check: CheckResult) -> bool:
    """Return True if the check explains why nothing was compared, and fails the run."""
    if check.verdict is Verdict.FAIL:
        return any(finding.severity is Severity.ERROR for finding in check.findings)
    return check.verdict in (Verdict.ERROR, Verdict.UNVERIFIED)


def _is_excused(case: CaseResult, settings: Settings) -> bool:
    """Return True if there is no derivative, or an ignored problem keeps it from being compared."""
    found = _answer(case)
    if found is None or found.skip is None:
        return False
    is_ignored = found.skip.blocked_by in settings.ignored
    return found.skip.kind is SkipKind.NOT_OFFERED or is_ignored


def _answer(case: CaseResult) -> CheckResult | None:
    return next((c for c in case.checks if c.rule == codes.NOTHING_CHECKED), None)


def _marked(
    node: str, function: FunctionResult, case: CaseResult, settings: Settings
) -> CaseResult:
    found = _answer(case)
    if found is not None and found.findings:
        findings = tuple(
            msgspec.structs.replace(each, severity=Severity.ERROR) for each in found.findings
        )
        marked = msgspec.structs.replace(found, verdict=Verdict.UNVERIFIED, findings=findings)
    else:
        why = _why(found.skip) if found is not None and found.skip is not None else ""
        marked = _unverified(f"{node}[{case.name}]", why, function.location, settings)
    others = (check for check in case.checks if check.rule != codes.NOTHING_CHECKED)
    return msgspec.structs.replace(case, checks=(*others, marked))


def _why(skip: Skip) -> str:
    return f"blocked by {skip.blocked_by}" if skip.blocked_by else skip.detail or ""


def _unverified(node: str, why: str, location: Location, settings: Settings) -> CheckResult:
    message = f"nothing was compared: {why or 'no entry of a derivative was evaluated'}"
    finding = make_finding(
        codes.NOTHING_CHECKED,
        node,
        settings,
        message=message,
        location=location,
        severity=Severity.ERROR,
        hint=_HINT,
    )
    return CheckResult(
        rule=codes.NOTHING_CHECKED,
        verdict=Verdict.UNVERIFIED,
        reason=message,
        findings=(finding,),
    )
