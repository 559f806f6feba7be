"""Annotations with a class and the names of axes give the shapes and objects of arguments."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from gradtool.cases.inference.shapes.annotated import in_annotations
from gradtool.collect.loader import Loader
from gradtool.run.runner import check
from tests.options import check_options

HEAD = """
import torch
from jaxtyping import Float, Integer
from torch import Tensor


class Pattern:
    def __init__(self, rows: Tensor):
        self.rows = rows
        assert rows.max() == 1234
"""

WITH_AXES = """

class Mixed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Float[Tensor, "b n k"], w: Float[Tensor, " n"]):
        ctx.save_for_backward(x, w)
        return torch.einsum("bnk,n->bk", x, w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return torch.einsum("bk,n->bnk", g, w), torch.einsum("bk,bnk->n", g, x)
"""

WITH_OBJECT = """

class Taken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Float[Tensor, "n"], pattern: Integer[Pattern, "n m"]):
        ctx.rows = pattern.rows
        return x[pattern.rows]

    @staticmethod
    def backward(ctx, g):
        return torch.zeros(4).index_add(0, ctx.rows, g), None
"""


@pytest.mark.parametrize("first", ["", "from __future__ import annotations"])
def test_axes_of_an_annotation_are_extents(tmp_path: Path, first: str) -> None:
    (tmp_path / "mixed.py").write_text(first + HEAD + WITH_AXES)
    report = check(check_options(paths=(str(tmp_path / "mixed.py"),)))
    ((_, function),) = report.functions()
    assert list(report.findings()) == []
    assert [list(each.arguments) for each in function.cases] == [
        ["x: float64[3, 4, 5]", "w: float64[4]"]
    ]


@pytest.mark.parametrize("first", ["", "from __future__ import annotations"])
def test_a_class_with_axes_is_the_one_to_create(tmp_path: Path, first: str) -> None:
    (tmp_path / "taken.py").write_text(first + HEAD + WITH_OBJECT)
    found = check(check_options(paths=(str(tmp_path / "taken.py"),))).findings()
    (finding,) = (each for each in found if each.rule == "GT002")
    assert "an object of Pattern" in finding.message + (finding.hint or "")
    assert "jaxtyping" not in finding.message + (finding.hint or "")


def test_axes_that_may_be_any_state_no_shape(tmp_path: Path) -> None:
    text = "def forward(a: F[T, '*b n'], b: F[T, '... n'], c: Literal['n'], d: F[T, 'n 2']): ..."
    (tmp_path / "free.py").write_text(f"from __future__ import annotations\n\n\n{text}\n")
    forward = Loader().load(tmp_path / "free.py").module.forward
    assert in_annotations(forward) == "d: tensor (n, 2)"


def test_a_comment_beside_a_parameter_states_its_shape(tmp_path: Path) -> None:
    text = """
    def forward(
        a,  # [B, N]
        b,  # (B, 3), in metres
        c,  # [B]
        d,  # [0, 1]
        e,  # (optional)
        f, g,  # [B, N]
    ): ...
    """
    (tmp_path / "beside.py").write_text(textwrap.dedent(text))
    forward = Loader().load(tmp_path / "beside.py").module.forward
    assert in_annotations(forward).splitlines() == [
        "a: tensor (B, N)",
        "b: tensor (B, 3)",
        "c: tensor (B,)",
    ]
