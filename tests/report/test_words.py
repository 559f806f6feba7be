"""Numbers, durations and texts as people read them."""

import pytest

from gradtool.report.findings import evidence_lines
from gradtool.report.words import csv_cell, duration, magnitude, number, one_line
from gradtool.results.report import Evidence
from gradtool.spelling import plural


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "<1 ms"),
        (0.0124, "12 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (75.0, "75 s"),
        (99.6, "1 min 40 s"),
        (125.0, "2 min 05 s"),
        (3600.0, "60 min 00 s"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_plurals() -> None:
    assert plural(1, "case") == "1 case"
    assert plural(0, "case") == "0 cases"
    assert plural(2, "entry", "entries") == "2 entries"


def test_numbers_keep_what_tells_them_apart_and_texts_are_left_alone() -> None:
    assert number(0.1 + 0.2) == "0.3"
    assert number(-4.481689070338065) == "-4.48168907"
    assert number(-0.0) == "0"
    assert number("(1+2j)") == "(1+2j)"
    assert magnitude(4.4999e-6) == "4.5e-06"
    assert magnitude("nan") == "nan"


def test_a_line_is_one_line_and_cannot_steer_a_terminal() -> None:
    assert one_line("a\n  b\tc") == "a b c"
    assert one_line("\x1b[31mred\x07") == "\\x1b[31mred\\x07"
    assert one_line("größer ± 1") == "größer ± 1"


def test_evidence_names_inputs_and_outputs_without_an_index_when_they_are_scalars() -> None:
    evidence = Evidence(argument="x", output=0, input_index=(), output_index=(2,), wrong=1)
    assert dict(evidence_lines(evidence)) == {
        "worst at": "output 0[2] with respect to x",
        "wrong": "1 entry",
    }


def test_what_is_not_known_is_said_so_or_left_out() -> None:
    nan = float("nan")
    evidence = Evidence(analytic=1.0, numeric=nan, error=nan, difference=nan, tolerance=nan)
    assert dict(evidence_lines(evidence)) == {"analytic": "1", "numeric": "unknown"}
    evidence = Evidence(analytic="nan", numeric=2.0, error="nan", difference="inf", tolerance=nan)
    assert dict(evidence_lines(evidence)) == {
        "analytic": "nan",
        "numeric": "2",
        "difference": "inf",
    }


def test_the_digits_of_a_negative_and_a_positive_value_stand_under_each_other() -> None:
    lines = dict(evidence_lines(Evidence(analytic=-1.5, numeric=1.5, error=1e-9)))
    assert lines == {"analytic": "-1.5", "numeric": " 1.5 ± 1e-09"}
    lines = dict(evidence_lines(Evidence(analytic=2.5, numeric=1.5, difference=1.0)))
    assert lines == {"analytic": "2.5", "numeric": "1.5", "difference": "1"}


def test_a_value_without_error_is_exact() -> None:
    lines = dict(evidence_lines(Evidence(analytic=2.5, numeric=1.5, error=0.0)))
    assert lines == {"analytic": "2.5", "exact": "1.5"}


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_spreadsheet_takes_no_text_for_a_formula(text: str) -> None:
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("value", ["", "ops.py::Exp", "a=b", -1.5, None])
def test_other_values_stay_as_they_are(value: object) -> None:
    assert csv_cell(value) == value
