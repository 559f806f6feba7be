"""The report for GitLab: issues that its parser takes, at paths that it finds."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from gradtool.report.formats.gitlab import render
from gradtool.results.report import Location, Report
from tests.report.test_json_lines import lines_of
from tests.report.test_junit import of_module
from tests.report.test_known import knowing

ISSUE = {
    "type": "object",
    "required": ["description", "check_name", "fingerprint", "severity", "location"],
    "properties": {
        "description": {"type": "string", "pattern": "^[^\n]+$"},
        "check_name": {"type": "string"},
        "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
        "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
        "location": {
            "type": "object",
            "required": ["path", "lines"],
            "properties": {
                "path": {"type": "string", "pattern": "^[^./]"},
                "lines": {
                    "type": "object",
                    "required": ["begin"],
                    "properties": {"begin": {"type": "integer", "minimum": 1}},
                },
            },
        },
    },
}
"""What the documentation of GitLab asks of an issue."""

VALIDATOR = jsonschema.Draft202012Validator({"type": "array", "items": ISSUE})


@pytest.fixture(autouse=True)
def _no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI_PROJECT_DIR", raising=False)


def issues_of(report: Report) -> list[dict[str, Any]]:
    issues: list[dict[str, Any]] = json.loads(render(report))
    VALIDATOR.validate(issues)
    return issues


def test_the_schema_can_say_no() -> None:
    assert not VALIDATOR.is_valid([{"description": "wrong"}])
    assert not VALIDATOR.is_valid([{**issues_of(of_module("x"))[0], "severity": "error"}])


def test_an_issue_says_what_is_wrong_and_where(report: Report) -> None:
    first = issues_of(report)[0]
    assert first["description"].startswith(
        "GT101 wrong-gradient in WrongExp[inferred]: gradient of output 0 with respect to x"
    )
    assert first["check_name"] == "GT101"
    assert first["location"] == {"path": "ops/wrong_exp.py", "lines": {"begin": 14}}
    assert [issue["severity"] for issue in issues_of(report)[:3]] == ["major", "minor", "info"]


def test_a_run_without_findings_is_an_empty_list(passing_report: Report) -> None:
    assert render(passing_report) == "[]\n"


def test_everything_that_stops_the_gate_is_an_issue(report: Report) -> None:
    found = [line["node_id"] for line in lines_of(report) if line["record"] == "finding"]
    assert len(issues_of(report)) == len(found)
    assert any("unverified" in issue["description"] for issue in issues_of(report))


def test_what_the_baseline_has_is_left_out_and_the_others_keep_their_fingerprints(
    report: Report,
) -> None:
    before = {issue["fingerprint"] for issue in issues_of(report)}
    left = issues_of(knowing(report, "GT506", "GT602"))
    assert {issue["fingerprint"] for issue in left} < before
    assert len(left) == len(before) - 2


def twice(report: Report) -> Report:
    """The report with one of its findings found a second time, at another line."""
    module = report.modules[1]
    function = module.functions[0]
    case = function.cases[0]
    (check,) = (check for check in case.checks if check.rule == "GT506")
    (finding,) = check.findings
    again = msgspec.structs.replace(finding, location=Location(path=module.path, line=15))
    check = msgspec.structs.replace(check, findings=(finding, again))
    case = msgspec.structs.replace(case, checks=(check,))
    function = msgspec.structs.replace(function, cases=(case,))
    module = msgspec.structs.replace(module, functions=(function,))
    return msgspec.structs.replace(report, modules=(module,))


def test_findings_that_are_alike_have_fingerprints_of_their_own(report: Report) -> None:
    one, two = issues_of(twice(report))
    assert one["description"] == two["description"]
    assert one["fingerprint"] != two["fingerprint"]
    assert one["fingerprint"] in {issue["fingerprint"] for issue in issues_of(report)}


def test_a_line_is_named_even_where_none_is_known() -> None:
    (issue,) = issues_of(of_module("a\nb\x1b[31m\ud800"))
    assert issue["location"]["lines"] == {"begin": 1}
    assert "\x1b" not in issue["description"]


def test_in_a_job_paths_start_at_the_top_of_the_repository(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "part").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path / "part")
    for top in (tmp_path, tmp_path / "link"):
        monkeypatch.setenv("CI_PROJECT_DIR", str(top))
        assert issues_of(report)[0]["location"]["path"] == "part/ops/wrong_exp.py"
        absolute = of_module("x", str(tmp_path / "other" / "ops.py"))
        assert issues_of(absolute)[0]["location"]["path"] == "other/ops.py"
