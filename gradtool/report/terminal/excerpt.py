"""Findings without a report around them, for those who tell of one rule at a time."""

from __future__ import annotations

import io
from collections.abc import Iterable

from gradtool.report.terminal.console import make_console
from gradtool.report.terminal.findings import write_findings
from gradtool.report.terminal.lines import Page
from gradtool.results.report import Finding


def findings_text(
    findings: Iterable[Finding], *, width: int | None = None, is_colored: bool = False
) -> str:
    """Findings as `gradtool check` prints them; `width` None leaves every line whole."""
    file = io.StringIO()
    console = make_console(file, "always" if is_colored else "never", width=width)
    write_findings(Page(console), findings, verbosity=0)
    return file.getvalue()
