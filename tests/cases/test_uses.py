"""The source shows what a parameter is used for."""

from __future__ import annotations

import ast

from gradtool.cases.inference.uses import read_uses


def test_the_number_of_an_axis_is_no_index() -> None:
    (forward,) = ast.parse("def forward(ctx, x, dim, rows): return x[rows] * x.shape[dim]").body
    assert isinstance(forward, ast.FunctionDef)
    uses = read_uses(forward, ("x", "dim", "rows"), "")
    assert (uses["rows"].is_index, uses["dim"].is_index) == (True, False)
