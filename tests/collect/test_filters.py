"""``-k`` accepts the expressions of pytest's ``-k``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtool.collect.filters import parse_keyword
from gradtool.errors import UsageError

NODE = "ops/linear.py::Linear[with-bias]"


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("linear", True),
        ("LINEAR", True),
        ("conv", False),
        ("not conv", True),
        ("not not linear", True),
        ("linear and bias", True),
        ("linear and conv", False),
        ("conv or bias", True),
        ("conv or conv and linear", False),
        ("linear or conv and conv", True),
        ("(linear or conv) and conv", False),
        ("not (conv or exp)", True),
        ("Linear[with-bias]", True),
        ("linear.py::Linear", True),
        ("  bias  ", True),
    ],
)
def test_expression(expression: str, wanted: bool) -> None:
    assert parse_keyword(expression)(NODE) is wanted


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "-k '' is not a valid expression: a word is missing at the end"),
        ("linear and", "-k 'linear and' is not a valid expression: a word is missing at the end"),
        ("and linear", "-k 'and linear' is not a valid expression: a word is missing before 'and'"),
        ("(linear", "-k '(linear' is not a valid expression: missing ')'"),
        ("linear)", "-k 'linear)' is not a valid expression: unexpected ')'"),
        ("()", "-k '()' is not a valid expression: a word is missing before ')'"),
        ("linear conv", "-k 'linear conv' is not a valid expression: unexpected 'conv'"),
        ("not", "-k 'not' is not a valid expression: a word is missing at the end"),
    ],
)
def test_what_is_no_expression_is_refused_in_one_line(expression: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_keyword(expression)
    assert str(refused.value) == message


def test_endless_nesting_is_refused() -> None:
    with pytest.raises(UsageError, match="nested too deeply"):
        parse_keyword("(" * 5000 + "a" + ")" * 5000)


@given(st.lists(st.sampled_from(["and", "or", "not", "(", ")", "a", "b"]), max_size=12))
def test_any_words_make_a_predicate_or_a_usage_error(tokens: list[str]) -> None:
    expression = " ".join(tokens)
    try:
        wanted = parse_keyword(expression)("a")
    except UsageError:
        return
    python = {"and", "or", "not", "(", ")"}
    same = " ".join(token if token in python else str(token == "a") for token in tokens)
    assert wanted is bool(eval(same))
