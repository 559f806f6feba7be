"""What a run did not check, in phrases: the honest end of every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gradtool.report.reasons import reason
from gradtool.report.rows import Row, rows
from gradtool.report.words import one_line, plural
from gradtool.results.report import CheckResult, Family, Report, Verdict, is_left_out, rests_on

_FAMILIES = {
    Family.RUNNING: "running",
    Family.GRADIENT: "gradient",
    Family.DOUBLE_BACKWARD: "double backward",
    Family.FORWARD_MODE: "forward mode",
    Family.BATCHING: "batching",
    Family.CONTRACT: "contract",
    Family.NUMERICS: "numerics",
    Family.DEVICES: "devices",
}
"""What the rules of a family ask about; a family of a later version goes by the rule's code."""

_NAMED = 3
"""How many modules, Functions or rules a phrase names before it only counts them."""


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
        verb = "does" if len(modules) == 1 else "do"
        yield f"{plural(len(modules), 'module')} that {verb} not import{_names(modules)}"
    # One that has no checks of its own either was not reached before an interruption.
    functions = [f.name for _, f in report.functions() if f.checks and not f.cases]
    if functions:
        yield f"{plural(len(functions), 'Function')} without a case{_names(functions)}"


def _names(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if len(names) <= _NAMED else ""


def _skipped(listed: list[Row]) -> Iterator[str]:
    """Checks skipped in cases that did not fail, grouped by family and reason."""
    groups: Counter[tuple[str, str]] = Counter()
    for row in listed:
        if row.case is not None and not _has_failed(row):
            groups.update(_reasons(row))
    for (what, given), count in groups.items():
        why = f" ({given})" if given else ""
        yield f"{what} of {plural(count, 'case')}{why}"


def _reasons(row: Row) -> list[tuple[str, str]]:
    """Each once, in the order of the checks: that of a set differs from run to run."""
    return list(dict.fromkeys(_what_and_why(check) for check in row.checks if is_left_out(check)))


def _what_and_why(check: CheckResult) -> tuple[str, str]:
    broken = rests_on(check)
    if broken:
        return f"what rests on {broken}", ""
    words = (words for family, words in _FAMILIES.items() if check.rule in family)
    return next(words, check.rule), one_line(reason(check) or "")


def _left_out(report: Report) -> Iterator[str]:
    if report.left_out:
        rules = plural(len(report.left_out), "rule")
        yield f"{rules} left out by --select or --ignore{_names(report.left_out)}"
    if report.deselected:
        yield f"{plural(report.deselected, 'case')} that -k did not match"
    yield from report.passed_over


def _cut_short(report: Report, listed: list[Row]) -> Iterator[str]:
    broken = sum(_stopped_early(row) for row in listed)
    if broken:
        yield f"what could not be asked after a failure in {plural(broken, 'case')}"
    if report.interrupted:
        yield "whatever was left when the run was interrupted"


def _stopped_early(row: Row) -> bool:
    return row.case is not None and _has_failed(row) and any(map(is_left_out, row.checks))


def _has_failed(row: Row) -> bool:
    return row.has_known or row.verdict in (Verdict.FAIL, Verdict.ERROR)
