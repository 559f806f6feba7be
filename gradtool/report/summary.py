"""The summary of a run: counts, what was not checked, and the closing line of every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec

from gradtool.report.reasons import reason
from gradtool.report.rows import Row, rows
from gradtool.report.verdicts import answers
from gradtool.report.words import one_line, plural
from gradtool.results.report import (
    CheckResult,
    Cost,
    Family,
    FunctionResult,
    Report,
    Severity,
    Verdict,
    is_left_out,
    rests_on,
)


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of a run.

    The counts of verdicts are of cases, and also each Function or module that broke before
    any case of it could be checked.
    """

    functions: int
    cases: int
    passed: int
    failed: int
    unverified: int
    errors: int
    known_cases: int
    """Cases that fail only with findings of the baseline."""
    skipped: int
    warnings: int
    notes: int
    known: int
    """Findings that the baseline has; no other count of findings includes them."""
    forward: int
    """Evaluations of forward, numeric derivatives included."""
    backward: int
    unchecked: tuple[str, ...]
    """Phrases for everything that was not checked."""


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
        known_cases=verdicts[Verdict.KNOWN],
        skipped=verdicts[Verdict.SKIPPED],
        warnings=severities[Severity.WARNING],
        notes=severities[Severity.NOTE],
        known=sum(finding.known for finding in report.findings()),
        forward=cost.forward,
        backward=cost.backward,
        unchecked=unchecked(report),
    )


def _found_by_exploring(row: Row) -> bool:
    return row.case is None and any(
        finding.case is not None for check in row.checks for finding in check.findings
    )


def total_cost(report: Report) -> Cost:
    """The evaluations of all cases together."""
    costs = [case.cost for _, function in report.functions() for case in function.cases]
    return Cost(
        forward=sum(cost.forward for cost in costs), backward=sum(cost.backward for cost in costs)
    )


def counts(summary: Summary) -> list[tuple[Verdict, str]]:
    """The words for the count of each verdict, in the order of the summary.

    Known cases are counted only in runs that have some.
    """
    known = [(Verdict.KNOWN, f"{summary.known_cases} known")] if summary.known_cases else []
    return [
        (Verdict.PASS, f"{summary.passed} passed"),
        (Verdict.FAIL, f"{summary.failed} failed"),
        (Verdict.UNVERIFIED, f"{summary.unverified} unverified"),
        (Verdict.ERROR, plural(summary.errors, "error")),
        *known,
        (Verdict.SKIPPED, f"{summary.skipped} skipped"),
    ]


def seeds(report: Report) -> str:
    """``0``, or ``0 to 19``."""
    last = report.seed + report.seeds - 1
    return f"{report.seed}" if report.seeds == 1 else f"{report.seed} to {last}"


def opening(report: Report, summary: Summary) -> str:
    """The extent of the run: ``3 Functions, 4 cases``."""
    stopped = "interrupted: " if report.interrupted else ""
    more = f" with {report.seeds} seeds" if report.seeds > 1 else ""
    cases = plural(summary.cases, "case")
    explored = sum(_found_by_exploring(row) for row in rows(report))
    if explored:
        cases = f"{cases} and {plural(explored, 'explored case')}"
    return f"{stopped}{plural(summary.functions, 'Function')}, {cases}{more}"


def remarks(report: Report, summary: Summary) -> str:
    """The text after the counts: warnings, notes, known findings and what was not checked."""
    parts = []
    if summary.warnings:
        parts.append(plural(summary.warnings, "warning"))
    if summary.notes:
        parts.append(plural(summary.notes, "note"))
    if summary.known:
        parts.append(f"{plural(summary.known, 'finding')} in the baseline")
    listed = f"; {', '.join(parts)}" if parts else ""
    return f"{listed}; {_unchecked_remark(report, summary)}"


def _unchecked_remark(report: Report, summary: Summary) -> str:
    left = "; ".join(summary.unchecked)
    if any(answers(check) for check in report.checks()):
        return f"not checked: {left or 'nothing'}"
    return f"nothing was checked: {left}" if left else "nothing was checked"


def summary_line(report: Report) -> str:
    """The last line of every report for people."""
    summary = summarize(report)
    counted = ", ".join(text for _, text in counts(summary))
    return f"{opening(report, summary)}: {counted}{remarks(report, summary)}"


_SOME = "some {} checks"
"""Checks of a family, not all of it: if they are skipped, the derivative itself may be checked."""

_FAMILIES = {
    Family.RUNNING: "running",
    Family.GRADIENT: _SOME.format("gradient"),
    Family.DOUBLE_BACKWARD: "double backward",
    Family.FORWARD_MODE: "forward mode",
    Family.BATCHING: "batching",
    Family.CONTRACT: _SOME.format("contract"),
    Family.NUMERICS: _SOME.format("numeric"),
    Family.DEVICES: "devices",
}
"""Names for rules that prove nothing by themselves; one of no known family goes by its code."""

_DEPENDENT = "checks that depend on"

_NAMED = 3
"""Modules or rules that a phrase names before it only counts them."""

_LISTED = 12
"""Functions that it names: which they are matters more."""


def unchecked(report: Report) -> tuple[str, ...]:
    """One phrase for each kind of thing that was left unchecked; empty when there is none."""
    listed = list(rows(report))
    return (
        *_whole(report, listed),
        *_skipped(listed),
        *_left_out(report),
        *_cut_short(report, listed),
    )


def _whole(report: Report, listed: list[Row]) -> Iterator[str]:
    modules = [row.module.path for row in listed if row.function is None]
    if modules:
        yield f"{plural(len(modules), 'module')} that cannot be imported{_names(modules)}"
    # One that has no checks of its own either was not reached before an interruption.
    functions = [f for _, f in report.functions() if f.checks and not f.cases]
    for words, holds in _WITHOUT_CASES:
        names = [f.name for f in functions if holds(f)]
        functions = [f for f in functions if not holds(f)]
        if names:
            yield f"{plural(len(names), 'Function')} {words}{_names(names, _LISTED)}"


_WITHOUT_CASES: tuple[tuple[str, Callable[[FunctionResult], bool]], ...] = (
    (
        "not reached or without a backward",
        lambda f: any(check.rule == "GT011" for check in f.checks),
    ),
    ("with nothing to check", lambda f: f.verdict is Verdict.SKIPPED),
    ("without a case", lambda _: True),
)
"""Kinds of Functions that have no case, with a test for each; the first that holds counts."""


def _names(names: Sequence[str], most: int = _NAMED) -> str:
    return f" ({', '.join(names)})" if len(names) <= most else ""


def _skipped(listed: list[Row]) -> Iterator[str]:
    """Checks skipped in cases that did not fail, grouped by family and reason."""
    groups: Counter[tuple[str, str]] = Counter()
    for row in listed:
        if row.case is not None and not _has_failed(row):
            groups.update(_reasons(row))
    for (what, given), count in groups.items():
        why = f" ({given})" if given else ""
        yield f"{what} {'in' if what.startswith(_DEPENDENT) else 'of'} {plural(count, 'case')}{why}"


def _reasons(row: Row) -> list[tuple[str, str]]:
    """Each once, in the order of the checks: that of a set differs from run to run."""
    found = dict.fromkeys(_what_and_why(check) for check in row.checks if is_left_out(check))
    included = {(_SOME.format(what), why) for what, why in found}
    return [each for each in found if each not in included]


def _what_and_why(check: CheckResult) -> tuple[str, str]:
    broken = rests_on(check)
    if broken:
        return f"{_DEPENDENT} {broken}", ""
    words = (words for family, words in _FAMILIES.items() if check.rule in family)
    what = check.proves or next(words, check.rule)
    return what, one_line(reason(check) or "")


def _left_out(report: Report) -> Iterator[str]:
    if report.left_out:
        rules = plural(len(report.left_out), "rule")
        yield f"{rules} excluded by --select or --ignore{_names(report.left_out)}"
    if report.deselected:
        yield f"{plural(report.deselected, 'case')} not matched by -k"
    yield from report.passed_over


def _cut_short(report: Report, listed: list[Row]) -> Iterator[str]:
    broken = sum(_stopped_early(row) for row in listed)
    if broken:
        yield f"{_DEPENDENT} a failed one in {plural(broken, 'case')}"
    if report.interrupted:
        yield "everything after the interruption"


def _stopped_early(row: Row) -> bool:
    return row.case is not None and _has_failed(row) and any(map(is_left_out, row.checks))


def _has_failed(row: Row) -> bool:
    return row.verdict in (Verdict.FAIL, Verdict.ERROR, Verdict.KNOWN)
