"""The report as JSON Lines: every line a record by the published schema, and none of them lost."""

import json as stdlib
import os
from collections import Counter
from typing import Any

import msgspec
import pytest

from gradtool.cli.app import main
from gradtool.report.formats import json_lines
from gradtool.report.formats.json_lines import (
    SCHEMA_FILE,
    CaseRecord,
    FindingRecord,
    Record,
    generated_schema,
)
from gradtool.report.summary import summarize
from gradtool.results.report import Evidence, Report, Verdict
from tests.report.schema_check import validator
from tests.report.test_json import with_evidence
from tests.report.test_known import knowing
from tests.report.test_sarif import run_of


def lines_of(report: Report) -> list[dict[str, Any]]:
    text = json_lines.render(report)
    assert text.endswith("\n")
    return [stdlib.loads(line) for line in text.splitlines()]


def decoded(report: Report, kind: type[Any]) -> list[Any]:
    made = [
        msgspec.json.decode(line, type=Record) for line in json_lines.render(report).splitlines()
    ]
    return [record for record in made if isinstance(record, kind)]


def test_the_published_schema_is_the_generated_one() -> None:
    if os.environ.get("GRADTOOL_UPDATE_GOLDEN"):
        SCHEMA_FILE.write_text(generated_schema(), encoding="utf-8")
    assert SCHEMA_FILE.read_text(encoding="utf-8") == generated_schema()


def test_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "json-lines"]) == 0
    assert capsys.readouterr().out == SCHEMA_FILE.read_text(encoding="utf-8")


def test_every_line_obeys_the_schema_and_the_schema_can_say_no(
    report: Report, passing_report: Report
) -> None:
    check = validator(generated_schema())
    for line in [*lines_of(report), *lines_of(passing_report)]:
        check.validate(line)
        assert not check.is_valid({**line, "verdct": "pass"})
        assert not check.is_valid({key: value for key, value in line.items() if key != "schema"})
    assert not check.is_valid({"record": "case", "schema": 1})


def test_the_run_comes_first_and_has_all_but_the_modules(report: Report) -> None:
    first, *others = lines_of(report)
    assert (first["record"], first["schema"]) == ("run", report.schema)
    assert (first["seed"], first["exit_code"]) == (7, 1)
    assert first["summary"]["failed"] == summarize(report).failed
    assert "modules" not in first
    assert {line["record"] for line in others} == {"case", "finding"}
    assert all(line["schema"] == report.schema for line in others)


def test_the_cases_are_what_the_summary_counts(report: Report) -> None:
    counted = Counter(case.verdict for case in decoded(report, CaseRecord))
    summary = summarize(report)
    assert counted == {
        Verdict.PASS: summary.passed,
        Verdict.FAIL: summary.failed,
        Verdict.UNVERIFIED: summary.unverified,
        Verdict.ERROR: summary.errors,
        Verdict.SKIPPED: summary.skipped,
    }


def test_a_case_has_its_checks_and_leaves_their_findings_to_lines_of_their_own(
    report: Report,
) -> None:
    (case,) = (c for c in decoded(report, CaseRecord) if c.function == "WrongExp")
    assert case.node_id == "ops/wrong_exp.py::WrongExp[inferred]"
    assert (case.path, case.case) == ("ops/wrong_exp.py", "inferred")
    assert "GT101" in {check.rule for check in case.checks if check.verdict is Verdict.FAIL}
    assert not any(check.findings for check in case.checks)
    found = [f for f in decoded(report, FindingRecord) if f.node_id.startswith(case.node_id)]
    assert [finding.rule for finding in found] == ["GT101", "GT506", "GT602"]


def test_what_broke_before_any_case_names_no_case(report: Report) -> None:
    broken = {case.node_id: case for case in decoded(report, CaseRecord) if case.case is None}
    assert {node: case.function for node, case in broken.items()} == {
        "ops/special.py::Opaque": "Opaque",
        "ops/broken.py": None,
    }
    assert all(case.verdict is Verdict.ERROR for case in broken.values())


def test_findings_are_those_of_the_run_with_the_fingerprints_of_sarif(report: Report) -> None:
    lines = decoded(report, FindingRecord)
    plain = {f.node_id: msgspec.structs.asdict(f) for f in report.findings()}
    for line in lines:
        own = msgspec.structs.asdict(line)
        del own["fingerprint"]
        assert line.name == "unverified" or own == plain[line.node_id]
    assert len(lines) == len(plain) + summarize(report).unverified
    prints = [result["partialFingerprints"]["gradtool/v1"] for result in run_of(report)["results"]]
    assert [line.fingerprint for line in lines] == prints


def test_known_findings_are_there_and_marked(report: Report) -> None:
    marked = {line.name: line.known for line in decoded(knowing(report, "GT101"), FindingRecord)}
    assert marked["wrong-gradient"]
    assert not marked["saved-intermediate"]


def test_no_value_and_no_character_breaks_a_line(report: Report) -> None:
    odd = with_evidence(report, Evidence(analytic=float("nan"), argument="a\u2028b\x85c\nd\udcff"))
    evidence = next(line["evidence"] for line in lines_of(odd) if line.get("evidence"))
    assert evidence == {"analytic": "nan", "argument": "a\u2028b\x85c\nd\\udcff"}
