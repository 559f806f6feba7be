"""A finding on the page: message, source, the numbers as pictures, and a hint."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping

from gradtool.package import rule_address
from gradtool.report.findings import evidence_lines, place
from gradtool.report.html.elements import Child, element, folded, with_code
from gradtool.report.html.heatmap import heatmaps, key
from gradtool.report.html.plot import error_plot
from gradtool.report.html.rule import rule_page
from gradtool.report.jacobian import Cell, Window, window
from gradtool.report.words import one_line, with_code_lines
from gradtool.results.report import Evidence, Finding, JacobianBlock, RuleInfo

_MOST_VALUES = 8
"""Rows, and columns, of the table of values."""


def finding_section(
    finding: Finding, rules: Mapping[str, RuleInfo], *, with_figures: bool
) -> ET.Element:
    """The section of one finding; without figures, its numbers are in text only."""
    evidence = finding.evidence
    return element(
        "section",
        _heading(finding),
        element("p", *with_code(one_line(finding.message)), class_="message"),
        _source(finding),
        *_hint(finding.hint),
        _figures(evidence) if evidence is not None and with_figures else None,
        _numbers(evidence) if evidence is not None else None,
        _labelled("Reproduce it", finding.replay) if finding.replay else None,
        _labelled("Print a correct backward", finding.repair) if finding.repair else None,
        _labelled("Keep it as a case, in gradtool.yaml, under functions", finding.case)
        if finding.case
        else None,
        folded("Traceback", element("pre", finding.detail.rstrip())) if finding.detail else None,
        _about(finding, rules.get(finding.rule)),
        class_=f"finding {finding.severity.value}",
        id=finding.node_id,
    )


def _heading(finding: Finding) -> ET.Element:
    return element(
        "h4",
        element("span", finding.severity.value, class_=f"severity {finding.severity.value}"),
        f" {finding.rule} {finding.name} ",
        element("span", place(finding.location), class_="place"),
    )


def _source(finding: Finding) -> ET.Element | None:
    """The line of forward that the hint names, then the source around the finding."""
    source, step = finding.source, finding.step
    lines: list[Child] = []
    if step is not None:
        lines += [
            _line(number, text, "meant") for number, text in enumerate(step.lines, step.first)
        ]
        lines.append(element("span", "  ...\n", class_="line"))
    if source is not None:
        for number, text in enumerate(source.lines, source.first):
            is_meant = number == finding.location.line
            parts = _meant(text, source.column, source.end_column) if is_meant else [text]
            lines.append(_line(number, *parts, "meant" if is_meant else "line"))
    return element("pre", *lines, class_="source") if lines else None


def _line(number: int, *parts: Child) -> ET.Element:
    """A line of source; the last of `parts` is its class."""
    *text, name = parts
    shown = element("span", f"{number:>5} ", class_="number")
    return element("span", shown, *text, "\n", class_=str(name))


def _meant(line: str, column: int, end: int) -> list[Child]:
    return [line[: column - 1], element("mark", line[column - 1 : end - 1]), line[end - 1 :]]


def _figures(evidence: Evidence) -> ET.Element | None:
    block = evidence.jacobian
    figures: list[ET.Element] = []
    if block is not None:
        rows = "gradients" if evidence.gradient_of else "outputs"
        figures.append(_maps(block, rows, evidence.argument or "the input"))
    plot = error_plot(evidence)
    if plot is not None:
        figures.append(plot)
    return element("div", *figures, class_="figures") if figures else None


def _maps(block: JacobianBlock, rows: str, argument: str) -> ET.Element:
    """The heatmaps, and what their rows and columns are."""
    height, width = len(block.row_labels), len(block.column_labels)
    part = ""
    if (height, width) != (block.rows, block.columns):
        part = (
            f": {height} x {width} of {block.rows} x {block.columns}, "
            f"starting at row {block.first_row}, column {block.first_column}"
        )
    axes = element("p", f"rows: {rows}, columns: ", element("code", argument), part, class_="axes")
    maps = element("div", *heatmaps(block, argument), class_="maps")
    return element("div", maps, axes, key(block))


def _numbers(evidence: Evidence) -> ET.Element:
    """The numbers at the worst entry, and a table of those around it."""
    pairs = element("dl")
    for label, text in evidence_lines(evidence):
        pairs.append(element("dt", label))
        pairs.append(element("dd", text.strip()))
    block = evidence.jacobian
    return element("div", pairs, _values(block) if block is not None else None, class_="numbers")


def _values(block: JacobianBlock) -> ET.Element:
    shown = window(block, rows=_MOST_VALUES, columns=_MOST_VALUES)
    extent = f" ({shown.extent})" if shown.extent else ""
    return folded(
        f"Values around the worst entry{extent}: analytic above {shown.reference}",
        element("div", _table(shown), class_="scroll"),
    )


def _table(shown: Window) -> ET.Element:
    head = element("tr", element("th"), *(element("th", label) for label in shown.columns))
    rows = [
        element("tr", element("th", label), *map(_entry, cells))
        for label, cells in zip(shown.rows, shown.cells, strict=True)
    ]
    return element("table", head, *rows, class_="values")


def _entry(cell: Cell) -> ET.Element:
    if not cell.is_wrong:
        return element("td", cell.analytic, element("br"), cell.numeric)
    name = "wrong worst" if cell.is_worst else "wrong"
    analytic = element("b", f"{cell.analytic}*")
    return element("td", analytic, element("br"), cell.numeric, class_=name)


def _hint(hint: str | None) -> Iterator[ET.Element]:
    if hint is None:
        return
    sentence, *code = with_code_lines(hint).split("\n")
    yield element("p", element("b", "Hint: "), *with_code(sentence), class_="hint")
    if code:
        yield element("pre", "\n".join(code))


def _labelled(label: str, command: str) -> ET.Element:
    return element("p", f"{label}: ", element("code", command), class_="replay")


def _about(finding: Finding, rule: RuleInfo | None) -> ET.Element | None:
    if rule is None:
        return None
    link = element("a", f"{rule.code} in the docs", href=rule_address(rule.code))
    about = f"About {finding.rule}: {rule.summary}"
    return folded(about, *rule_page(rule), element("p", link))
