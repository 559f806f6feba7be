"""Annotations: escaped as GitHub reads them, and never more of a kind than it shows."""

import re

import msgspec

from gradtool.report.formats.github import MOST, render
from gradtool.results.report import (
    CheckResult,
    Finding,
    Location,
    ModuleResult,
    Report,
    Severity,
    Verdict,
)

_COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


def read(line: str) -> tuple[str, dict[str, str], str]:
    """A line as a runner reads it."""
    kind, properties, text = _COMMAND.fullmatch(line).groups()
    pairs = (pair.split("=", 1) for pair in properties.split(","))
    return kind, {name: unescaped(value) for name, value in pairs}, unescaped(text)


def unescaped(text: str) -> str:
    for code, char in (("%3A", ":"), ("%2C", ","), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, char)
    return text


def with_findings(report: Report, count: int, severity: Severity, path: str = "a.py") -> Report:
    findings = tuple(
        Finding(
            rule="GT505",
            name="kept-on-ctx",
            severity=severity,
            node_id=f"{path}::F[c{i}]::GT505",
            message=f"100% wrong: number {i}",
            location=Location(path=path, line=i + 1),
        )
        for i in range(count)
    )
    check = CheckResult(rule="GT505", verdict=Verdict.FAIL, findings=findings)
    module = ModuleResult(path=path, checks=(check,))
    return msgspec.structs.replace(report, modules=(module,))


def test_the_worst_come_first_and_point_at_their_line(report: Report) -> None:
    read_lines = [read(line) for line in render(report).splitlines()[:-1]]
    assert [kind for kind, _, _ in read_lines] == ["error"] * 6 + ["warning", "notice"]
    _, properties, text = read_lines[0]
    assert properties == {
        "file": "ops/wrong_exp.py",
        "line": "14",
        "col": "9",
        "endColumn": "17",
        "title": "GT101 wrong-gradient in WrongExp[inferred]",
    }
    assert text.splitlines()[1].startswith("hint: ")


def test_special_characters_come_back_as_they_were(report: Report) -> None:
    odd = with_findings(report, 1, Severity.ERROR, path="a,b:c%0A.py")
    _, properties, text = read(render(odd).splitlines()[0])
    assert properties["file"] == "a,b:c%0A.py"
    assert text == "100% wrong: number 0"


def test_ten_of_a_kind_are_shown_and_the_tenth_counts_the_rest(report: Report) -> None:
    assert len(render(with_findings(report, MOST, Severity.WARNING)).splitlines()) == MOST + 1
    lines = render(with_findings(report, 25, Severity.WARNING)).splitlines()[:-1]
    assert len(lines) == MOST
    kind, _, text = read(lines[-1])
    assert kind == "warning"
    assert text.startswith("+16 more")


def test_the_last_line_is_the_summary(report: Report) -> None:
    assert render(report).splitlines()[-1].startswith("6 Functions, 7 cases, ")
