"""The published schema of the JSON report is that of the types, and reports obey it."""

import json as stdlib
import os
from typing import Any

import jsonschema
import pytest

from gradtool.cli.app import main
from gradtool.report import json
from gradtool.report.document import SCHEMA_FILE, generated_schema
from gradtool.results import Report
from tests.report.test_golden import GOLDEN


def strict(schema: Any) -> Any:
    """The schema with every unknown field forbidden; published, it leaves room for new ones."""
    if isinstance(schema, dict):
        closed = {key: strict(value) for key, value in schema.items()}
        return {**closed, "additionalProperties": False} if "properties" in closed else closed
    return [strict(entry) for entry in schema] if isinstance(schema, list) else schema


def validator(schema: str) -> jsonschema.Draft202012Validator:
    loaded = strict(stdlib.loads(schema))
    jsonschema.Draft202012Validator.check_schema(loaded)
    return jsonschema.Draft202012Validator(loaded)


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
