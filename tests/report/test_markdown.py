"""The Markdown report: bounded, and nothing of the user's is read as markup."""

from hypothesis import given
from hypothesis import strategies as st

from gradtool.report.formats.markdown import MOST_BYTES, escaped, render
from gradtool.results.report import Report, Severity
from tests.report.test_github import with_findings


def test_a_report_that_is_too_long_counts_what_it_leaves_out(report: Report) -> None:
    text = render(with_findings(report, 12_000, Severity.ERROR))
    assert len(text.encode()) < MOST_BYTES + 200
    assert "more did not fit here" in text.splitlines()[-1]


def test_a_name_with_pipes_and_backticks_stays_in_its_cell(report: Report) -> None:
    text = render(with_findings(report, 1, Severity.ERROR, path="a|`b`.py"))
    (row,) = (line for line in text.splitlines() if "FAIL" in line)
    assert "`` a\\|`b`.py ``" in row


@given(st.text())
def test_what_is_escaped_holds_no_markup(text: str) -> None:
    plain = escaped(text)
    if "`" not in text:
        bare = plain.replace("\\\\", "")
        for mark in "*_[]<>#|":
            assert bare.count(mark) == bare.count(f"\\{mark}")


def test_code_between_backticks_stays_code() -> None:
    assert escaped("gradient of `a_b` at [0]") == "gradient of `a_b` at \\[0\\]"
    assert escaped("one ` tick") == "one \\` tick"
