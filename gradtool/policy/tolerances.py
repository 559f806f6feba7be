"""Tolerances that people give in place of gradtool's own: whether they still hold, and for what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime

from gradtool.config.settings import Settings
from gradtool.findings.finding import make_finding
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Finding,
    Location,
    ModuleResult,
    Relaxation,
    Verdict,
)
from gradtool.verify.rules import codes

_NAMED = 3
"""Cases that a line names before it only counts them."""


def expired(
    node: str, location: Location, cases: Sequence[CaseResult], settings: Settings
) -> CheckResult:
    """Whether a tolerance of the Function `node` is still there though its day has passed."""
    today = datetime.now(UTC).date()
    late = dict.fromkeys(case.relaxed for case in cases if _is_late(case.relaxed, today))
    findings = tuple(
        _late(node, location, each, [c.name for c in cases if c.relaxed == each], settings)
        for each in late
        if each is not None
    )
    verdict = Verdict.FAIL if findings else Verdict.PASS
    return CheckResult(rule=codes.EXPIRED, verdict=verdict, findings=findings)


def _is_late(relaxed: Relaxation | None, today: date) -> bool:
    return bool(relaxed and relaxed.expires and date.fromisoformat(relaxed.expires) < today)


def _late(
    node: str, location: Location, relaxed: Relaxation, names: Sequence[str], settings: Settings
) -> Finding:
    of = f"case {names[0]}" if len(names) == 1 else f"{len(names)} cases"
    why = f" ({relaxed.reason})" if relaxed.reason else ""
    return make_finding(
        codes.EXPIRED,
        node,
        settings,
        message=f"{_said(relaxed)} of {of} expired on {relaxed.expires}{why}",
        location=location,
        hint="mend what needs it and remove it, or give it a later day",
    )


def in_force(modules: Iterable[ModuleResult]) -> Iterator[str]:
    """A line for each tolerance that was given, with the cases that it holds for."""
    where: dict[Relaxation, list[str]] = {}
    for module in modules:
        for function in module.functions:
            for case in function.cases:
                if case.relaxed is not None:
                    node = f"{module.path}::{function.name}[{case.name}]"
                    where.setdefault(case.relaxed, []).append(node)
    for relaxed, nodes in where.items():
        until = relaxed.expires and f"until {relaxed.expires}"
        about = "; ".join(filter(None, (relaxed.reason, until)))
        listed = ", ".join(nodes) if len(nodes) <= _NAMED else f"{len(nodes)} cases"
        yield f"{_said(relaxed)} holds at {listed}{f' ({about})' if about else ''}"


def _said(relaxed: Relaxation) -> str:
    """``tolerance atol 0.001, rtol 0.1``."""
    values = {"atol": relaxed.atol, "rtol": relaxed.rtol}
    given = [f"{name} {value:g}" for name, value in values.items() if value is not None]
    return f"tolerance {', '.join(given)}"
