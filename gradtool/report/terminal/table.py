"""The table of a run: for each case its verdict, its name, what it took, what was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from rich.text import Text

from gradtool.report.reasons import reason
from gradtool.report.rows import Row
from gradtool.report.terminal.console import DIM, SEVERITIES, STRONG, VERDICTS, Page
from gradtool.report.verdicts import STOPPING, standing, stops
from gradtool.report.words import branches, duration, evidence, one_line, printable
from gradtool.results.report import CheckResult, Finding, SkipKind, Verdict, is_left_out, rests_on
from gradtool.spelling import plural

_INDENT = 2
_GAP = 2
_ENOUGH = 26
"""Columns for what was found below which the number of calls makes way."""


_MOST_ROWS = 20
"""Rows of a table in which each case has its own; beyond, cases that pass share one."""


def write_table(page: Page, listed: list[Row], *, strict: bool, verbosity: int) -> None:
    """Write the rows, grouped under the paths of their modules.

    Where there are many, the cases of a module of which there is nothing but success to say are
    one row, unless `verbosity` is above 0.
    """
    is_folded = verbosity < 1 and len(listed) > _MOST_ROWS
    table = _Table(page, listed, strict, verbosity)
    for path, group in groupby(listed, key=lambda row: row.module.path):
        page.whole(Text(printable(path), style=STRONG))
        fine: list[Row] = []
        for row in group:
            if is_folded and _is_plain_pass(row):
                fine.append(row)
            else:
                table.write(row)
        if len(fine) > 1:
            table.write_passed(fine)
        elif fine:
            table.write(*fine)
        page.blank()


def _is_plain_pass(row: Row) -> bool:
    has_findings = any(check.findings for check in row.checks)
    return row.case is not None and row.verdict is Verdict.PASS and not has_findings


class _Table:
    """The columns that all rows of a run share."""

    def __init__(self, page: Page, listed: list[Row], strict: bool, verbosity: int) -> None:
        self._page = page
        self._strict = strict
        self._verbosity = verbosity
        self._verdict = max(len(row.verdict.value) for row in listed)
        self._name = min(max(len(row.name) for row in listed), max(page.width // 2 - 10, 16))
        self._calls = max(len(_calls(row)) for row in listed)
        self._time = max(len(_time(row)) for row in listed)
        if page.width - self._outcome_column < _ENOUGH:
            self._calls = 0

    def write(self, row: Row) -> None:
        lead, column = self._lead(row)
        outcome = _outcome(row, self._strict)
        if column < len(lead) and len(lead) + len(outcome) > self._page.width:
            lead.rstrip()
            self._page.whole(lead)
            lead = Text(" " * column)
        self._page.wrapped(outcome, first=lead, indent=column)
        below = _INDENT + self._verdict + _GAP
        for line in self._more(row):
            self._page.wrapped(Text(line, style=DIM), first=Text(" " * below), indent=below + 2)

    def write_passed(self, rows: list[Row]) -> None:
        """Write one row for cases that passed, with the names of their Functions."""
        gap, passed = " " * _GAP, Verdict.PASS
        lead = Text(" " * _INDENT)
        lead.append(passed.value.ljust(self._verdict) + gap, style=VERDICTS[passed])
        names = dict.fromkeys(row.function.name for row in rows if row.function)
        seconds = sum(row.case.seconds for row in rows if row.case)
        inferred = sum(row.case.source == "inferred" for row in rows if row.case)
        text = Text(", ".join(names))
        about = f"  {plural(len(rows), 'case')}, {duration(seconds)}"
        text.append(about + (f", {inferred} inferred" if inferred else ""), style=DIM)
        self._page.wrapped(text, first=lead, indent=len(lead))

    @property
    def _outcome_column(self) -> int:
        widths = (self._verdict, self._name, self._calls, self._time)
        return _INDENT + sum(width + _GAP for width in widths if width)

    def _lead(self, row: Row) -> tuple[Text, int]:
        """The cells in front of the outcome, and the column at which it begins."""
        gap = " " * _GAP
        line = Text(" " * _INDENT)
        line.append(_word(row.verdict).ljust(self._verdict) + gap, style=VERDICTS[row.verdict])
        if not row.name:
            return line, len(line)
        line.append(row.name.ljust(self._name) + gap)
        for cell, width in ((_calls(row), self._calls), (_time(row), self._time)):
            line.append(cell.rjust(width) + gap if width else "", style=DIM)
        return line, self._outcome_column

    def _more(self, row: Row) -> Iterator[str]:
        """The lines under a row: what the case was called with, and what its checks said."""
        if row.case is not None and (row.case.source == "inferred" or self._verbosity > 0):
            yield ", ".join(row.case.arguments)
            if row.case.inferred_from is not None:
                yield f"inferred from {row.case.inferred_from}"
        if self._verbosity > 0:
            if row.case is not None and row.case.basis is not None:
                yield f"evidence: {one_line(evidence(row.case.basis))}"
            if row.coverage is not None:
                yield branches(row.coverage)
                yield from map(one_line, row.coverage.missing)
            yield from _check_lines(row.checks, every=self._verbosity > 1)


def _word(verdict: Verdict) -> str:
    """The verdict; in capitals when it fails the run, for eyes and logs without colour."""
    return verdict.value.upper() if verdict in STOPPING else verdict.value


def _calls(row: Row) -> str:
    if row.case is None:
        return ""
    return f"{row.case.cost.forward} fwd, {row.case.cost.backward} bwd"


def _time(row: Row) -> str:
    return "" if row.case is None else duration(row.case.seconds)


def _outcome(row: Row, strict: bool) -> Text:
    """The findings that stopped the row, or else what was found right; then other findings."""
    stopping = [check for check in row.checks if standing(check, strict=strict) in STOPPING]
    parts = [part for check in stopping for part in _stopped(check, strict)]
    found = [finding for check in row.checks for finding in check.findings]
    parts += _known(found)
    parts = parts or _right(row)
    told = _named_instead(row)
    parts += [
        Text(f"{finding.severity.value} {finding.rule}", style=SEVERITIES[finding.severity])
        for finding in found
        if not finding.known and not stops(finding, strict=strict) and finding.rule != told
    ]
    return Text(", ").join(parts)


def _known(found: Iterable[Finding]) -> list[Text]:
    """Known findings, each rule once."""
    names = dict.fromkeys(f"known {each.rule} {each.name}" for each in found if each.known)
    return [Text(name, style=DIM) for name in names]


def _stopped(check: CheckResult, strict: bool) -> list[Text]:
    found = (finding for finding in check.findings if stops(finding, strict=strict))
    names = dict.fromkeys(f"{finding.rule} {finding.name}" for finding in found)
    style = VERDICTS[check.verdict]
    return [Text(name, style=style) for name in names or [f"{check.rule} {check.verdict.value}"]]


def _right(row: Row) -> list[Text]:
    """The derivatives that passed, and why others were not asked for."""
    if row.case is None:
        return [Text("no case was checked", style=DIM)]
    if _uncompared(row) is not None:
        # What else was not checked follows from this.
        return [Text(f"gradient not compared ({_why_not_compared(row)})", style=DIM)]
    proofs = [check for check in row.checks if check.proves]
    passed = [check.proves or "" for check in proofs if check.verdict is Verdict.PASS]
    skipped = [check for check in proofs if is_left_out(check) and reason(check)]
    parts = [Text(what) for what in passed]
    parts += [
        Text(f"no {check.proves}: {one_line(reason(check) or '')}", style=DIM)
        for check in skipped
        if not rests_on(check)
    ]
    broken = dict.fromkeys(filter(None, map(rests_on, skipped)))
    parts += [Text(f"no checks that depend on {code}", style=DIM) for code in broken]
    return parts or [Text("no derivative was checked", style=DIM)]


def _uncompared(row: Row) -> CheckResult | None:
    """The check of the gradient, if it was skipped for a reason."""
    return next(
        (c for c in row.checks if c.proves == "gradient" and is_left_out(c) and reason(c)), None
    )


def _named_instead(row: Row) -> str | None:
    """The rule that reports why the gradient was not compared."""
    check = _uncompared(row)
    skip = check.skip if check else None
    return skip.blocked_by if skip and skip.kind is SkipKind.REPORTED else None


def _why_not_compared(row: Row) -> str:
    check = _uncompared(row)
    told = _named_instead(row)
    named = (f"{f.rule} {f.name}" for c in row.checks for f in c.findings if f.rule == told)
    return next(named, one_line((check and reason(check)) or ""))


def _check_lines(checks: tuple[CheckResult, ...], *, every: bool) -> Iterator[str]:
    for check in checks:
        why = reason(check)
        if every or why:
            yield f"{check.rule} {check.verdict.value}{f': {one_line(why)}' if why else ''}"
