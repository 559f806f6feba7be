"""The page as a whole: the outcome of the run, a filter, and each case of each Function."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from gradtool.report.findings import check_findings, rules_by_code, worst_first
from gradtool.report.html.elements import Child, element, folded
from gradtool.report.html.finding import finding_section
from gradtool.report.html.style import STYLE
from gradtool.report.reasons import reason
from gradtool.report.rows import Row, rows
from gradtool.report.summary import (
    Summary,
    counts,
    opening,
    remarks,
    seeds,
    summarize,
    total_cost,
    unchecked_lines,
)
from gradtool.report.verdicts import STOPPING, overall
from gradtool.report.words import branches, duration, evaluations, evidence
from gradtool.results.report import CheckResult, Finding, Report, RuleInfo, Verdict

_MOST_FIGURES = 200
"""Findings with pictures. A page of thousands of them could not be opened any more."""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Lets a browser load nothing for the page."""


def render(report: Report) -> str:
    """The page as text."""
    listed = list(rows(report))
    page = element(
        "html",
        _head(report),
        element(
            "body",
            _header(report, listed),
            _filter(listed),
            element("main", *_modules(report, listed)),
            _footer(report),
        ),
        lang="en",
    )
    text = ET.tostring(page, encoding="unicode", method="html")
    return f"<!DOCTYPE html>\n{text}\n"


def _head(report: Report) -> ET.Element:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        ET.Element("meta", {"http-equiv": "Content-Security-Policy", "content": _POLICY}),
        element("title", f"gradtool: {_outcome(report)}"),
        element("style", STYLE),
    )


def _outcome(report: Report) -> str:
    if report.interrupted:
        return "interrupted"
    listed = list(rows(report))
    verdicts = [row.verdict for row in listed]
    stopped = bool(report.unmet) or any(verdict in STOPPING for verdict in verdicts)
    if not stopped and not {Verdict.PASS, Verdict.KNOWN}.intersection(verdicts):
        return "nothing checked"
    return "failed" if stopped else "passed"


def _header(report: Report, listed: list[Row]) -> ET.Element:
    outcome = _outcome(report)
    badge = element("span", outcome, class_=f"outcome {outcome.split()[0]}")
    summary = summarize(report)
    return element(
        "header",
        element("h1", "gradtool ", badge),
        element("p", *_counts(report, summary), class_="summary"),
        *_unchecked(*unchecked_lines(report, summary)),
        _facts(report) if listed or report.notices else None,
    )


def _counts(report: Report, summary: Summary) -> Iterator[Child]:
    yield f"{opening(report, summary)} in {duration(report.seconds)}: "
    for index, (verdict, text) in enumerate(counts(summary)):
        yield ", " if index else None
        yield element("b", text, class_=verdict.value) if text[:2] != "0 " else text
    yield remarks(summary)


def _unchecked(line: str, phrases: tuple[str, ...]) -> Iterator[ET.Element]:
    yield element("p", line)
    if phrases:
        yield element("ul", *(element("li", phrase) for phrase in phrases))


def _facts(report: Report) -> ET.Element:
    ran_on = report.environment
    facts = {
        "Command": report.command,
        "Ran on": f"gradtool {ran_on.gradtool}, {ran_on.engine} engine, {ran_on.device}, "
        f"NumPy {ran_on.numpy}, Python {ran_on.python}, {ran_on.platform}",
        "Seed": seeds(report),
        "Took": evaluations(total_cost(report)),
        "Configuration": ", ".join(report.configs),
        "Notices": "\n".join(report.notices),
    }
    pairs = element("dl", class_="facts")
    for label, text in facts.items():
        if text:
            pairs.append(element("dt", label))
            pairs.append(element("dd", text))
    return pairs


_FILTERS = ("all", *(verdict.value for verdict in Verdict))


def _filter(listed: list[Row]) -> ET.Element:
    """Radio buttons that the style sheet reads; those that would show nothing are left out."""
    present = {row.verdict.value for row in listed}
    shown = [name for name in _FILTERS if name == "all" or name in present]
    choices: list[Child] = []
    for name in shown:
        button = element("input", type="radio", name="show", id=f"show-{name}")
        if name == "all":
            button.set("checked", "checked")
        count = sum(name in ("all", row.verdict.value) for row in listed)
        label = element("label", f"{name} {count}", for_=f"show-{name}", class_=name)
        choices += [button, label]
    return element("nav", "Show ", *choices, aria_label="Filter by verdict")


def _modules(report: Report, listed: list[Row]) -> Iterator[ET.Element]:
    rules = rules_by_code(report)
    room = _MOST_FIGURES
    for path, group in groupby(listed, key=lambda row: row.module.path):
        section = element("section", element("h2", path), class_="module")
        for row in group:
            section.append(_row(row, rules, report.strict, figures=room > 0))
            room -= sum(len(check.findings) for check in row.checks)
        yield section


def _row(row: Row, rules: Mapping[str, RuleInfo], strict: bool, *, figures: bool) -> ET.Element:
    """A case, folded unless it failed the run."""
    found = worst_first(check_findings(row.checks, row.node_id, row.location))
    summary = element(
        "summary",
        element("span", row.verdict.value, class_=f"verdict {row.verdict.value}"),
        element("span", row.name or "the module", class_="name"),
        element("span", ", ".join(_rules_of(found)), class_="found"),
        element("span", _cost(row), class_="cost"),
    )
    made = element(
        "details",
        summary,
        _arguments(row),
        _evidence(row),
        _coverage(row),
        *(finding_section(each, rules, with_figures=figures) for each in found),
        _checks(row.checks, strict),
        class_=f"row {row.verdict.value}",
    )
    if row.verdict in STOPPING:
        made.set("open", "open")
    return made


def _rules_of(found: Iterable[Finding]) -> list[str]:
    return list(dict.fromkeys(_told_rule(each) for each in found))


def _told_rule(finding: Finding) -> str:
    return f"{'known ' if finding.known else ''}{finding.rule} {finding.name}"


def _cost(row: Row) -> str:
    if row.case is None:
        return ""
    return f"{evaluations(row.case.cost)}, {duration(row.case.seconds)}"


def _arguments(row: Row) -> ET.Element | None:
    if row.case is None or not row.case.arguments:
        return None
    source = f" ({row.case.source})" if row.case.source else ""
    return element("p", f"Arguments{source}: ", element("code", ", ".join(row.case.arguments)))


def _evidence(row: Row) -> ET.Element | None:
    if row.case is None or row.case.basis is None:
        return None
    return element("p", f"Evidence: {evidence(row.case.basis)}")


def _coverage(row: Row) -> ET.Element | None:
    """The branches of the Function, and those that nothing took."""
    if row.coverage is None:
        return None
    lines = [branches(row.coverage).capitalize(), *row.coverage.missing]
    return element("p", "; ".join(lines))


def _checks(checks: tuple[CheckResult, ...], strict: bool) -> ET.Element | None:
    """Every rule that was asked, with its answer."""
    if not checks:
        return None
    table = element("table", class_="checks")
    for check in checks:
        verdict = overall([check], strict=strict).value
        table.append(
            element(
                "tr",
                element("td", check.rule),
                element("td", verdict, class_=verdict),
                element("td", reason(check) or ""),
            )
        )
    return folded(f"All checks ({len(checks)})", element("div", table, class_="scroll"))


def _footer(report: Report) -> ET.Element:
    note = f"Report format {report.schema}. Shading follows the square root of the value; "
    return element(
        "footer",
        element("p", note, "a dot marks a wrong entry, a frame the worst one."),
    )
