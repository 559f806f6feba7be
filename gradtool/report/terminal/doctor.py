"""The answers of ``gradtool doctor``: a line each, with advice below it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from gradtool.report.terminal.console import DIM, STRONG, Page

_MARKS = {
    "works": ("ok", "green"),
    "missing": ("--", DIM),
    "broken": ("!!", "bold red"),
    "note": ("  ", ""),
}


def render(answers: Iterable[Mapping[str, Any]], console: Console, *, verdict: str) -> None:
    """Write the answers, as `gradtool.doctor.results.ProbeResult` has them, and a last line."""
    page, listed = Page(console), list(answers)
    width = max(len(answer["name"]) for answer in listed)
    for answer in listed:
        mark, style = _MARKS[answer["state"]]
        lead = Text.assemble((mark, style), "  ", answer["name"].ljust(width), "  ")
        page.wrapped(Text(answer["found"]), first=lead, indent=width + 6)
        if answer["advice"]:
            arrow = Text(" " * (width + 6) + "-> ", style=DIM)
            page.wrapped(Text(answer["advice"], style=DIM), first=arrow, indent=width + 9)
    page.blank()
    page.wrapped(Text(verdict, style=STRONG))
