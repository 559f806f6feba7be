"""A report as SARIF 2.1.0, which code scanning of GitHub, GitLab, Azure and editors reads.

Paths are relative to ``%SRCROOT%``, the top of the repository. The specification:
https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from gradtool.package import rule_address
from gradtool.report.findings import evidence_lines, problems, rules_by_code
from gradtool.report.formats.json import indented
from gradtool.report.formats.repository import repository_path
from gradtool.report.rows import rows
from gradtool.report.summary import summary_line
from gradtool.report.words import one_line, printable, with_code_lines
from gradtool.results.fingerprint import VERSION, fingerprints
from gradtool.results.report import Finding, Location, Report, RuleInfo, Severity

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_ROOT = "%SRCROOT%"

_Object = dict[str, Any]


def render(report: Report) -> str:
    """The report as a log with one run."""
    return indented({"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(report)]})


def _run(report: Report) -> _Object:
    found = list(problems(report, known=True))
    compared = any(finding.known for finding in found)
    codes = list(dict.fromkeys(finding.rule for finding in found))
    known = rules_by_code(report)
    owners = {row.node_id: row.location for row in rows(report)}
    return {
        "tool": {"driver": _driver(report, [_rule(code, known.get(code)) for code in codes])},
        # The slash at the end makes it a category without a run id; see runAutomationDetails.id.
        "automationDetails": {"id": "gradtool/"},
        "invocations": [_invocation(report)],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        # Columns are positions in Python strings, not SARIF's other kind, UTF-16 units.
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(finding, codes.index(finding.rule), print_, owners) | _state(finding, compared)
            for finding, print_ in zip(found, fingerprints(found), strict=True)
        ],
        "properties": {"summary": printable(summary_line(report)), "seed": report.seed},
    }


def _driver(report: Report, rules: list[_Object]) -> _Object:
    return {
        "name": "gradtool",
        "semanticVersion": report.environment.gradtool,
        "shortDescription": {"text": "Checks hand-written gradients before they merge."},
        "rules": rules,
    }


def _rule(code: str, rule: RuleInfo | None) -> _Object:
    """A rule with the page that ``gradtool explain`` prints; its code alone if nothing is known."""
    if rule is None:
        return {"id": code}
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": as_text(rule.page) or rule.summary, "markdown": as_markdown(rule.page)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "helpUri": rule_address(code),
        "properties": {"tags": ["gradient", rule.name]},
    }


def _invocation(report: Report) -> _Object:
    invocation: _Object = {
        "commandLine": printable(report.command),
        # The specification asks whether the tool did its work, not whether it found anything.
        "executionSuccessful": not report.interrupted and report.exit_code in (None, 0, 1),
        "toolExecutionNotifications": [
            {"level": "note", "message": {"text": one_line(notice)}} for notice in report.notices
        ],
    }
    if report.exit_code is not None:
        invocation["exitCode"] = report.exit_code
    if report.interrupted:
        invocation["exitCodeDescription"] = "interrupted"
    return invocation


def _result(finding: Finding, rule: int, print_: str, owners: dict[str, Location]) -> _Object:
    owner = finding.node_id.removesuffix(f"::{finding.rule}")
    result: _Object = {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": _text(finding)},
        "locations": [_location(finding, owner)],
        "partialFingerprints": {VERSION: print_},
        "properties": _properties(finding),
    }
    # The same place twice would only be noise in a viewer.
    defined = owners.get(owner)
    if defined is not None and defined != finding.location:
        where = {"physicalLocation": _physical(defined), "message": {"text": "defined here"}}
        result["relatedLocations"] = [{"id": 0, **where}]
    return result


def _state(finding: Finding, compared: bool) -> _Object:
    """State whether the finding is new, in runs where some are known."""
    if not compared:
        return {}
    if not finding.known:
        return {"baselineState": "new"}
    accepted = {"kind": "external", "status": "accepted", "justification": "in the baseline"}
    return {"baselineState": "unchanged", "suppressions": [accepted]}


def _text(finding: Finding) -> str:
    hint = f"\n{with_code_lines(finding.hint)}" if finding.hint else ""
    return f"{one_line(finding.message)}{hint}"


def _location(finding: Finding, owner: str) -> _Object:
    physical = _physical(finding.location)
    if finding.source is not None and finding.location.line is not None:
        source, region = finding.source, physical["region"]
        region["startColumn"], region["endColumn"] = source.column, source.end_column
        line = source.lines[finding.location.line - source.first]
        region["snippet"] = {"text": line[source.column - 1 : source.end_column - 1]}
        physical["contextRegion"] = {
            "startLine": source.first,
            "endLine": source.first + len(source.lines) - 1,
            "snippet": {"text": "\n".join(source.lines)},
        }
    logical = {"fullyQualifiedName": printable(owner), "kind": "function"}
    return {"physicalLocation": physical, "logicalLocations": [logical]}


def _physical(location: Location) -> _Object:
    path = PurePath(repository_path(location.path))
    artifact: _Object = {"uri": quote(path.as_posix(), errors="surrogateescape")}
    if path.is_absolute():
        artifact["uri"] = f"file://{artifact['uri']}"
    else:
        artifact["uriBaseId"] = _ROOT
    region = {} if location.line is None else {"region": {"startLine": location.line}}
    return {"artifactLocation": artifact, **region}


def _properties(finding: Finding) -> _Object:
    """The numbers, and how to see the finding again."""
    properties: _Object = {"nodeId": printable(finding.node_id)}
    if finding.evidence is not None:
        properties |= {label: text.strip() for label, text in evidence_lines(finding.evidence)}
    if finding.replay:
        properties["replay"] = printable(finding.replay)
    return properties


_HEADING = re.compile(r"^(\S[^\n]*)\n-{3,}$", re.MULTILINE)
_EXAMPLE = re.compile(r"(?:^    [^\n]*\n(?:[ \t]*\n)*)+", re.MULTILINE)


def as_text(page: str) -> str:
    """The page without the markup of docstrings, which announces an example with two colons."""
    return re.sub(r"::$", ":", page.strip(), flags=re.MULTILINE).replace("``", "`")


def as_markdown(page: str) -> str:
    """The page with its headings, indented examples and double backticks in Markdown."""
    text = _HEADING.sub(r"### \1", as_text(page) + "\n")
    return _EXAMPLE.sub(_fenced, text).strip() + "\n"


def _fenced(example: re.Match[str]) -> str:
    lines = [line.removeprefix("    ") for line in example[0].rstrip().splitlines()]
    body = "\n".join(lines)
    # Tildes, since an example may contain backticks.
    return f"~~~python\n{body}\n~~~\n\n"
