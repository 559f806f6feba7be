"""The source shows what a parameter is used for."""

from __future__ import annotations

import ast

from gradtool.cases.inference.helpers import Helper
from gradtool.cases.inference.uses import merge_helpers, read_uses


def test_the_number_of_an_axis_is_no_index() -> None:
    (forward,) = ast.parse("def forward(ctx, x, dim, rows): return x[rows] * x.shape[dim]").body
    assert isinstance(forward, ast.FunctionDef)
    uses = read_uses(forward, ("x", "dim", "rows"), "")
    assert (uses["rows"].is_index, uses["dim"].is_index) == (True, False)


SPARSE = """
def matrix(weights, source, target, count):
    places = source.unsqueeze(1).expand(-1, 2).flatten()
    both = torch.stack([target, places])
    return torch.sparse_coo_tensor(indices=both, values=weights, size=(count, count))
"""


def test_what_gives_the_places_of_a_sparse_tensor_is_an_index() -> None:
    (matrix,) = ast.parse(SPARSE).body
    uses = read_uses(matrix, ("weights", "source", "target", "count"), "")
    assert [name for name, use in uses.items() if use.is_index] == ["source", "target"]


def test_uses_are_read_in_what_a_helper_calls() -> None:
    (inner,) = ast.parse("def pick(values, at): return values[at]").body
    (outer,) = ast.parse("def summed(values, at): return pick(values, at).sum()").body
    (forward,) = ast.parse("def forward(ctx, x, i): return summed(x, i)").body
    assert isinstance(inner, ast.FunctionDef)
    assert isinstance(outer, ast.FunctionDef)
    uses = read_uses(forward, ("x", "i"), "")
    merge_helpers(uses, forward, {"summed": Helper(outer, "", {"pick": Helper(inner, "")})})
    assert (uses["x"].is_index, uses["i"].is_index) == (False, True)


def test_the_extent_that_becomes_a_number_makes_no_index() -> None:
    source = "def forward(ctx, x, at): return x.reshape(int(x.shape[0]), -1)[:, int(at[0])]"
    (forward,) = ast.parse(source).body
    uses = read_uses(forward, ("x", "at"), "")
    assert (uses["x"].is_index, uses["at"].is_index) == (False, True)


def test_what_is_passed_by_name_is_followed() -> None:
    source = "def kept(rows, *, places): return rows[places.to(dtype=torch.int64)]"
    (helper,) = ast.parse(source).body
    (forward,) = ast.parse("def forward(ctx, x, i): return kept(x, places=i)").body
    assert isinstance(helper, ast.FunctionDef)
    uses = read_uses(forward, ("x", "i"), "")
    merge_helpers(uses, forward, {"kept": Helper(helper, "")})
    assert (uses["x"].is_whole, uses["i"].is_whole) == (False, True)
