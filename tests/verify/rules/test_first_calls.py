"""Functions whose first calls are wrong and later ones right, and right ones looked at twice."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as torch
from gradtool.engine.autograd import Function
from gradtool.testing import check


def found(function: Any, *values: float) -> list[str]:
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    report = check(function, [(x,)], select=["GT101", "GT110"], explore="off")
    return [finding.rule for finding in report.findings()]


def wrong_at(forward: int = 0, backward: int = 0) -> Any:
    class Cube(Function):
        forwards = backwards = 0

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            Cube.forwards += 1
            ctx.save_for_backward(x)
            return x * x * x * (2 if Cube.forwards == forward else 1)

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            Cube.backwards += 1
            (x,) = ctx.saved_tensors
            return grad_output * (2 if Cube.backwards == backward else 3) * x * x

    return Cube


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_backward_that_is_wrong_at_one_of_its_first_calls_is_found(number: int) -> None:
    assert found(wrong_at(backward=number), 1.0, 2.0) == ["GT110"]


def test_a_forward_that_is_wrong_at_its_first_call_is_found() -> None:
    assert found(wrong_at(forward=1), 1.0, 2.0) == ["GT110"]


class SingleInside(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return (grad_output.float() * 3 * x.float() ** 2).double()


class Magnitude(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.abs()

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad_output * x.sign()


@pytest.mark.parametrize("function", [SingleInside, Magnitude, wrong_at()])
def test_a_right_one_that_is_looked_at_twice_is_not_blamed(function: Any) -> None:
    assert "GT110" not in found(function, 0.0, 0.3, -2.0)
