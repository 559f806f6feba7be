"""Functions whose forward is recorded are differentiated by its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool.engine as torch
from gradtool.engine.autograd import forward_ad
from gradtool.engine.autograd._recording import recording


class Lying(torch.autograd.Function):
    """Computes a sine and calls the derivative zero."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.sin()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return 0 * grad


taken_before = Lying.apply


def hidden(x: Any) -> Any:
    with torch.no_grad():
        return x.sin()


def in_inference(x: Any) -> Any:
    with torch.inference_mode():
        return x.sin()


def overwritten(x: Any) -> Any:
    y = x.sin()
    e = y.exp()
    e += 1  # what the derivative of exp is made of
    return e.sub_(1).log_()


FORWARDS: list[Callable[[Any], Any]] = [
    Lying.apply,
    taken_before,
    hidden,
    in_inference,
    overwritten,
    lambda x: Lying.apply(x.detach()),
    lambda x: Lying.apply(x.data),
    lambda x: torch.empty_like(x).copy_(x).sin_(),
]


@pytest.mark.parametrize("forward", FORWARDS)
def test_each_step_counts_in_both_modes(forward: Callable[[Any], Any]) -> None:
    x = torch.tensor([0.3, 0.7], dtype=torch.float64, requires_grad=True)
    expected = x.detach().cos()
    with recording():
        y = forward(x.clone())
    (gradient,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert torch.allclose(gradient, expected)
    (second,) = torch.autograd.grad(gradient.sum(), x)
    assert torch.allclose(second, -x.detach().sin())
    with forward_ad.dual_level(), recording():
        dual = forward_ad.make_dual(x.detach().clone(), torch.ones_like(x))
        assert torch.allclose(forward_ad.unpack_dual(forward(dual)).tangent, expected)


def test_conversions_to_numbers_are_noted() -> None:
    x = torch.tensor([0.3], requires_grad=True)
    with recording() as record:
        _ = x.item(), x.detach().numpy(), torch.ones(1).item()
    assert [cut.conversion for cut in record.cuts] == ["item()", "numpy()"]


def test_a_conversion_is_noted_with_the_line_of_the_caller() -> None:
    x = torch.tensor([0.3], requires_grad=True)
    with recording() as record:
        _ = float(x), np.asarray(x)
    first = test_a_conversion_is_noted_with_the_line_of_the_caller.__code__.co_firstlineno
    assert [(cut.path, cut.line) for cut in record.cuts] == 2 * [(__file__, first + 3)]


def test_afterwards_backward_counts_again() -> None:
    x = torch.tensor([0.3], requires_grad=True)
    with recording():
        pass
    Lying.apply(x).backward()
    assert x.grad is not None
    assert x.grad.item() == 0


def test_a_step_saves_copies_without_a_hook_to_bring_them_back() -> None:
    x = torch.tensor([2.0], dtype=torch.double, requires_grad=True)
    with recording():
        y = x.exp() * x
    saved = [each for node in (y._node, y._node._edges[0]) for each in node.saved]
    assert {type(each) for each in saved} == {torch.Tensor}


def test_steps_in_place_save_what_they_computed() -> None:
    x = torch.tensor([2.0], dtype=torch.double, requires_grad=True)
    with recording():
        y = (x * 1).exp_().add_(1).mul_(x)
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert first.item() == pytest.approx(3 * np.exp(2) + 1)
    assert second.item() == pytest.approx(4 * np.exp(2))
