"""Check results of a case, with findings that point into the user's code."""

from __future__ import annotations

from pathlib import Path

from gradtool.adapters.library import library
from gradtool.collect.checkable import Checkable
from gradtool.collect.discovery import function_location
from gradtool.config.settings import Settings
from gradtool.findings.finding import could_not_run, derive_command, make_finding
from gradtool.results.paths import shown_path
from gradtool.results.report import CheckResult, Finding, Location
from gradtool.sandbox.user_errors import describe
from gradtool.verify.examine import Flaw, Outcome
from gradtool.verify.rules import Rule, codes

_IN_FORWARD = ("setup_context", "forward")


def check_result(
    node: str, checkable: Checkable, outcome: Outcome, settings: Settings
) -> CheckResult:
    """Turn the outcome of one rule into a result of the case with the node id `node`."""
    rule = outcome.rule
    findings = tuple(_finding(node, checkable, rule, flaw, settings) for flaw in outcome.flaws)
    return CheckResult(
        rule=rule.code,
        verdict=outcome.verdict,
        reason=outcome.reason,
        skip=outcome.skip,
        proves=rule.proves,
        findings=findings,
    )


def _finding(
    node: str, checkable: Checkable, rule: Rule, flaw: Flaw, settings: Settings
) -> Finding:
    location = Location(path=shown_path(Path(flaw.path)), line=flaw.line) if flaw.path else None
    return make_finding(
        rule.code,
        node,
        settings,
        message=flaw.message,
        location=location or _blamed(rule, checkable, flaw.method),
        severity=flaw.severity,
        evidence=flaw.evidence,
        hint=flaw.hint,
        detail=flaw.detail,
        step=Location(path=flaw.step[0], line=flaw.step[1]) if flaw.step else None,
        repair=derive_command(node) if flaw.is_derivable and checkable.is_function else None,
    )


def _blamed(rule: Rule, checkable: Checkable, known: str | None) -> Location:
    """The ``def`` of the method `known` to be wrong, or else of one that the rule blames."""
    if not checkable.is_function:
        return checkable.location
    cls = checkable.obj
    names = [known] if known else rule.blames
    method = next((getattr(cls, name) for name in names if _defines(cls, name)), None)
    return (method and function_location(method)) or checkable.location


def _defines(cls: type, name: str) -> bool:
    """Return True for a method of the user's, not one that every Function inherits."""
    own = library().Function.__mro__
    return any(name in vars(base) for base in cls.__mro__ if base not in own)


def raised_late(
    node: str, method: str, error: Exception, checkable: Checkable, settings: Settings
) -> CheckResult:
    """GT003 or GT004 for a method that raised in a later call than the first."""
    raised = describe(error, checkable.folder)
    finding = make_finding(
        codes.FORWARD_RAISED if method in _IN_FORWARD else codes.BACKWARD_RAISED,
        node,
        settings,
        message=f"{method} raised {raised.summary}, but not on its first call",
        location=raised.location or checkable.location,
        hint="look for state that it keeps between calls",
        detail=raised.detail,
    )
    return could_not_run(finding)
