"""A transfer report as one HTML file that needs nothing beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from gradtool.report.transfer.tables import (
    Table,
    advice_lines,
    header_lines,
    last_line,
    not_measured,
    tables,
)
from gradtool.transfer_results import TransferReport

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
  color: #1a1a1a; background: #fff; }
table { border-collapse: collapse; margin: .5rem 0 1rem; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .7rem; text-align: left; white-space: nowrap; }
th { border-bottom: 2px solid #999; }
tr.begins td { border-top: 1px solid #ccc; }
.right { text-align: right; }
.wide { overflow-x: auto; }
.dim { color: #666; }
.simulated { background: #fff3cd; padding: .4rem .7rem; }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #16181b; }
  .simulated { background: #4d4319; }
  .dim { color: #999; }
}
"""


def render(report: TransferReport) -> str:
    """The whole page."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: TransferReport) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width">'
    yield f"<title>gradtool profile-transfer</title>\n<style>{_STYLE}</style>\n</head>\n<body>"
    yield "<h1>gradtool profile-transfer</h1>"
    if report.simulated:
        yield '<p class="simulated">SIMULATED: host memory stood in for a device.</p>'
    yield "<p>" + "<br>\n".join(escape(line) for line in header_lines(report)) + "</p>"
    yield from _list("Advice", advice_lines(report))
    told = [
        f"{'met' if each.met else 'NOT MET'}: {each.text} ({each.reason})"
        for each in report.requirements
    ]
    yield from _list("Requirements", told)
    for table in tables(report):
        yield from _table(table)
    yield from _list("Not measured", list(not_measured(report)))
    yield from _list("Notices", report.notices)
    yield f"<p>{escape(last_line(report))}</p>\n</body>\n</html>"


def _list(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"<h2>{title}</h2>\n<ul>"
        yield from (f"<li>{escape(line)}</li>" for line in lines)
        yield "</ul>"


def _table(table: Table) -> Iterator[str]:
    shown = [place for place, column in enumerate(table.columns) if not column.narrow_only]
    yield f'<h2>{escape(table.title)}</h2>\n<div class="wide"><table>'
    yield _row("th", table, shown, [column.name for column in table.columns])
    for group in table.groups:
        for place, row in enumerate(group):
            yield _row("td", table, shown, row, begins=place == 0)
    yield "</table></div>"
    yield from (f'<p class="dim">{escape(note)}</p>' for note in table.notes)


def _row(
    tag: str, table: Table, shown: Sequence[int], row: Sequence[str], *, begins: bool = False
) -> str:
    cells = (
        f"<{tag}{_RIGHT if table.columns[place].right else ''}>{escape(row[place])}</{tag}>"
        for place in shown
    )
    return f"<tr{_BEGINS if begins else ''}>{''.join(cells)}</tr>"


_RIGHT = ' class="right"'
_BEGINS = ' class="begins"'
