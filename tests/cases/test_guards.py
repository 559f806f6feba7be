"""What forward refuses is read from its conditions: their parts, shapes, ranges and families."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradtool.engine as torch
from gradtool.cases.inference.guards.conditions import conditions
from gradtool.cases.inference.guards.families import family_values
from gradtool.cases.inference.guards.guard import guard_of
from gradtool.cases.inference.guards.refusal import refusal_of
from gradtool.cases.sources import ResolvedCase, resolve_cases
from gradtool.collect.discovery import discover
from gradtool.collect.loader import Loader
from gradtool.config.settings import Settings
from gradtool.findings.could_not_run import NoCase
from tests.conftest import Write


def parts(test: str, *, holds: bool = False) -> list[str]:
    expression = ast.parse(test, mode="eval").body
    return [ast.unparse(each.test) for each in conditions(expression, holds=holds)]


@pytest.mark.parametrize(
    ("refusing", "needed"),
    [
        ("x.dim() != 2", ["x.dim() == 2"]),
        ("not (x > 0).all()", ["x > 0"]),
        ("bool((x <= 0).any())", ["x > 0"]),
        ("torch.any(x < 0) or torch.any(x > 1)", ["x >= 0", "x <= 1"]),
        ("not bool(((y == 0) | (y == 1)).all())", ["y == 0", "y == 1"]),
        ("not 0 <= rate < 1", ["0 <= rate", "rate < 1"]),
        ("~torch.isfinite(x).all()", ["torch.isfinite(x)"]),
        ("x.le(0).any()", ["x > 0"]),
        ("torch.ge(lower, upper).any()", ["lower < upper"]),
        ("any(t.is_complex() for t in (x, y))", ["not x.is_complex()", "not y.is_complex()"]),
        ("not all((a.is_complex(), b == 2))", ["a.is_complex()", "b == 2"]),
        ("n % 2", ["n % 2 == 0"]),
        ("n & (n - 1)", ["n & n - 1 == 0"]),
        ("torch.logical_or(x < 0, x > 1).any()", ["x >= 0", "x <= 1"]),
    ],
)
def test_what_has_to_hold_is_read_from_what_refuses(refusing: str, needed: list[str]) -> None:
    assert parts(refusing) == needed


COMPARISONS = st.sampled_from(["a < 1", "b >= 2", "0 < a < 3", "a == b", "b != 1"])
TESTS = st.recursive(
    COMPARISONS,
    lambda inner: st.one_of(
        inner.map(lambda test: f"not ({test})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            lambda each: f"({each[0]}) {each[1]} ({each[2]})"
        ),
    ),
    max_leaves=6,
)


@given(TESTS, st.booleans(), st.integers(-1, 3), st.integers(-1, 3))
def test_a_test_has_the_outcome_that_its_conditions_ask_for(
    test: str, holds: bool, a: int, b: int
) -> None:
    values = {"a": a, "b": b}
    if all(eval(each, values) for each in parts(test, holds=holds)):
        assert bool(eval(test, values)) is holds


HELPED = """
import torch


def require(is_right, what):
    if not is_right:
        raise ValueError(what)


def forward(ctx, x, y):
    n = x.shape[-1]
    require(y.shape == (n,), "y has an entry for each column")
"""


def test_the_guard_of_a_helper_is_where_it_is_called(tmp_path: Path) -> None:
    file = tmp_path / "helped.py"
    file.write_text(HELPED)
    space: dict[str, Any] = {}
    exec(compile(HELPED.replace("import torch", ""), str(file), "exec"), space)
    with pytest.raises(ValueError, match="an entry") as raised:
        space["forward"](None, torch.ones(2, 3), torch.ones(2))
    refusal = refusal_of(raised.value, file)
    assert refusal is not None
    found = guard_of(ast.parse(HELPED), refusal)
    assert found is not None
    guard, scene = found
    assert [ast.unparse(each.test) for each in guard.conditions()] == ["y.shape == (x.shape[-1],)"]
    assert scene.variables["n"] == 3


# ---- families --------------------------------------------------------------------------------


def first(said: str, shape: Sequence[int] = (3, 4)) -> Any:
    spec = next(family_values(shape, said))
    return np.array(spec["values"])


def test_values_of_which_a_message_speaks_come_first() -> None:
    assert np.allclose(first("rows form a distribution").sum(-1), 1)
    assert np.allclose(np.linalg.norm(first("q has unit norm"), axis=-1), 1)
    assert (np.diff(first("knots must increase", (5,))) > 0).all()
    assert (np.diff(first("knots must decrease", (5,))) < 0).all()
    assert set(first("a one-hot code").ravel()) == {0.0, 1.0}
    assert set(first("binary labels").ravel()) == {0.0, 1.0}
    assert set(first("signs of spins").ravel()) == {1.0, -1.0}
    assert sorted(first("not a permutation", (4,))) == [0, 1, 2, 3]


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 3)])
def test_matrices_are_of_the_kind_that_is_said(shape: tuple[int, ...]) -> None:
    skew = first("skew-symmetric", shape)
    symmetric = first("a symmetric matrix", shape)
    rotation = first("a rotation", shape)
    upper = first("upper", shape)
    assert np.array_equal(symmetric, symmetric.swapaxes(-1, -2))
    assert np.array_equal(skew, -skew.swapaxes(-1, -2))
    assert np.allclose(rotation @ rotation.swapaxes(-1, -2), np.eye(shape[-2]))
    assert np.allclose(np.linalg.det(rotation), 1)
    assert np.array_equal(upper, np.triu(upper))


def test_all_families_fit_any_shape() -> None:
    for shape in [(), (0,), (4,), (3, 0), (2, 3), (2, 3, 4)]:
        assert all({"values", "shape"} & spec.keys() for spec in family_values(shape, ""))


# ---- whole Functions -------------------------------------------------------------------------


CHECKED = """
import torch
from torch.autograd import Function


class Checked(Function):
    @staticmethod
    def forward(ctx, {parameters}):
        {check}
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g, {none}
"""


def resolved(write: Write, parameters: str, check: str) -> list[ResolvedCase]:
    none = ", ".join("None" for _ in parameters.split(", ")[1:])
    body = textwrap.indent(check, " " * 8).strip()
    text = CHECKED.format(parameters=parameters, check=body, none=none)
    folder = write({"mod.py": text})
    (checkable,) = discover(Loader().load(folder / "mod.py"), "mod.py")
    return resolve_cases(checkable, Settings())


RANGES = {
    "if x.min() <= 100: raise ValueError('hot')": (100, 300),
    "assert ((x >= 380) & (x <= 780)).all()": (380, 780),
    "assert x.abs().max() < 0.01": (-0.01, 0.01),
    "if (x > -5).any():\n    raise ValueError('cold')": (-20, -5),
    "lowest = x.amin()\nif lowest < 7 or x.amax() > 9:\n    raise ValueError('7 to 9')": (7, 9),
}


@pytest.mark.parametrize("check", RANGES)
def test_values_lie_in_the_range_that_a_condition_states(write: Write, check: str) -> None:
    low, high = RANGES[check]
    for case in resolved(write, "x", check):
        values = np.array(case.args[0].tolist())
        assert (low <= values).all()
        assert (values <= high).all()


SHAPES = {
    "if k.shape != (x.shape[-1] // 2 + 1,): raise ValueError": lambda x, k: (x[-1] // 2 + 1,) == k,
    "if x.dim() != 3 or k.shape != x.shape[1:]: raise ValueError": lambda x, k: k == x[1:],
    "assert x.shape[:-1] == k.shape and x.dim() == 4": lambda x, k: x[:-1] == k,
    "n = len(x)\nif k.shape != (n, n): raise ValueError": lambda x, k: k == (x[0], x[0]),
    "assert x.dim() == k.dim() == 1 and len(k) == len(x) > 4": lambda x, k: k[0] == x[0] > 4,
}


@pytest.mark.parametrize("check", SHAPES)
def test_shapes_are_those_that_a_condition_computes(write: Write, check: str) -> None:
    for case in resolved(write, "x, k", check):
        assert SHAPES[check](*(tuple(arg.shape) for arg in case.args))


def test_a_dtype_is_the_one_that_a_condition_asks_for(write: Write) -> None:
    check = "assert x.is_complex() and k.dtype in (torch.int32, torch.int64)"
    for case in resolved(write, "x, k", check):
        assert [str(arg.dtype) for arg in case.args] == ["torch.complex128", "torch.int32"]


def test_no_gradient_is_asked_of_values_that_may_not_change(write: Write) -> None:
    check = "assert k.dim() == 2 and torch.equal(k, k.t())\nx = x * k.sum()"
    for case in resolved(write, "x, k", check):
        x, k = case.args
        assert x.requires_grad
        assert not k.requires_grad
        assert torch.equal(k, k.t())


def test_no_case_is_made_of_the_only_tensor_if_it_may_not_change(write: Write) -> None:
    with pytest.raises(NoCase, match="it refuses small changes to x"):
        resolved(write, "x", "assert x.dim() == 2 and torch.equal(x, -x.t()) and x.abs().sum() > 0")


def test_what_a_condition_asks_in_vain_is_reported(write: Write) -> None:
    with pytest.raises(NoCase, match="never"):
        resolved(write, "x", "if x.sum() == x.sum(): raise ValueError('never')")
