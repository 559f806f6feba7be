"""Code in sentences is cut to a length at which a difference between two pieces is still seen."""

from __future__ import annotations

from gradtool.adapters.common.alterations.shown_code import shortened

TERMS = [f"weights[{number}] * values[{number}]" for number in range(9)]
LONG = " + ".join(TERMS)


def test_short_code_is_shown_as_it_is() -> None:
    assert shortened("a + b", "a - b") == "a + b"


def test_long_code_shows_its_ends() -> None:
    assert shortened(LONG).startswith(TERMS[0])
    assert shortened(LONG).endswith(TERMS[-1])
    assert shortened(LONG, LONG) == shortened(LONG)


def test_two_pieces_that_differ_in_the_middle_show_it() -> None:
    other = LONG.replace("weights[5]", "weights[6]")
    one, two = shortened(LONG, other), shortened(other, LONG)
    assert "weights[5] * values[5]" in one
    assert "weights[6] * values[5]" in two
    assert max(len(one), len(two)) <= 72
