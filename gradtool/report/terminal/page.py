"""The page of a rule on a terminal: headings, paragraphs at its width, and code in colour."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from textwrap import wrap
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, MarkdownElement, Paragraph
from rich.table import Table
from rich.text import Text

from gradtool.report.formats.sarif import as_markdown
from gradtool.results.report import RuleInfo

_WIDEST = 100
"""Columns above which lines of text are hard to read."""
_CODE = "ansi_dark"
"""A theme of the terminal's own colours, which suit its background."""


class _Paragraph(Paragraph):
    """A paragraph in which no word is broken: an address could not be opened any more."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text: Text = self.text
        text.rstrip()
        width = options.max_width
        lines = wrap(text.plain, width, break_long_words=False, break_on_hyphens=False)
        for line in text.divide(accumulate(len(line) + 1 for line in lines[:-1])):
            line.rstrip()
            line.no_wrap, line.overflow = True, "ignore"
            yield line


class _Page(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "paragraph_open": _Paragraph,
    }


def render_page(rule: RuleInfo, console: Console) -> None:
    """Write the page of `rule` to a console."""
    heading = f"## {rule.code} {rule.name} ({rule.severity.value})"
    page = _Page(f"{heading}\n\n{as_markdown(rule.page)}", code_theme=_CODE, hyperlinks=False)
    console.print(page, width=min(console.width, _WIDEST), crop=False)


def render_index(rules: Iterable[RuleInfo], console: Console) -> None:
    """Write code, name and summary of each of `rules`, the summary wrapped in its own column."""
    grid = Table.grid(padding=(0, 2))
    for is_whole in (True, True, False):
        grid.add_column(no_wrap=is_whole)
    for rule in rules:
        grid.add_row(rule.code, rule.name, rule.summary)
    console.print(grid)
