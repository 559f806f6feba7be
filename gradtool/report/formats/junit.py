"""A report as JUnit XML, which GitLab, Jenkins, Azure and most other CI systems show.

There is a test suite for each module and a test case for each case of a Function, so that the
counts are those of the summary line and a name means the same in every run. All findings of a
case stand in its one ``failure``, because GitLab shows only the first. What the severity of a
finding lets pass is in ``system-out``.

The elements and attributes are those of the schema of Jenkins' xunit plugin (junit-10.xsd),
which knows neither files and lines nor properties of test cases: the former are in the text,
the latter in the suite.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby

from gradtool.report.findings import as_text, check_findings, title
from gradtool.report.reasons import reason
from gradtool.report.rows import Row, rows
from gradtool.report.summary import seeds, summary_line
from gradtool.report.verdicts import STOPPING, standing, stops
from gradtool.report.words import evaluations, one_line, printable
from gradtool.results.report import CheckResult, Finding, Report, Verdict

_OUTCOMES = {Verdict.FAIL: "failure", Verdict.UNVERIFIED: "failure", Verdict.ERROR: "error"}
_SKIPPED = (Verdict.SKIPPED, Verdict.KNOWN)
"""Verdicts that JUnit has no better word for."""


def render(report: Report) -> str:
    """The report as a ``testsuites`` document."""
    root = ET.Element("testsuites", name="gradtool", time=_seconds(report.seconds))
    facts = _facts(report)
    for path, group in groupby(rows(report), key=lambda row: row.module.path):
        root.append(_suite(path, list(group), facts, strict=report.strict))
    ET.indent(root)
    # tostring() writes no declaration with this encoding.
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(
    path: str, listed: Sequence[Row], facts: Mapping[str, str], *, strict: bool
) -> ET.Element:
    verdicts = Counter(_OUTCOMES.get(row.verdict, row.verdict.value) for row in listed)
    seconds = sum(row.case.seconds for row in listed if row.case is not None)
    suite = ET.Element(
        "testsuite",
        name=printable(path),
        tests=str(len(listed)),
        failures=str(verdicts["failure"]),
        errors=str(verdicts["error"]),
        skipped=str(sum(row.verdict in _SKIPPED for row in listed)),
        time=_seconds(seconds),
        file=printable(path),
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in facts.items():
        ET.SubElement(properties, "property", name=name, value=printable(value))
    suite.extend(_case(row, strict) for row in listed)
    return suite


def _facts(report: Report) -> dict[str, str]:
    """Facts about the run that each suite repeats."""
    ran_on = report.environment
    return {
        "gradtool": ran_on.gradtool,
        "engine": ran_on.engine,
        "device": ran_on.device,
        "seed": seeds(report),
        "python": ran_on.python,
        "numpy": ran_on.numpy,
        "platform": ran_on.platform,
        "summary": summary_line(report),
    }


def _case(row: Row, strict: bool) -> ET.Element:
    """A test case; a module that does not import is one too, as JUnit knows no broken suite."""
    case = ET.Element(
        "testcase",
        classname=_class_name(row.module.path),
        name=printable(row.name) or "import",
        time=_seconds(row.case.seconds if row.case is not None else 0.0),
    )
    if row.verdict in _OUTCOMES:
        case.append(_outcome(_OUTCOMES[row.verdict], _serious(row, strict)))
    elif row.verdict in _SKIPPED:
        ET.SubElement(case, "skipped", message=_why_skipped(row.checks))
    output = _output(row, strict)
    if output:
        ET.SubElement(case, "system-out").text = output
    return case


def _serious(row: Row, strict: bool) -> list[Finding]:
    """The findings that fail the run."""
    stopping = tuple(c for c in row.checks if standing(c, strict=strict) in STOPPING)
    found = list(check_findings(stopping, row.node_id, row.location))
    return [finding for finding in found if stops(finding, strict=strict)] or found


def _outcome(kind: str, found: Sequence[Finding]) -> ET.Element:
    first = found[0]
    more = f" (+{len(found) - 1} more)" if len(found) > 1 else ""
    message = f"{first.rule} {one_line(first.message)}{more}"
    element = ET.Element(kind, type=f"{first.rule} {first.name}", message=message)
    element.text = "\n\n".join(map(as_text, found)) + "\n"
    return element


def _why_skipped(checks: Sequence[CheckResult]) -> str:
    known = [f"{f.rule} {one_line(f.message)}" for c in checks for f in c.findings if f.known]
    if known:
        return f"known: {'; '.join(known)}"
    reasons = dict.fromkeys(one_line(why) for why in map(reason, checks) if why)
    return "; ".join(reasons) or "no case was checked"


def _output(row: Row, strict: bool) -> str:
    """The arguments of a case, its cost, and findings that do not fail the run."""
    lines = [printable(line) for line in row.case.arguments] if row.case is not None else []
    if row.case is not None:
        lines.append(evaluations(row.case.cost))
    for check in row.checks:
        for finding in check.findings:
            if not stops(finding, strict=strict):
                lines += ["", f"{finding.severity.value} {title(finding)}", as_text(finding)]
    return "\n".join(lines)


def _class_name(path: str) -> str:
    """The path with dots, which CI systems make a tree of."""
    return printable(path).removesuffix(".py").replace("\\", "/").replace("/", ".").strip(".")


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
