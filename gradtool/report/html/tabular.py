"""Pages of tables and lists, for reports of measurements: one file that needs nothing beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from gradtool.report.tabular import Table

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
  color: #1a1a1a; background: #fff; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; margin: .5rem 0 1rem; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .7rem; text-align: left; white-space: nowrap; }
th { border-bottom: 2px solid #999; }
tr.begins td { border-top: 1px solid #ccc; }
.right { text-align: right; }
.wide { overflow-x: auto; }
.chart svg { min-width: 46rem; width: 100%; }
.dim { color: #666; }
.simulated { background: #fff3cd; padding: .4rem .7rem; }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #16181b; }
  .simulated { background: #4d4319; }
  .dim { color: #999; }
}
"""

_RIGHT = ' class="right"'
_BEGINS = ' class="begins"'


def page(title: str, body: Iterable[str]) -> str:
    """A whole page; the lines of its body are HTML already."""
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>"
    )
    return "\n".join([head, *body, "</body>\n</html>"]) + "\n"


def lines(texts: Iterable[str]) -> str:
    """A paragraph of lines."""
    return "<p>" + "<br>\n".join(escape(text) for text in texts) + "</p>"


def bullets(title: str, texts: Sequence[str]) -> Iterator[str]:
    """A list under a heading; nothing where there is nothing to list."""
    if texts:
        yield f"<h2>{escape(title)}</h2>" if title else ""
        yield "<ul>"
        yield from (f"<li>{escape(text)}</li>" for text in texts)
        yield "</ul>"


def table(shown: Table) -> Iterator[str]:
    """A table under its title, with its notes."""
    places = [place for place, column in enumerate(shown.columns) if not column.narrow_only]
    if shown.title:
        yield f"<h2>{escape(shown.title)}</h2>"
    yield '<div class="wide"><table>'
    yield _row("th", shown, places, [column.name for column in shown.columns])
    for group in shown.groups:
        for place, row in enumerate(group):
            yield _row("td", shown, places, row, begins=place == 0)
    yield "</table></div>"
    yield from (f'<p class="dim">{escape(note)}</p>' for note in shown.notes)


def _row(
    tag: str, shown: Table, places: Sequence[int], row: Sequence[str], *, begins: bool = False
) -> str:
    cells = (
        f"<{tag}{_RIGHT if shown.columns[place].right else ''}>{escape(row[place])}</{tag}>"
        for place in places
    )
    return f"<tr{_BEGINS if begins else ''}>{''.join(cells)}</tr>"
