"""Findings in full: place, message, source, arithmetic, hint and replay command."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

from rich.text import Text

from gradtool.report.findings import (
    case_to_keep,
    evidence_lines,
    explain_command,
    margin,
    place,
    subject,
)
from gradtool.report.terminal.block import write_block
from gradtool.report.terminal.console import DIM, SEVERITIES, STRONG, Page, make_console
from gradtool.report.words import listed, one_line, printable, with_code_lines
from gradtool.results.report import Finding, Location, Severity, Source

_INDENT = 2
_EVIDENCE = 4
_CODE = 4
"""Indent of lines of code to paste: that of the body of a class."""


def write_findings(page: Page, findings: Iterable[Finding], *, verbosity: int) -> None:
    """Write each finding as a block of lines with an empty line after it.

    Notes are brief; `verbosity` 1 writes them in full, and adds all digits and
    tracebacks. Findings in a row at one place show its source once. Equal findings without
    numbers, as of the modules of a package that does not import, are one block.
    """
    shown: Location | None = None
    for group in _equal_ones(findings):
        finding = group[0]
        is_brief = finding.severity is Severity.NOTE and verbosity < 1
        _write(page, group, verbosity, with_source=not is_brief and finding.location != shown)
        shown = shown if is_brief else finding.location


def _equal_ones(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Groups of findings that differ at most in the node they are of, in the order of the first."""
    groups: dict[object, list[Finding]] = {}
    for index, finding in enumerate(findings):
        has_own_numbers = finding.evidence is not None or finding.case is not None
        same = (finding.rule, finding.severity, finding.location, finding.message, finding.hint)
        groups.setdefault((same, index if has_own_numbers else None), []).append(finding)
    return list(groups.values())


def _write(page: Page, group: list[Finding], verbosity: int, *, with_source: bool) -> None:
    finding = group[0]
    page.whole(_heading(finding))
    page.wrapped(Text(one_line(finding.message)), indent=_INDENT)
    if len(group) > 1:
        _write_pairs(page, [("also in", listed([subject(other) for other in group[1:]]))], _INDENT)
    if with_source:
        if finding.step is not None:
            _write_step(page, finding.step)
        write_source(page, finding, whole=verbosity > 0)
    if finding.severity is Severity.NOTE and verbosity < 1:
        _write_pairs(page, [*_hint(finding), *_explain(finding)], _INDENT)
    else:
        _write_reasons(page, finding, verbosity)
    if finding.detail and verbosity > 0:
        for line in finding.detail.rstrip().splitlines():
            page.whole(Text(" " * _EVIDENCE + printable(line), style=DIM))
    page.blank()


def _write_step(page: Page, step: Source) -> None:
    """Write the line of forward that the hint names."""
    for number, text in enumerate(step.lines, step.first):
        made = _line(f"> {number} | ", text, is_meant=True)
        made.truncate(page.width, overflow="ellipsis")
        page.whole(made)
    page.whole(_line("  ...", "", is_meant=False))


def _write_reasons(page: Page, finding: Finding, verbosity: int) -> None:
    """Write the arithmetic, the hint and the replay command.

    The message has the worst values already, in as many digits as tell them apart.
    """
    evidence = finding.evidence
    if evidence is not None:
        write_block(page, evidence)
        lines = evidence_lines(evidence) if verbosity > 0 else margin(evidence)
        _write_pairs(page, list(lines), _EVIDENCE)
    _write_pairs(page, [*_hint(finding), *_replay(finding), *_explain(finding)], _INDENT)


def _heading(finding: Finding) -> Text:
    line = Text(place(finding.location), style=STRONG)
    line.append(": ", style="not bold")
    line.append(f"{finding.severity.value} {finding.rule}", style=SEVERITIES[finding.severity])
    line.append(f" {finding.name}", style="not bold")
    return line


def _hint(finding: Finding) -> list[tuple[str, str]]:
    return [("hint", with_code_lines(finding.hint))] if finding.hint else []


def _replay(finding: Finding) -> Iterator[tuple[str, str]]:
    """The replay command or, without one, node and seed; then what repairs it, and its case."""
    if finding.replay:
        yield "replay", printable(finding.replay)
    else:
        yield "node", printable(finding.node_id)
        if finding.seed is not None:
            yield "seed", str(finding.seed)
    if finding.repair:
        yield "repair", printable(finding.repair)
    if finding.case:
        yield "case", case_to_keep(finding.case)


def _explain(finding: Finding) -> list[tuple[str, str]]:
    return [("explain", explain_command(finding))]


_WHOLE = frozenset({"node", "replay", "repair", "case", "explain"})
"""Labels of texts that people copy: they are never broken."""


def _write_pairs(page: Page, pairs: list[tuple[str, str]], indent: int) -> None:
    width = max((len(label) for label, _ in pairs), default=0) + 2
    for label, text in pairs:
        lead = Text(" " * indent).append(label.ljust(width), style=DIM)
        first, *code = text.split("\n")
        if label in _WHOLE:
            page.whole(lead.append(first, style="not dim"))
        else:
            page.wrapped(Text(first), first=lead, indent=indent + width)
        for line in code:
            page.whole(Text(" " * _CODE + line))


_INDENT = 2
_BEFORE = 1
_AFTER = 4


def write_source(page: Page, finding: Finding, *, whole: bool) -> None:
    """Write the source of `finding`, if it has any: the lines next to its own, or all."""
    source, line = finding.source, finding.location.line
    if source is None or line is None:
        return
    shown = [
        (number, text)
        for number, text in enumerate(source.lines, source.first)
        if whole or line - _BEFORE <= number <= line + _AFTER
    ]
    while len(shown) > 1 and not shown[-1][1].strip():
        shown.pop()
    digits = len(str(shown[-1][0]))
    for number, text in shown:
        mark = ">" if number == line else " "
        made = _line(f"{mark} {number:{digits}} | ", text, is_meant=number == line)
        made.truncate(page.width, overflow="ellipsis")
        page.whole(made)
        if number == line:
            carets = "^" * max(source.end_column - source.column, 1)
            lead = " " * (_INDENT + 2 + digits) + " | " + " " * (source.column - 1)
            page.whole(Text(lead, style=DIM).append(carets, style=SEVERITIES[finding.severity]))


def _line(lead: str, text: str, *, is_meant: bool) -> Text:
    line = Text(" " * _INDENT + lead, style=DIM)
    line.append(printable(text), style="not dim" if is_meant else DIM)
    line.rstrip()
    return line


def findings_text(
    findings: Iterable[Finding], *, width: int | None = None, is_colored: bool = False
) -> str:
    """Findings as `gradtool check` prints them; `width` None leaves every line whole."""
    file = io.StringIO()
    console = make_console(file, "always" if is_colored else "never", width=width)
    write_findings(Page(console), findings, verbosity=0)
    return file.getvalue()
