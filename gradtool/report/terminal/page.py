"""The page of a rule on a terminal: headings, paragraphs at its width, and code in colour."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from gradtool.report.formats.sarif import as_markdown
from gradtool.results.report import RuleInfo

_WIDEST = 100
"""Columns above which lines of text are hard to read."""
_CODE = "ansi_dark"
"""A theme of the terminal's own colours, which suit its background."""


def render_page(rule: RuleInfo, console: Console) -> None:
    """Write the page of `rule` to a console."""
    heading = f"## {rule.code} {rule.name} ({rule.severity.value})"
    page = Markdown(f"{heading}\n\n{as_markdown(rule.page)}", code_theme=_CODE, hyperlinks=False)
    console.print(page, width=min(console.width, _WIDEST))


def render_index(rules: Iterable[RuleInfo], console: Console) -> None:
    """Write code, name and summary of each of `rules`, the summary wrapped in its own column."""
    grid = Table.grid(padding=(0, 2))
    for is_whole in (True, True, False):
        grid.add_column(no_wrap=is_whole)
    for rule in rules:
        grid.add_row(rule.code, rule.name, rule.summary)
    console.print(grid)
