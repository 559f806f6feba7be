"""Pages of charts, tables and lists, for reports of measurements: one file that needs no other."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Sequence

from gradtool.report.html.elements import Child, element
from gradtool.report.html.style import BASE
from gradtool.report.tabular import Column, Table

_STYLE = (
    BASE
    + """
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
.card {
  background: var(--card); border: 1px solid var(--rule); border-radius: .5rem;
  margin: 1rem 0; padding: .5rem 1rem;
}
.card > h2 { margin-top: .25rem; }
.advice { border-left: 4px solid var(--accent); }
.simulated { background: var(--mark); border-radius: .4rem; padding: .4rem .7rem; }
table { font-variant-numeric: tabular-nums; }
th, td { white-space: nowrap; }
th { color: var(--dim); border-bottom: 1px solid var(--rule); }
tr.begins td { border-top: 1px solid var(--rule); }
.right { text-align: right; }
.chart svg { min-width: 46rem; width: 100%; background: none; }
.bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: .3rem .8rem; }
.bars figcaption, .bars h3, .bars .legend { grid-column: 1 / -1; margin: 0; }
.track { position: relative; height: 1.3rem; background: var(--zero); border-radius: .2rem; }
.bar { display: flex; height: 100%; overflow: hidden; border-radius: .2rem; }
.spread { position: absolute; top: 50%; height: 0; border-top: 2px solid var(--ink); }
.spread::before, .spread::after {
  content: ""; position: absolute; top: -.3rem; height: .5rem; border-left: 2px solid var(--ink);
}
.spread::after { right: 0; }
.share { display: inline-block; height: 100%; }
.legend .share { width: .8rem; height: .8rem; border-radius: .15rem; margin-right: .35rem; }
.c0 { background: #0072b2; } .c1 { background: #e69f00; } .c2 { background: #009e73; }
.c3 { background: #cc79a7; } .c4 { background: #56b4e9; } .rest { background: #8a929b; }
@media (max-width: 40rem) { .card { padding: .3rem .6rem; } }
"""
)


def page(title: str, children: Iterable[Child]) -> str:
    """A whole page under its title."""
    made = element(
        "html",
        element(
            "head",
            element("meta", charset="utf-8"),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("title", title),
            element("style", _STYLE),
        ),
        element("body", element("h1", title), *children),
        lang="en",
    )
    return f"<!DOCTYPE html>\n{ET.tostring(made, encoding='unicode', method='html')}\n"


def lines(texts: Iterable[str], **attributes: str) -> ET.Element:
    """A paragraph of lines."""
    children: list[Child] = []
    for text in texts:
        children += [text, element("br")]
    return element("p", *children[:-1], **attributes)


def bullets(title: str, texts: Sequence[str], **attributes: str) -> Iterator[ET.Element]:
    """A list under a heading; nothing where there is nothing to list."""
    if texts:
        listed = element("ul", *(element("li", text) for text in texts))
        yield element("section", element("h2", title) if title else None, listed, **attributes)


def table(shown: Table) -> Iterator[ET.Element]:
    """A table under its title, with its notes."""
    places = [place for place, column in enumerate(shown.columns) if not column.narrow_only]
    columns = [shown.columns[place] for place in places]
    if shown.title:
        yield element("h2", shown.title)
    made = element("table", _row("th", columns, [column.name for column in columns]))
    for group in shown.groups:
        for place, row in enumerate(group):
            cells = [row[place] for place in places]
            made.append(_row("td", columns, cells, class_="" if place else "begins"))
    yield element("div", made, class_="scroll", tabindex="0")
    yield from (element("p", note, class_="dim") for note in shown.notes)


def _row(tag: str, columns: Sequence[Column], cells: Sequence[str], class_: str = "") -> ET.Element:
    made = [
        element(tag, cell, **({"class_": "right"} if column.right else {}))
        for column, cell in zip(columns, cells, strict=True)
    ]
    return element("tr", *made, **({"class_": class_} if class_ else {}))
