"""The page of a rule on a terminal and in an HTML report."""

import io
import xml.etree.ElementTree as ET

import pytest

from gradtool.report.html.rule import rule_page
from gradtool.report.terminal.console import make_console
from gradtool.report.terminal.page import render_page
from gradtool.verify.rules import RULES


def html(code: str) -> str:
    parts = rule_page(RULES[code].info)
    return "".join(ET.tostring(part, encoding="unicode", method="html") for part in parts)


@pytest.mark.parametrize("code", RULES)
def test_html_shows_no_markup_of_docstrings(code: str) -> None:
    text = html(code)
    assert "``" not in text
    assert "-----" not in text
    assert "::<" not in text
    assert "<h5>Why it matters</h5>" in text


@pytest.mark.parametrize("code", RULES)
def test_html_leaves_nothing_of_the_page_out(code: str) -> None:
    rule = RULES[code].info
    told = "".join(text for part in rule_page(rule) for text in part.itertext())
    marks = str.maketrans("", "", "`- :")
    page = "".join(rule.page.translate(marks).split())
    shown = "".join((rule.summary + told).translate(marks).split())
    assert shown.endswith(page.removeprefix("".join(rule.summary.translate(marks).split())))


def test_examples_keep_their_lines_and_addresses_are_links() -> None:
    assert "<pre>from gradtool import Function" in html("GT202")
    address = (
        "https://pytorch.org/tutorials/intermediate/custom_function_double_backward_tutorial.html"
    )
    assert f'<a href="{address}">{address}</a>' in html("GT202")


def test_a_terminal_breaks_no_address() -> None:
    stream = io.StringIO()
    render_page(RULES["GT202"].info, make_console(stream, "never", width=60))
    lines = stream.getvalue().splitlines()
    assert any(line.endswith("double_backward_tutorial.html") for line in lines)
    assert max(len(line) for line in lines if "https" not in line) <= 60
