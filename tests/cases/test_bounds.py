"""Bounds of values are read from clamps, also those that a helper of the user's makes."""

from __future__ import annotations

import ast

import pytest

from gradtool.cases.inference.bounds import clamp_bounds, interval_bounds


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("x.clamp(a, b)", [("a", "b")]),
        ("torch.clamp(x, a, b)", [("a", "b")]),
        ("clamp(x, a.data, b.data, inplace)", [("a", "b")]),
        ("clamp(x, -a.data, a.data)", [(0.0, "a")]),
        ("clamped(x, a, b)", []),
    ],
)
def test_clamps_show_bounds(code: str, found: list[tuple[object, object]]) -> None:
    assert list(clamp_bounds(ast.parse(code), ("x", "a", "b"))) == found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("(x >= a).float() * (x <= b).float()", [("a", "b")]),
        ("(x < b) & (x > a)", [("a", "b")]),
        ("(x < a) | (x > b)", [("a", "b")]),
        ("(x > a) & (y < b)", []),
        ("(x > a) & (x > b)", []),
    ],
)
def test_comparisons_show_intervals(code: str, found: list[tuple[object, object]]) -> None:
    assert list(interval_bounds(ast.parse(code), ("x", "a", "b"))) == found
