"""``gradtool derive``: what it prints, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.cli.app import main

CUBE = """
import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * grad_output * x**2


class Counted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x.sum().item()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output
"""


@pytest.fixture
def ops(tmp_path: Path) -> Path:
    path = tmp_path / "my_ops.py"
    path.write_text(CUBE, encoding="utf-8")
    return path


def test_a_wrong_backward_is_replaced_by_a_right_one(
    ops: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["derive", f"{ops}::Cube"]) == 0
    out, _ = capsys.readouterr()
    assert "passes gradtool check at inferred: x: float64[3, 4]" in out
    assert out.endswith("(x,) = ctx.saved_tensors\n        return 3 * grad_output * x**2\n")


def test_the_line_is_named_where_forward_cannot_be_recorded(
    ops: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["derive", f"{ops}::Counted"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.strip().endswith("Counted: line 20 turns a tensor into numbers by .item()")
