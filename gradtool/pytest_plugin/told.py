"""The text of findings as pytest shows it: gradtool's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gradtool.report.words import one_line
from gradtool.results.report import Finding


class Writer(Protocol):
    """The part of pytest's terminal writer that is needed here."""

    fullwidth: int
    hasmarkup: bool

    def write(self, msg: str) -> None:
        """Write text as it is."""


class Told:
    """Findings that pytest can print, name in one line, and hand to another process as text."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._findings = findings
        self.reprcrash = _Brief(findings)

    def toterminal(self, tw: Writer) -> None:
        """Print the findings at the width and in the colours of the terminal."""
        tw.write(self._text(width=tw.fullwidth, is_colored=tw.hasmarkup))

    def plain(self) -> str:
        """The findings as text."""
        return self._text(width=None, is_colored=False).rstrip("\n")

    __str__ = plain

    def _text(self, *, width: int | None, is_colored: bool) -> str:
        from gradtool.report.terminal.findings import findings_text  # Rich, where something failed

        return findings_text(self._findings, width=width, is_colored=is_colored)


class _Brief:
    """What pytest puts in its short summary: one line, and where."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        first = findings[0]
        self.path = first.location.path
        self.lineno = first.location.line or 0
        self.message = one_line(first.message)
