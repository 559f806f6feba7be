"""Findings and check results, made of what was found and where the user's code is."""

from __future__ import annotations

import shlex
from pathlib import Path

from gradtool.engine.autograd.function import Function
from gradtool.gate import codes
from gradtool.gate.load import LoadError
from gradtool.gate.no_case import NoCase
from gradtool.gate.settings import Settings
from gradtool.gate.source_lines import function_location
from gradtool.gate.subject import Subject
from gradtool.gate.targets import shown_path
from gradtool.results import CheckResult, Evidence, Finding, Location, Severity, Verdict
from gradtool.verify.examine import Flaw, Outcome
from gradtool.verify.rules import RULES

_OF_FORWARD = ("forward",)
_OF_CTX = ("setup_context", "forward")
_OF_BACKWARD = ("backward", "vjp", "forward")
_BLAMED = {
    **dict.fromkeys(["GT003", "GT501", "GT508", "GT509"], _OF_FORWARD),
    **dict.fromkeys(["GT115", "GT502", "GT505", "GT506", "GT510"], _OF_CTX),
    **dict.fromkeys(["GT301", "GT302"], ("jvp", *_OF_BACKWARD)),
    "GT401": ("vmap", "forward"),
}
"""The methods that a rule speaks of, the likeliest first. Other rules speak of backward."""


def not_imported(shown: str, error: LoadError, settings: Settings) -> CheckResult:
    """GT001 for the module `shown`."""
    told = error.told
    finding = _finding(
        codes.NOT_IMPORTED,
        shown,
        settings,
        message=error.message,
        location=(told.location if told else None) or Location(path=shown),
        hint=error.hint,
        detail=told.detail if told else None,
    )
    return _running(codes.NOT_IMPORTED, finding, settings)


def no_case(node: str, subject: Subject, reason: NoCase, settings: Settings) -> CheckResult:
    """GT002 for the Function with the node id `node`."""
    finding = _finding(
        codes.NO_CASE,
        node,
        settings,
        message=reason.message,
        location=reason.location or subject.location,
        hint=reason.hint,
        detail=reason.detail,
    )
    return _running(codes.NO_CASE, finding, settings)


def stopped(
    node: str, subject: Subject, settings: Settings, message: str, hint: str
) -> CheckResult:
    """GT003 for a case whose code neither returned nor raised an exception."""
    finding = _finding(
        codes.FORWARD_RAISED,
        node,
        settings,
        message=message,
        location=subject.location,
        hint=hint,
    )
    return _running(codes.FORWARD_RAISED, finding, settings)


def check_result(node: str, subject: Subject, outcome: Outcome, settings: Settings) -> CheckResult:
    """What `verify` found out about one rule, told of the case with the node id `node`."""
    code = outcome.rule.code
    findings = tuple(_of_flaw(node, subject, code, flaw, settings) for flaw in outcome.flaws)
    if code in settings.ignored and outcome.verdict is not Verdict.PASS:
        return CheckResult(rule=code, verdict=Verdict.SKIPPED, reason=settings.ignored[code])
    return CheckResult(rule=code, verdict=outcome.verdict, reason=outcome.reason, findings=findings)


def _of_flaw(node: str, subject: Subject, code: str, flaw: Flaw, settings: Settings) -> Finding:
    location = Location(path=shown_path(Path(flaw.path)), line=flaw.line) if flaw.path else None
    return _finding(
        code,
        node,
        settings,
        message=flaw.message,
        location=location or _blamed(code, subject, flaw.method),
        severity=flaw.severity,
        evidence=flaw.evidence,
        hint=flaw.hint,
        detail=flaw.detail,
    )


def _blamed(code: str, subject: Subject, known: str | None) -> Location:
    """The ``def`` of the method that is `known` to be wrong, or that the rule speaks of."""
    if not subject.is_function:
        return subject.location
    target = subject.target
    names = [known] if known else _BLAMED.get(code, _OF_BACKWARD)
    method = next((getattr(target, name) for name in names if _defines(target, name)), None)
    return (method and function_location(method)) or subject.location


def _defines(cls: type, name: str) -> bool:
    """Whether the method is the user's own, not the one that every Function has."""
    return any(name in vars(base) for base in cls.__mro__ if base not in Function.__mro__)


def of_the_whole(
    code: str, node: str, settings: Settings, *, message: str, location: Location, hint: str
) -> Finding:
    """A finding about all cases of the Function with the node id `node` together."""
    return _finding(code, node, settings, message=message, location=location, hint=hint)


def _running(code: str, finding: Finding, settings: Settings) -> CheckResult:
    """Something could not run at all, unless the configuration says that this is known."""
    if code in settings.ignored:
        return CheckResult(rule=code, verdict=Verdict.SKIPPED, reason=settings.ignored[code])
    return CheckResult(rule=code, verdict=Verdict.ERROR, findings=(finding,))


def _finding(
    code: str,
    node: str,
    settings: Settings,
    *,
    message: str,
    location: Location,
    severity: Severity | None = None,
    evidence: Evidence | None = None,
    hint: str | None = None,
    detail: str | None = None,
) -> Finding:
    rule = RULES[code]
    return Finding(
        rule=code,
        name=rule.name,
        severity=severity or rule.severity,
        node_id=f"{node}::{code}",
        message=message,
        location=location,
        evidence=evidence,
        hint=hint,
        detail=detail,
        seed=settings.seed,
        replay=replay_command(node, code, settings) if settings.replayable else None,
    )


def replay_command(node: str, code: str, settings: Settings) -> str:
    """A command line that asks one rule of one node again, with the same numbers."""
    parts = [shlex.quote(node)]
    if not code.startswith(codes.RUNNING):
        parts.append(f"--select {code}")
    return " ".join(["gradtool check", *parts, f"--seed {settings.seed}", *settings.flags])
