"""The JUnit report: valid by Jenkins' schema, read by a parser of somebody else's, same counts."""

import xml.etree.ElementTree as ET
from pathlib import Path

import junitparser
import msgspec
import pytest
from lxml import etree

from gradtool.report.formats.junit import render
from gradtool.report.summary import summarize
from gradtool.results.report import (
    CheckResult,
    Finding,
    Location,
    ModuleResult,
    Report,
    Severity,
    Verdict,
)

XSD = etree.XMLSchema(etree.parse(Path(__file__).parent / "schemas" / "junit-10.xsd"))


def check_valid(text: str) -> None:
    XSD.assertValid(etree.fromstring(text.encode()))


def of_module(message: str, path: str = "ops/broken.py") -> Report:
    from tests.report.conftest import environment

    finding = Finding(
        rule="GT001",
        name="not-importable",
        severity=Severity.ERROR,
        node_id=f"{path}::GT001",
        message=message,
        location=Location(path=path),
    )
    check = CheckResult(rule="GT001", verdict=Verdict.ERROR, findings=(finding,))
    return Report(environment=environment(), modules=(ModuleResult(path=path, checks=(check,)),))


def test_it_is_valid(report: Report, passing_report: Report) -> None:
    empty = msgspec.structs.replace(report, modules=())
    for each in (report, passing_report, empty, of_module("x")):
        check_valid(render(each))


def test_another_parser_counts_what_the_summary_counts(report: Report) -> None:
    parsed = junitparser.JUnitXml.fromstring(render(report).encode())
    summary = summarize(report)
    suites = list(parsed)
    assert [suite.name for suite in suites] == [module.path for module in report.modules]
    assert sum(suite.failures for suite in suites) == summary.failed + summary.unverified
    assert sum(suite.errors for suite in suites) == summary.errors
    assert sum(suite.skipped for suite in suites) == summary.skipped
    cases = [case for suite in suites for case in suite]
    assert sum(case.is_passed for case in cases) == summary.passed
    assert len(cases) == sum(suite.tests for suite in suites)


def test_a_failure_holds_everything_that_stopped_the_case(report: Report) -> None:
    root = ET.fromstring(render(report))
    case = root.find(".//testcase[@name='WrongExp[inferred]']")
    assert case is not None
    (failure,) = case.findall("failure")
    assert failure.get("type") == "GT101 wrong-gradient"
    assert "--select GT101 --seed 7" in (failure.text or "")
    output = case.findtext("system-out") or ""
    assert "warning GT506" in output
    assert "30 forward and 7 backward evaluations" in output


def test_in_a_strict_run_a_warning_is_part_of_the_failure(report: Report) -> None:
    root = ET.fromstring(render(msgspec.structs.replace(report, strict=True)))
    failure = root.find(".//testcase[@name='WrongExp[inferred]']/failure")
    assert failure is not None
    assert "(+1 more)" in (failure.get("message") or "")
    assert "GT506" in (failure.text or "")


@pytest.mark.parametrize("path", ["ops/broken.py", 'ops/\udcff\x00<&">.py'])
def test_text_that_xml_cannot_hold_does_not_break_it(path: str) -> None:
    text = render(of_module("bad \x00 \x1b[31m \ud800 ]]> <b> & \ufffe", path))
    check_valid(text)
    assert "\\x1b[31m" in (ET.fromstring(text).find(".//error").get("message") or "")
