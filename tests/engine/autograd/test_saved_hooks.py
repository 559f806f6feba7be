"""Saved-tensor hooks get what an operation saves: the tensor itself, or its output in the graph."""

from __future__ import annotations

from typing import Any

import pytest


def test_the_pack_hook_gets_the_tensor_that_was_given(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    given = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: given.append(t) or t, lambda t: t):
        x.sin()
    assert [each is x for each in given] == [True]


def test_the_pack_hook_gets_an_output_with_its_node(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    given = []

    def pack(t: Any) -> Any:
        given.append((t.requires_grad, t.grad_fn.name(), torch.is_grad_enabled()))
        return t.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = x.exp()
    assert given == [(True, "ExpBackward0", False)]
    y.sum().backward()
    torch.testing.assert_close(x.grad, y.detach())


def test_the_pack_hook_gets_an_output_of_a_function_with_its_node(torch: Any) -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            out = x * 2
            ctx.save_for_backward(x, out)
            return out

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    given = []

    def pack(t: Any) -> Any:
        given.append((t is x, t.grad_fn and t.grad_fn.name()))
        return t

    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        Double.apply(x)
    assert given == [(True, None), (False, "DoubleBackward")]


@pytest.mark.parametrize("name", ["exp_", "sigmoid_", "relu_"])
def test_an_output_that_a_hook_keeps_may_be_changed_and_is_seen_changed(
    torch: Any, name: str
) -> None:
    x = torch.tensor([2.0, 1.0], requires_grad=True)
    y = x * 1
    with torch.autograd.graph.saved_tensors_hooks(lambda kept: kept, lambda kept: kept):
        getattr(y, name)()
    before = y.detach().clone()
    y.mul_(3)
    y.sum().backward()
    formula = {"exp_": lambda s: s, "sigmoid_": lambda s: s * (1 - s), "relu_": lambda s: s > 0}
    assert torch.allclose(x.grad, 3 * formula[name](3 * before).to(x.dtype))
