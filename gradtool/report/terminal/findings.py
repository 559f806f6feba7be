"""Findings in full: where, what, the arithmetic, what to do, and how to see it again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.text import Text

from gradtool.report.evidence import evidence_lines, margin
from gradtool.report.formats.concise import place
from gradtool.report.terminal.block import write_block
from gradtool.report.terminal.lines import Page
from gradtool.report.terminal.source import write_source
from gradtool.report.terminal.styles import DIM, SEVERITIES, STRONG
from gradtool.report.words import one_line, printable
from gradtool.results.report import Finding, Location, Severity

_INDENT = 2
_EVIDENCE = 4


def write_findings(page: Page, findings: Iterable[Finding], *, verbosity: int) -> None:
    """Write each finding as a block of lines with an empty line after it.

    A note is said in brief; `verbosity` 1 gives its reasons too, and adds all digits and
    tracebacks. Findings in a row at one place show its source once.
    """
    shown: Location | None = None
    for finding in findings:
        is_brief = finding.severity is Severity.NOTE and verbosity < 1
        _write(page, finding, verbosity, with_source=not is_brief and finding.location != shown)
        shown = shown if is_brief else finding.location


def _write(page: Page, finding: Finding, verbosity: int, *, with_source: bool) -> None:
    page.whole(_heading(finding))
    page.wrapped(Text(one_line(finding.message)), indent=_INDENT)
    if with_source:
        write_source(page, finding, whole=verbosity > 0)
    if finding.severity is Severity.NOTE and verbosity < 1:
        _write_pairs(page, _hint(finding), _INDENT)
    else:
        _write_reasons(page, finding, verbosity)
    if finding.detail and verbosity > 0:
        for line in finding.detail.rstrip().splitlines():
            page.whole(Text(" " * _EVIDENCE + printable(line), style=DIM))
    page.blank()


def _write_reasons(page: Page, finding: Finding, verbosity: int) -> None:
    """The arithmetic, what to do, and how to see it again.

    The message has the worst values already, in as many digits as tell them apart.
    """
    evidence = finding.evidence
    if evidence is not None:
        write_block(page, evidence)
        lines = evidence_lines(evidence) if verbosity > 0 else margin(evidence)
        _write_pairs(page, list(lines), _EVIDENCE)
    _write_pairs(page, [*_hint(finding), *_replay(finding)], _INDENT)


def _heading(finding: Finding) -> Text:
    line = Text(place(finding.location), style=STRONG)
    line.append(": ", style="not bold")
    line.append(f"{finding.severity.value} {finding.rule}", style=SEVERITIES[finding.severity])
    line.append(f" {finding.name}", style="not bold")
    return line


def _hint(finding: Finding) -> list[tuple[str, str]]:
    return [("hint", one_line(finding.hint))] if finding.hint else []


def _replay(finding: Finding) -> Iterator[tuple[str, str]]:
    """What it takes to see the finding again."""
    if finding.replay:
        yield "replay", printable(finding.replay)
        return
    yield "node", printable(finding.node_id)
    if finding.seed is not None:
        yield "seed", str(finding.seed)


_WHOLE = frozenset({"node", "replay"})
"""Labels of texts that people copy: they are never broken."""


def _write_pairs(page: Page, pairs: list[tuple[str, str]], indent: int) -> None:
    width = max((len(label) for label, _ in pairs), default=0) + 2
    for label, text in pairs:
        lead = Text(" " * indent).append(label.ljust(width), style=DIM)
        if label in _WHOLE:
            page.whole(lead.append(text, style="not dim"))
        else:
            page.wrapped(Text(text), first=lead, indent=indent + width)
