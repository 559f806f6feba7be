"""Functions that run a backward inside and so refuse ``autograd.grad``: activation checkpoints."""

from typing import Any

import pytest

import gradtool.engine as torch
from gradtool.engine.autograd import Function
from gradtool.results.report import Verdict
from gradtool.testing import check


def squared_sine(x: Any, y: Any) -> Any:
    return (x.sin() * y) ** 2


class Checkpoint(Function):
    factor = 1.0
    refusal = "not compatible with .grad(), please use .backward() if possible"

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        ctx.save_for_backward(x, y)
        return squared_sine(x, y)

    @classmethod
    def backward(cls, ctx: Any, grad_output: Any) -> Any:
        if not torch.autograd._is_checkpoint_valid():
            raise RuntimeError(cls.refusal)
        inputs = [saved.detach().requires_grad_() for saved in ctx.saved_tensors]
        with torch.enable_grad():
            output = squared_sine(*inputs)
        torch.autograd.backward(output, grad_output)
        return inputs[0].grad, cls.factor * inputs[1].grad

    @staticmethod
    def sample_inputs() -> Any:
        torch.manual_seed(0)
        yield tuple(torch.randn(3, dtype=torch.double, requires_grad=True) for _ in range(2))


class Doubled(Checkpoint):
    factor = 2.0


class Refusing(Checkpoint):
    refusal = ".grad()/.backward(inputs=...) not supported"


@pytest.mark.parametrize(
    ("function", "rules"), [(Checkpoint, set()), (Refusing, set()), (Doubled, {"GT101"})]
)
def test_a_checkpoint_is_checked_through_backward(function: Any, rules: set[str]) -> None:
    assert {finding.rule for finding in check(function).findings()} == rules


def test_its_refusal_counts_as_declared() -> None:
    checks = {each.rule: each for each in check(Checkpoint).checks()}
    assert checks["GT101"].verdict is Verdict.PASS
    assert checks["GT201"].verdict is Verdict.SKIPPED
