"""The source shows what a parameter is used for, and of which shape it is."""

from __future__ import annotations

import ast

from gradtool.cases.inference.helpers import Helper
from gradtool.cases.inference.shapes.operands import read_operands
from gradtool.cases.inference.shapes.reading import read_shapes
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


PICKED = """
def forward(ctx, x, y, i, j, dim):
    of_x = x[..., i]
    of_y = y[..., j]
    return (of_x * of_y).sum(-1)
"""


def test_operands_of_which_entries_are_picked_have_the_same_leading_axes() -> None:
    (forward,) = ast.parse(PICKED).body
    facts = read_shapes(forward, ("x", "y", "i", "j", "dim"), "x: (..., dim) and y: (..., dim)")
    read_operands(facts, forward, [forward])
    shapes = facts.concrete()
    assert shapes["x"] == shapes["y"]
    assert shapes["x"][-1] == facts.sizes()["dim"]


def test_what_an_equation_takes_as_one_axis_is_computed_from_what_has_one() -> None:
    source = "def forward(ctx, m, w, x): k = m[x] * w; return einsum('n..., n -> n...', x, k)"
    (forward,) = ast.parse(source).body
    assert read_shapes(forward, ("m", "w", "x"), "").shapes.keys() == {"m", "w"}


def test_an_operand_that_is_reshaped_tells_nothing_of_what_it_is_computed_from() -> None:
    source = "def forward(ctx, m, w): k = m * w; k = k.flatten(); return einsum('n, n', k, k)"
    (forward,) = ast.parse(source).body
    assert not read_shapes(forward, ("m", "w"), "").shapes
