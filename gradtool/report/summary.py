"""The summary of a run: counts, what was not checked, and the closing line of every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec

from gradtool.report.reasons import reason
from gradtool.report.rows import Row, rows
from gradtool.report.verdicts import answers
from gradtool.report.words import one_line
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
from gradtool.spelling import plural


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of a run.

    The counts of verdicts cover cases, and also each Function or module that broke before any
    case of it could be checked.
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


def _extent(report: Report, summary: Summary) -> list[str]:
    """Words for all that has a verdict, so that the counts of the verdicts add up to them."""
    parts = Counter(filter(None, map(_part, rows(report))))
    named = [plural(parts[words], *words) for words in _PARTS if parts[words]]
    return [plural(summary.cases, "case"), *named]


_EXPLORED = "explored case", "explored cases"
_WITHOUT_CASE = "Function without a case", "Functions without a case"
_SKIPPED = "skipped Function", "skipped Functions"
_AS_A_WHOLE = "check of a whole Function", "checks of whole Functions"
_MODULE = "module", "modules"
_PARTS = _EXPLORED, _WITHOUT_CASE, _SKIPPED, _AS_A_WHOLE, _MODULE
"""Names of rows that are not cases, in the singular and the plural."""


def _part(row: Row) -> tuple[str, str] | None:
    if row.case is not None:
        return None
    if row.function is None:
        return _MODULE
    if any(finding.case is not None for check in row.checks for finding in check.findings):
        return _EXPLORED
    if row.verdict is Verdict.SKIPPED:
        return _SKIPPED
    return _AS_A_WHOLE if row.function.cases else _WITHOUT_CASE


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
    """The extent of the run: ``3 Functions, 4 cases and 1 explored case``."""
    stopped = "interrupted: " if report.interrupted else ""
    more = f" with {report.seeds} seeds" if report.seeds > 1 else ""
    *first, last = _extent(report, summary)
    extent = f"{', '.join(first)} and {last}" if first else last
    return f"{stopped}{plural(summary.functions, 'Function')}, {extent}{more}"


def remarks(summary: Summary) -> str:
    """The text after the counts: warnings, notes and known findings."""
    parts = []
    if summary.warnings:
        parts.append(plural(summary.warnings, "warning"))
    if summary.notes:
        parts.append(plural(summary.notes, "note"))
    if summary.known:
        parts.append(f"{plural(summary.known, 'finding')} in the baseline")
    return f"; {', '.join(parts)}" if parts else ""


def unchecked_remark(report: Report, summary: Summary) -> tuple[str, tuple[str, ...]]:
    """The heading of what was not checked, and its phrases."""
    if any(answers(check) for check in report.checks()):
        return "not checked", summary.unchecked or ("nothing",)
    return "nothing was checked", summary.unchecked


def unchecked_lines(report: Report, summary: Summary) -> tuple[str, tuple[str, ...]]:
    """The line that says what was not checked, and items to list below it if they are several."""
    heading, left = unchecked_remark(report, summary)
    if len(left) < 2:
        return ": ".join((heading, *left)), ()
    return f"{heading}:", left


def summary_line(report: Report) -> str:
    """The summary in one line, for formats that have no room for more."""
    summary = summarize(report)
    counted = ", ".join(text for _, text in counts(summary))
    heading, left = unchecked_remark(report, summary)
    told = f"{heading}: {'; '.join(left)}" if left else heading
    return f"{opening(report, summary)}: {counted}{remarks(summary)}; {told}"


_SOME = "some {} checks"
"""Checks of a family, not all of it: if they are skipped, the derivative itself may be checked."""

_EVERYTHING = "everything"

_FAMILIES = {
    Family.RUNNING: _EVERYTHING,
    Family.GRADIENT: _SOME.format("gradient"),
    Family.DOUBLE_BACKWARD: "double backward",
    Family.FORWARD_MODE: "forward mode",
    Family.BATCHING: "batching",
    Family.CONTRACT: _SOME.format("contract"),
    Family.NUMERICS: _SOME.format("numeric"),
    Family.DEVICES: "devices",
}
"""Names for rules that prove nothing by themselves; one of no known family goes by its code."""

_PARTIAL = {words for words in _FAMILIES.values() if words.startswith("some ")}

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
    functions = [(m, f) for m, f in report.functions() if f.checks and not f.cases]
    is_one = len(report.modules) == 1
    for words, holds in _WITHOUT_CASES:
        names = [f.name if is_one else f"{m.path}::{f.name}" for m, f in functions if holds(f)]
        functions = [(m, f) for m, f in functions if not holds(f)]
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
    groups: dict[tuple[str, str], _Group] = {}
    for row in listed:
        if row.case is not None and not _has_failed(row):
            for key, rules in _reasons(row).items():
                groups.setdefault(key, _Group()).add(rules)
    for (what, why), group in groups.items():
        yield group.phrase(what, why)


class _Group(msgspec.Struct):
    """The cases in which some rules were skipped for one reason."""

    cases: int = 0
    rules: list[str] = []

    def add(self, rules: list[str]) -> None:
        self.cases += 1
        self.rules += rules

    def phrase(self, what: str, why: str) -> str:
        """``double backward of 2 cases (declared once_differentiable)``; of a part, its rules."""
        named = sorted(set(self.rules)) if what in _PARTIAL else []
        codes = ", ".join(named) if len(named) <= _NAMED else ""
        about = ": ".join(filter(None, (codes, why)))
        link = "in" if what.startswith((_DEPENDENT, _EVERYTHING)) else "of"
        return f"{what} {link} {plural(self.cases, 'case')}{f' ({about})' if about else ''}"


def _reasons(row: Row) -> dict[tuple[str, str], list[str]]:
    """The rules by what they check and why it was skipped, in the order of the checks."""
    found: dict[tuple[str, str], list[str]] = {}
    for check in filter(is_left_out, row.checks):
        found.setdefault(_what_and_why(row, check), []).append(check.rule)
    included = {(_SOME.format(what), why) for what, why in found}
    return {key: rules for key, rules in found.items() if key not in included}


def _what_and_why(row: Row, check: CheckResult) -> tuple[str, str]:
    broken = rests_on(check)
    if broken:
        return f"{_DEPENDENT} {broken}", ""
    words = (words for family, words in _FAMILIES.items() if check.rule in family)
    what = check.proves or next(words, check.rule)
    return what, one_line(reason(check, row.module.path) or "")


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
