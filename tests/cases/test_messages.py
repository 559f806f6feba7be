"""The values that a message asks for are read from its words."""

from __future__ import annotations

from typing import Any

import pytest

from gradtool.cases.inference.messages import Said, corrections, listed

X = {"shape": [3, 4]}


@pytest.mark.parametrize(
    ("message", "value", "asked"),
    [
        ("Unknown method: 0.75. Available: lu, umfpack, cg", 0.75, ["lu", "umfpack", "cg"]),
        ("Only a1, b2_c and d3 is supported!", "mean", ["a1", "b2_c", "d3"]),
        ("kind must be one of ['a', 'b'], got 2", 2, ["a", "b"]),
        ("Expected kind in {'mean', 'sum'} but got 0.75", 0.75, ["mean", "sum"]),
        ("kind 0.75 is not supported; supported kinds: 1, 2 or 3", 0.75, [1, 2, 3]),
        ("kind must be of type bool, got float instead", 0.75, [False, True]),
        ("kind should be an integer", 0.75, [2, 1, 3, 0]),
        ("det requires a square matrix, got (4, 3)", [4, 3], [[4, 4], [3, 3]]),
        ("x must be contiguous", 2, []),
        ("'<' not supported between instances of 'NoneType' and 'Kind'", 2, []),
        ("only one element tensors can be converted to Python scalars", 2, []),
        ("expected values in a range, but got others", 2, []),
    ],
)
def test_a_message_asks_for_values(message: str, value: Any, asked: list[Any]) -> None:
    found = list(corrections(("x", "kind"), (X, value), Said(message)))
    assert found == [(1, each) for each in asked]


def test_a_square_tensor_is_asked_for() -> None:
    ((at, value),) = list(corrections(("x",), (X,), Said("x must be square, got (3, 4)")))[:1]
    assert at == 0
    assert [len(row) for row in value["values"]] == [3, 3, 3]


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("This model requires z <= 0. Use z = 0 at the surface.", (1, -1.5, -0.5)),
        ("expected `x` > 2", (0, 3.0, 5.0)),
        ("requires q <= 0", None),
    ],
)
def test_a_side_of_a_bound_is_asked_for(
    message: str, asked: tuple[int, float, float] | None
) -> None:
    found = list(corrections(("x", "z_obs"), (X, X), Said(message)))
    expected = [(asked[0], {**X, "low": asked[1], "high": asked[2]})] if asked else []
    assert found == expected


def test_where_a_message_names_nothing_the_line_does() -> None:
    said = Said("Unknown: tensor([0, 1]). Available: lu, qr", "return settled(x, algo)")
    index = {"values": [0, 1]}
    found = list(corrections(("x", "algo", "k"), (X, index, 2), said))
    assert found == [(1, "lu"), (1, "qr")]


def test_complex_numbers_are_asked_for_where_the_argument_is_named() -> None:
    message = "Values must have a dtype of torch.complex64 or torch.complex128"
    found = list(corrections(("points", "values"), (X, X), Said(message)))
    assert found == [(1, {"shape": [3, 4], "dtype": "complex128"})]
    assert not list(corrections(("x",), (X,), Said("expected a real dtype, got torch.complex64")))


@pytest.mark.parametrize("text", ["", "the first tensor", "be positive", "alone"])
def test_prose_lists_no_options(text: str) -> None:
    assert not list(listed(text))


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("x has the wrong length. Expected 5, got 4", [[3, 5]]),
        ("expected input to have 9 rows, but got 3 rows", []),
        ("expected 6 rows, but got 3 rows", [[6, 4]]),
        ("x has length 4 for degree=2 (expected 7 or 6)", [[3, 7]]),
        ("x must have shape (..., 7)", [[3, 7]]),
        ("y must have shape (..., 7)", []),
        ("expected 0.5, got 4", []),
    ],
)
def test_a_message_asks_for_an_extent(message: str, asked: list[list[int]]) -> None:
    found = list(corrections(("x",), (X,), Said(message)))
    assert found == [(0, {"shape": shape}) for shape in asked]
