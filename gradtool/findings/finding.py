"""How a finding is made, whichever room it comes from."""

from __future__ import annotations

import shlex

from gradtool.config.settings import Settings
from gradtool.findings.excerpts import excerpt
from gradtool.results.report import CheckResult, Evidence, Finding, Location, Severity, Verdict
from gradtool.verify.rules import RULES, codes


def make_finding(
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
    """A finding about the case, Function or module with the node id `node`."""
    rule = RULES[code]
    return Finding(
        rule=code,
        name=rule.name,
        severity=severity or rule.severity,
        node_id=f"{node}::{code}",
        message=message,
        location=location,
        source=excerpt(location),
        evidence=evidence,
        hint=hint,
        detail=detail,
        seed=settings.seed,
        replay=replay_command(node, code, settings) if settings.replayable else None,
    )


def could_not_run(finding: Finding, settings: Settings) -> CheckResult:
    """Something could not run at all, unless the configuration says that this is known."""
    code = finding.rule
    if code in settings.ignored:
        return CheckResult(rule=code, verdict=Verdict.SKIPPED, reason=settings.ignored[code])
    return CheckResult(rule=code, verdict=Verdict.ERROR, findings=(finding,))


def as_argument(path: str) -> str:
    """A path or node id as it stands on a command line, where a dash begins an option."""
    return f"./{path}" if path.startswith("-") else path


def replay_command(node: str, code: str, settings: Settings) -> str:
    """A command line that asks one rule of one node again, with the same numbers."""
    parts = [shlex.quote(as_argument(node))]
    if not code.startswith(codes.RUNNING):
        parts.append(f"--select {code}")
    return " ".join(["gradtool check", *parts, f"--seed {settings.seed}", *settings.flags])
