"""The SARIF report: valid by the standard's schema, read by a parser of somebody else's."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pysarif
import pytest

from gradtool.report.formats.sarif import render
from gradtool.results.report import Report, Severity
from tests.report.test_junit import of_module

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "sarif-2.1.0.json").read_text())
VALIDATOR = jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def run_of(report: Report) -> dict[str, Any]:
    log = json.loads(render(report))
    VALIDATOR.validate(log)
    run: dict[str, Any] = log["runs"][0]
    return run


def test_the_schema_can_say_no() -> None:
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate({"version": "2.1.0", "runs": [{"results": []}]})


def test_it_is_valid(report: Report, passing_report: Report) -> None:
    stopped = msgspec.structs.replace(report, interrupted=True, exit_code=130)
    for each in (
        report,
        passing_report,
        stopped,
        of_module("bad \ud800 \x00", "/abs/a b\udcff.py"),
    ):
        run_of(each)


def test_another_parser_finds_each_finding_at_its_line(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "out.sarif"
    path.write_text(render(report))
    (run,) = pysarif.load_from_file(str(path)).runs
    assert [result.rule_id for result in run.results] == [
        "GT101", "GT506", "GT602", "GT101", "GT004", "GT101", "GT002", "GT001",
    ]  # fmt: skip
    region = run.results[0].locations[0].physical_location.region
    assert (region.start_line, region.start_column, region.end_column) == (14, 9, 17)
    assert region.snippet.text == "backward"


def test_rules_levels_and_pages(report: Report) -> None:
    run = run_of(report)
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert [result["level"] for result in run["results"][:3]] == ["error", "warning", "note"]
    markdown = rules[0]["help"]["markdown"]
    assert "### Wrong example" in markdown
    assert "~~~python\nreturn grad_output * x**2\n~~~" in markdown
    assert "Use `x` & <y>." in markdown


def test_the_invocation_says_how_the_run_ended(report: Report) -> None:
    (invocation,) = run_of(report)["invocations"]
    assert (invocation["exitCode"], invocation["executionSuccessful"]) == (1, True)
    stopped = msgspec.structs.replace(report, interrupted=True, exit_code=130)
    (invocation,) = run_of(stopped)["invocations"]
    assert (invocation["exitCode"], invocation["executionSuccessful"]) == (130, False)


def test_a_fingerprint_is_there_for_each_and_no_two_are_alike(report: Report) -> None:
    prints = [result["partialFingerprints"]["gradtool/v1"] for result in run_of(report)["results"]]
    assert len(set(prints)) == len(prints)


def test_where_the_function_is_defined_is_a_related_location(report: Report) -> None:
    raised = next(r for r in run_of(report)["results"] if r["ruleId"] == "GT004")
    (related,) = raised["relatedLocations"]
    assert related["physicalLocation"]["region"]["startLine"] == 70


def test_a_note_never_has_the_level_of_an_error(report: Report) -> None:
    levels = {r["ruleId"]: r["level"] for r in run_of(report)["results"]}
    assert levels["GT602"] == Severity.NOTE.value
