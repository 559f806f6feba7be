"""Shapes that docstrings state of arguments, in the words that they use for them."""

from __future__ import annotations

import pytest

from gradtool.cases.inference.documentation import alternatives, scalars
from gradtool.explore.reading.letter_case import with_names_as_given
from gradtool.explore.reading.wording import Wording


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x (N, C), w: (C,), (N, 1), or (N, C)", [("C",), ("N", "1"), ("N", "C")]),
        ("x (N, C) and w broadcastable to it: (C,) or (1, C)", [("C",), ("1", "C")]),
        ("x (N, C), w (N, C) or one shared w (1, C)", [("N", "C"), ("1", "C")]),
        ("x (N, C), w (N or 1, C)", [("N", "C"), ("1", "C")]),
        ("w (C, K); stacked ones (B, C, K) work, too", [("C", "K"), ("B", "C", "K")]),
        ("w (C, K), the output is (B, C, K)", [("C", "K")]),
        ("w (C, K) or None, giving logits (B, C, K)", [("C", "K")]),
        ("w (C, K), x (B, C, K)", [("C", "K")]),
    ],
)
def test_a_list_of_shapes_ends_where_another_tensor_begins(
    text: str, expected: list[tuple[str, ...]]
) -> None:
    assert alternatives(text, {"x", "w"})["w"] == expected


@pytest.mark.parametrize(
    ("text", "is_tensor"),
    [
        ("x (N,), w: scalar tensor or None", True),
        ("x (N,) and an optional 0-d tensor w", True),
        ("w is a scalar", False),
        ("x (N,) times the scalar gain w", True),
        ("w: a scalar or one value per row", None),
        ("w: 0-d tensor, or (n,), one per row", None),
        ("w scalar field (H, W)", None),
    ],
)
def test_one_number_is_no_tensor_of_several(text: str, is_tensor: bool | None) -> None:
    assert scalars(text, {"x", "w"}).get("w") is is_tensor


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hue of RGB (N, 3)", "Hue of rgb (N, 3)"),
        ("the mode 'RGB'", "the mode 'RGB'"),
        ("W (N, K) by rows", "w (N, K) by rows"),
        ("W (N, K) and w", "W (N, K) and w"),
        ("x (H, W)", "x (H, W)"),
        ("W(0, 1)", "W(0, 1)"),
        ("det of r (3, 3)", "det of rgb (3, 3)"),
        ("det of r (3, 3), and rgb", "det of r (3, 3), and rgb"),
        ("det r of x", "det r of x"),
    ],
)
def test_the_case_of_a_name_counts_where_another_thing_has_it(text: str, expected: str) -> None:
    assert with_names_as_given(text, ("ctx", "x", "rgb", "w")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p (B,) is the sample before the chunk", True),
        ("from the previous frame p (B,) on", True),
        ("momentum p and the previous state q", False),
        ("p is the previous state, a constant", False),
        ("p is the previous output, as an initial guess", False),
    ],
)
def test_what_lies_before_a_sequence_is_not_what_a_search_begins_with(
    text: str, expected: bool
) -> None:
    assert Wording(text, "").continues_sequence("p") is expected
