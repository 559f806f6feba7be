"""Code in a hint is printed line by line in every format, so that it can be pasted."""

import html
import textwrap

import msgspec
import pytest

from gradtool.policy.changes import also_hinted
from gradtool.report.findings import as_text
from gradtool.report.formats.markdown import render as markdown
from gradtool.report.html.page import render as page
from gradtool.report.terminal import plain
from gradtool.results.report import CheckResult, Finding, FunctionResult, Report

CODE = """\
@staticmethod
def sample_inputs():
    yield torch.randn(3, 4, dtype=torch.float64, requires_grad=True), torch.float64, "a long text"
"""
HINT = f"add this to  the class:\n{CODE.rstrip()}"
ENTRY = "Exp: {cases: [{args: [{shape: [3, 4]}]}]}"


def hinted(finding: Finding) -> Finding:
    return msgspec.structs.replace(finding, hint=HINT, case=ENTRY)


@pytest.fixture
def with_code(report: Report) -> Report:
    """The report with code in the hint of each finding."""

    def check(result: CheckResult) -> CheckResult:
        return msgspec.structs.replace(result, findings=tuple(map(hinted, result.findings)))

    def function(result: FunctionResult) -> FunctionResult:
        return msgspec.structs.replace(result, checks=tuple(map(check, result.checks)))

    modules = tuple(
        msgspec.structs.replace(module, functions=tuple(map(function, module.functions)))
        for module in report.modules
    )
    return msgspec.structs.replace(report, modules=modules)


@pytest.mark.parametrize("width", [40, 80, None])
def test_the_terminal_breaks_no_line_of_code(with_code: Report, width: int | None) -> None:
    text = plain(with_code, width=width)
    assert textwrap.indent(CODE, "    ") in text
    assert f"in gradtool.yaml, under functions:\n    {ENTRY}\n" in text


def test_other_formats_keep_the_lines_too(with_code: Report) -> None:
    finding = next(each for each in with_code.findings() if each.hint == HINT)
    assert textwrap.indent(CODE, "    ") in as_text(finding)
    assert f"  ```\n{textwrap.indent(CODE, '  ')}  ```\n" in markdown(with_code)
    assert CODE.rstrip() in html.unescape(page(with_code))


def test_more_advice_stays_out_of_the_code(report: Report) -> None:
    finding = hinted(next(report.findings()))
    assert also_hinted(finding, "look there").hint == f"look there; {HINT}"
    plain_hint = msgspec.structs.replace(finding, hint="do this")
    assert also_hinted(plain_hint, "look there").hint == "do this; look there"
    nothing = msgspec.structs.replace(finding, hint=None)
    assert also_hinted(nothing, "look there").hint == "look there"
