"""Findings and check results, made of what was found and where the user's code is."""

from __future__ import annotations

from pathlib import Path

from gradtool.adapters.library import library
from gradtool.collect.checkable import Checkable
from gradtool.collect.discovery import function_location
from gradtool.config.settings import Settings
from gradtool.findings.finding import could_not_run, make_finding
from gradtool.results.paths import shown_path
from gradtool.results.report import CheckResult, Finding, Location
from gradtool.sandbox.user_errors import describe
from gradtool.verify.examine import Flaw, Outcome
from gradtool.verify.rules import Rule, codes

_IN_FORWARD = ("setup_context", "forward")


def check_result(
    node: str, checkable: Checkable, outcome: Outcome, settings: Settings
) -> CheckResult:
    """What `verify` found out about one rule, told of the case with the node id `node`."""
    rule = outcome.rule
    findings = tuple(_of_flaw(node, checkable, rule, flaw, settings) for flaw in outcome.flaws)
    return CheckResult(
        rule=rule.code,
        verdict=outcome.verdict,
        reason=outcome.reason,
        skip=outcome.skip,
        proves=rule.proves,
        findings=findings,
    )


def _of_flaw(
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
    )


def _blamed(rule: Rule, checkable: Checkable, known: str | None) -> Location:
    """The ``def`` of the method that is `known` to be wrong, or that the rule blames."""
    if not checkable.is_function:
        return checkable.location
    target = checkable.obj
    names = [known] if known else rule.blames
    method = next((getattr(target, name) for name in names if _defines(target, name)), None)
    return (method and function_location(method)) or checkable.location


def _defines(cls: type, name: str) -> bool:
    """Whether the method is the user's own, not the one that every Function has."""
    own = library().Function.__mro__
    return any(name in vars(base) for base in cls.__mro__ if base not in own)


def raised_late(
    node: str, method: str, error: Exception, checkable: Checkable, settings: Settings
) -> CheckResult:
    """GT003 or GT004 for a method that raised in a later call than the first."""
    told = describe(error, checkable.folder)
    finding = make_finding(
        codes.FORWARD_RAISED if method in _IN_FORWARD else codes.BACKWARD_RAISED,
        node,
        settings,
        message=f"{method} raised {told.summary}, though not in its first call",
        location=told.location or checkable.location,
        hint="look for state that it keeps between calls",
        detail=told.detail,
    )
    return could_not_run(finding)
