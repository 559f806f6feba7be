"""The published schema of the JSON report is that of the types, and reports obey it."""

import json as stdlib
import os

import jsonschema
import msgspec
import pytest

from gradtool.cli.app import main
from gradtool.report.formats import json
from gradtool.report.formats.json import SCHEMA_FILE, generated_schema
from gradtool.results.report import Report
from tests.report.schema_check import validator
from tests.report.test_golden import GOLDEN


def test_the_published_schema_is_the_generated_one() -> None:
    if os.environ.get("GRADTOOL_UPDATE_GOLDEN"):
        SCHEMA_FILE.write_text(generated_schema(), encoding="utf-8")
    assert SCHEMA_FILE.read_text(encoding="utf-8") == generated_schema()


def test_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "report"]) == 0
    assert capsys.readouterr().out == SCHEMA_FILE.read_text(encoding="utf-8")


def test_reports_obey_it(report: Report, passing_report: Report) -> None:
    check = validator(generated_schema())
    for made in (report, passing_report):
        check.validate(stdlib.loads(json.render(made)))
    check.validate(stdlib.loads((GOLDEN / "report.json").read_text()))


def test_it_can_say_no(report: Report) -> None:
    document = stdlib.loads(json.render(report))
    document["modules"][0]["functions"][0]["cases"][0]["verdct"] = "pass"
    assert not validator(generated_schema()).is_valid(document)
    assert not validator(generated_schema()).is_valid({"environment": {}})


def test_every_report_that_a_test_renders_is_held_against_it(report: Report) -> None:
    odd = msgspec.structs.replace(report, seconds="long")
    with pytest.raises(jsonschema.ValidationError):
        json.render(odd)
