"""Tests of Functions of which a caller chooses one: what reaches it shows the other's arguments."""

from __future__ import annotations

from pathlib import Path

from gradtool.run.runner import check
from tests.options import check_options

CHOSEN = '''
import torch

VERSION = (2, 4)


class Weights:
    def __init__(self, entries):
        self.entries = entries


class Old(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weights, power, x):
        if not isinstance(weights, Weights):
            raise TypeError("no weights")
        ctx.weights, ctx.power = weights, power
        ctx.save_for_backward(x)
        return weights.entries * x**power

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return None, None, grad * ctx.weights.entries * ctx.power * x ** (ctx.power - 1)


class New(torch.autograd.Function):
    @staticmethod
    def forward(weights, power, x):
        if not isinstance(weights, Weights):
            raise TypeError("no weights")
        return weights.entries * x**power

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.weights, ctx.power, x = inputs
        ctx.save_for_backward(x)

    backward = Old.backward


def weighted(entries, x):
    """Weight the squares of `x`.

    >>> weighted(torch.tensor([0.5, 2.0]), torch.tensor([1.5, -0.5]).requires_grad_())
    """
    chosen = Old if VERSION < (2, 0) else New
    return chosen.apply(Weights(entries), 2, x)
'''


def test_a_function_that_is_not_chosen_gets_the_arguments_of_the_other(tmp_path: Path) -> None:
    file = tmp_path / "chosen.py"
    file.write_text(CHOSEN)
    report = check(check_options(paths=(str(file),), explore="off"))
    assert report.verdict.value == "pass", report.findings()
    lines = {each.name: each.cases[0].arguments[0] for each in report.modules[0].functions}
    assert lines.keys() == {"Old", "New"}
    assert all("Weights" in line for line in lines.values()), lines


def test_an_inexact_gradient_of_an_object_in_an_example_is_left_unverified(tmp_path: Path) -> None:
    file = tmp_path / "chosen.py"
    file.write_text(CHOSEN.replace("* ctx.power *", "* (ctx.power + 0.0004) *"))
    report = check(check_options(paths=(str(file),), explore="off"))
    assert report.verdict.value == "unverified"
