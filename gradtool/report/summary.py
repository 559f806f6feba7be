"""What a run amounts to: the counts and the closing line that every renderer shares."""

from __future__ import annotations

from collections import Counter

import msgspec

from gradtool.report.rows import rows
from gradtool.report.unchecked import unchecked
from gradtool.report.verdicts import answers
from gradtool.report.words import plural
from gradtool.results.report import Cost, Report, Severity, Verdict


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of a run.

    The five verdicts count cases, and also each Function or module that broke before
    any case of it could be checked.
    """

    functions: int
    cases: int
    passed: int
    failed: int
    unverified: int
    errors: int
    skipped: int
    warnings: int
    notes: int
    known: int
    """Findings that the baseline has; they are in none of the counts above but `skipped`."""
    forward: int
    """Evaluations of forward, numeric derivatives included."""
    backward: int
    unchecked: tuple[str, ...]
    """What was not checked, in phrases."""


def summarize(report: Report) -> Summary:
    """Count the verdicts of a run and collect what it left unchecked."""
    verdicts = Counter(row.verdict for row in rows(report))
    severities = Counter(f.severity for f in report.findings() if not f.known)
    functions = [function for _, function in report.functions()]
    cost = total_cost(report)
    return Summary(
        functions=len(functions),
        cases=sum(len(function.cases) for function in functions),
        passed=verdicts[Verdict.PASS],
        failed=verdicts[Verdict.FAIL],
        unverified=verdicts[Verdict.UNVERIFIED],
        errors=verdicts[Verdict.ERROR],
        skipped=verdicts[Verdict.SKIPPED],
        warnings=severities[Severity.WARNING],
        notes=severities[Severity.NOTE],
        known=sum(finding.known for finding in report.findings()),
        forward=cost.forward,
        backward=cost.backward,
        unchecked=unchecked(report),
    )


def total_cost(report: Report) -> Cost:
    """What all cases together took."""
    costs = [case.cost for _, function in report.functions() for case in function.cases]
    return Cost(
        forward=sum(cost.forward for cost in costs), backward=sum(cost.backward for cost in costs)
    )


def counts(summary: Summary) -> list[tuple[Verdict, str]]:
    """The words for each verdict's count, in the order in which they are told."""
    return [
        (Verdict.PASS, f"{summary.passed} passed"),
        (Verdict.FAIL, f"{summary.failed} failed"),
        (Verdict.UNVERIFIED, f"{summary.unverified} unverified"),
        (Verdict.ERROR, plural(summary.errors, "error")),
        (Verdict.SKIPPED, f"{summary.skipped} skipped"),
    ]


def seeds(report: Report) -> str:
    """``0``, or ``0 to 19``."""
    last = report.seed + report.seeds - 1
    return f"{report.seed}" if report.seeds == 1 else f"{report.seed} to {last}"


def opening(report: Report, summary: Summary) -> str:
    """How much was looked at: ``3 Functions, 4 cases``."""
    stopped = "interrupted: " if report.interrupted else ""
    more = f" with {report.seeds} seeds" if report.seeds > 1 else ""
    return (
        f"{stopped}{plural(summary.functions, 'Function')}, {plural(summary.cases, 'case')}{more}"
    )


def remarks(report: Report, summary: Summary) -> str:
    """What follows the counts: warnings, notes, known findings and what was not checked."""
    parts = []
    if summary.warnings:
        parts.append(plural(summary.warnings, "warning"))
    if summary.notes:
        parts.append(plural(summary.notes, "note"))
    if summary.known:
        parts.append(f"{plural(summary.known, 'finding')} of the baseline")
    said = f"; {', '.join(parts)}" if parts else ""
    return f"{said}; {_honesty(report, summary)}"


def _honesty(report: Report, summary: Summary) -> str:
    left = "; ".join(summary.unchecked)
    if any(answers(check) for check in report.checks()):
        return f"not checked: {left or 'nothing'}"
    return f"nothing was checked; left out: {left}" if left else "nothing was checked"


def summary_line(report: Report) -> str:
    """The last line of every report for people."""
    summary = summarize(report)
    told = ", ".join(text for _, text in counts(summary))
    return f"{opening(report, summary)}: {told}{remarks(report, summary)}"
