"""Findings in full: where, what, the arithmetic, what to do, and how to see it again."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from gradtool.report.concise import place
from gradtool.report.evidence import evidence_lines
from gradtool.report.terminal.page import Page
from gradtool.report.terminal.styles import DIM, SEVERITIES, STRONG
from gradtool.report.words import one_line, printable
from gradtool.results import Finding, Severity

_INDENT = 2
_EVIDENCE = 4


def write_finding(page: Page, finding: Finding, *, verbosity: int) -> None:
    """Write one finding as a block of lines with an empty line after it.

    A note is said in brief; `verbosity` 1 gives its reasons too, and adds tracebacks.
    """
    page.whole(_heading(finding))
    page.wrapped(Text(one_line(finding.message)), indent=_INDENT)
    if finding.severity is Severity.NOTE and verbosity < 1:
        _write_pairs(page, _hint(finding), _INDENT)
    else:
        _write_reasons(page, finding)
    if finding.detail and verbosity > 0:
        for line in finding.detail.rstrip().splitlines():
            page.whole(Text(" " * _EVIDENCE + printable(line), style=DIM))
    page.blank()


def _write_reasons(page: Page, finding: Finding) -> None:
    """The arithmetic, what to do, and how to see it again."""
    if finding.evidence is not None:
        _write_pairs(page, list(evidence_lines(finding.evidence)), _EVIDENCE)
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
    yield "node", printable(finding.node_id)
    if finding.seed is not None:
        yield "seed", str(finding.seed)
    if finding.replay:
        yield "replay", printable(finding.replay)


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
