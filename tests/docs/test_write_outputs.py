"""The script that renews the numbers in the outputs that pages show."""

from tests.docs.write_outputs import with_numbers_of


def test_a_line_that_differs_only_in_numbers_is_renewed() -> None:
    shown = "a.py\n  FAIL  F  4 fwd  10 ms\n...\nother\n"
    printed = "a.py\n  FAIL  F  14 fwd  12 ms\nunexpected\n"
    assert with_numbers_of(printed, shown) == "a.py\n  FAIL  F  14 fwd  12 ms\n...\nother\n"


def test_a_line_that_differs_only_in_time_is_left_alone() -> None:
    assert with_numbers_of("F  4 fwd  12 ms\n", "F  4 fwd  10 ms\n") == "F  4 fwd  10 ms\n"
