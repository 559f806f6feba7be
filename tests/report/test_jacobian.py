"""Which entries of a Jacobian are shown, in how many digits."""

import msgspec
import pytest

from gradtool.report.jacobian import short, window
from tests.report.conftest import jacobian
from tests.report.test_html import full_block


def with_wrong(wrong: set[tuple[int, int]], worst: tuple[int, int], size: int = 8):
    flags = tuple(tuple((i, j) in wrong for j in range(size)) for i in range(size))
    return msgspec.structs.replace(full_block(size), wrong=flags, worst=worst)


def test_wrong_rows_and_columns_are_shown_before_neighbours() -> None:
    block = with_wrong({(0, 2), (4, 2), (7, 2), (4, 6)}, (4, 2))
    shown = window(block, rows=3, columns=2)
    assert shown.rows == ("[0]", "[4]", "[7]")
    assert shown.columns == ("[2]", "[6]")


def test_then_come_the_nearest_columns_in_the_order_of_the_jacobian() -> None:
    shown = window(with_wrong({(4, 4)}, (4, 4)), rows=3, columns=5)
    assert shown.rows == ("[4]",)
    assert shown.columns == ("[2]", "[3]", "[4]", "[5]", "[6]")


@pytest.mark.parametrize(
    "wrong",
    [
        {(i, i) for i in range(8)},
        {(i, i // 2) for i in range(8)},
        {(i, 7 - i) for i in range(1, 8)} | {(7, 2)},
    ],
)
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 3), (5, 5), (5, 1), (20, 20)])
def test_every_row_shown_has_a_wrong_entry(
    wrong: set[tuple[int, int]], rows: int, columns: int
) -> None:
    for worst in wrong:
        shown = window(with_wrong(wrong, worst), rows=rows, columns=columns)
        assert all(any(cell.is_wrong for cell in row) for row in shown.cells)
        assert len(shown.columns) == min(columns, 8)


@pytest.mark.parametrize("worst", [(0, 0), (7, 7), (0, 7)])
def test_the_worst_entry_is_always_shown_and_marked(worst: tuple[int, int]) -> None:
    block = with_wrong({(i, i) for i in range(8)} | {worst}, worst)
    for rows, columns in ((1, 1), (2, 3), (8, 8), (20, 20)):
        cells = [cell for row in window(block, rows=rows, columns=columns).cells for cell in row]
        assert [cell.is_worst for cell in cells].count(True) == 1


def test_the_extent_is_that_of_the_whole_jacobian() -> None:
    assert window(jacobian(), rows=9, columns=9).extent == ""
    assert window(jacobian(), rows=2, columns=9).extent == "2 x 6 of the 6 x 6 Jacobian"
    assert window(full_block(8), rows=8, columns=8).extent == "8 x 8 of the 1000 x 1000 Jacobian"


def test_values_that_are_no_numbers() -> None:
    assert [short("nan"), short("inf"), short("-inf"), short(-0.0), short(1 / 3)] == [
        "?", "inf", "-inf", "0", "0.3333",
    ]  # fmt: skip
