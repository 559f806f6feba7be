"""The JSON report: whole, decodable, and with a text for whatever JSON has no value for."""

import json as stdlib

import msgspec
import numpy as np
import pytest

from gradtool.report.formats import json
from gradtool.results.report import SCHEMA_VERSION, Evidence, Report


def with_evidence(report: Report, evidence: Evidence) -> Report:
    module = report.modules[1]
    function = module.functions[0]
    case = function.cases[0]
    check = case.checks[2]
    finding = msgspec.structs.replace(check.findings[0], evidence=evidence)
    check = msgspec.structs.replace(check, findings=(finding,))
    case = msgspec.structs.replace(case, checks=(check,))
    function = msgspec.structs.replace(function, cases=(case,))
    module = msgspec.structs.replace(module, functions=(function,))
    return msgspec.structs.replace(report, modules=(module,))


def evidence_of(text: str) -> dict[str, object]:
    module = stdlib.loads(text)["modules"][0]
    check = module["functions"][0]["cases"][0]["checks"][0]
    evidence: dict[str, object] = check["findings"][0]["evidence"]
    return evidence


def test_the_schema_version_is_always_there_and_first(report: Report) -> None:
    document = stdlib.loads(json.render(report))
    assert next(iter(document)) == "schema"
    assert document["schema"] == SCHEMA_VERSION


def test_the_counts_are_there(report: Report) -> None:
    summary = stdlib.loads(json.render(report))["summary"]
    assert (summary["passed"], summary["failed"], summary["errors"]) == (2, 2, 3)


def test_it_decodes_to_an_equal_report(report: Report, passing_report: Report) -> None:
    for made in (report, passing_report):
        assert msgspec.json.decode(json.render(made), type=Report) == made


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (1 - 2j, "(1-2j)"),
        (complex("nan"), "(nan+0j)"),
        (np.float64(1.5), 1.5),
        (np.float32(0.5), 0.5),
        (np.complex128(2j), "2j"),
        (np.int64(3), 3),
    ],
)
def test_values_that_json_has_not_are_written_as_text(
    report: Report, value: object, written: object
) -> None:
    made = with_evidence(report, Evidence(analytic=value))
    assert evidence_of(json.render(made)) == {"analytic": written}


def test_a_name_that_is_not_valid_unicode_does_not_break_the_report(report: Report) -> None:
    module = msgspec.structs.replace(report.modules[0], path="bad\udcff.py")
    text = json.render(msgspec.structs.replace(report, modules=(module,)))
    assert stdlib.loads(text)["modules"][0]["path"] == "bad\\udcff.py"
