"""Tensors in lists and the like lose their gradient unless each is an argument of its own."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import gradtool.engine as torch
from gradtool import Function
from gradtool.adapters.common.differentiable import FunctionDifferentiable

Pair = namedtuple("Pair", "first second")


@dataclass(frozen=True)
class Batch:
    x: Any
    label: str = "a"


def leaf() -> Any:
    return torch.rand(3, dtype=torch.float64, requires_grad=True)


def of(pick: Callable[[Any], Any]) -> type[Function]:
    class Scaled(Function):
        @staticmethod
        def forward(ctx, w, held):
            x = pick(held)
            ctx.save_for_backward(x)
            return w * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x, None

    return Scaled


def lost(function: type[Function], *args: Any) -> list[str] | None:
    differentiable = FunctionDifferentiable(function, args, {}, name="f")
    found = differentiable.lost_gradients(differentiable.primals)
    return None if found is None else [each.name for each in found]


@pytest.mark.parametrize(
    ("held", "pick", "name"),
    [
        ([leaf(), leaf()], lambda held: held[1], "held[1]"),
        ((leaf(),), lambda held: held[0], "held[0]"),
        (Pair(leaf(), 2.0), lambda held: held.first, "held[0]"),
        ({"a": {"b": [leaf()]}}, lambda held: held["a"]["b"][0], "held['a']['b'][0]"),
        (Batch(leaf()), lambda held: held.x, "held.x"),
    ],
)
def test_a_tensor_that_moves_the_output_is_named(
    held: Any, pick: Callable[[Any], Any], name: str
) -> None:
    assert lost(of(pick), leaf(), held) == [name]


def test_nothing_is_said_of_what_needs_no_gradient() -> None:
    constants = [torch.rand(3, dtype=torch.float64), torch.tensor([1, 2, 3])]
    assert lost(of(lambda held: held[0]), leaf(), constants) is None
    assert lost(of(lambda held: held), leaf(), 2.0 * torch.ones(3, dtype=torch.float64)) is None


def test_a_tensor_that_moves_nothing_loses_nothing() -> None:
    size_only = of(lambda held: torch.full((held[0].numel(),), 2.0, dtype=torch.float64))
    assert lost(size_only, leaf(), [leaf()]) == []


def test_a_backward_that_reaches_the_tensor_by_another_one_is_right() -> None:
    class Replayed(Function):
        @staticmethod
        def forward(ctx, w, held):
            ctx.held = held
            ctx.save_for_backward(w)
            return w * held[0]

        @staticmethod
        def backward(ctx, g):
            (w,) = ctx.saved_tensors
            with torch.enable_grad():
                again = w.detach() * ctx.held[0]
            torch.autograd.backward(again, g)
            return g * ctx.held[0].detach(), None

    assert lost(Replayed, leaf(), [leaf()]) == []


def test_the_tensors_of_the_case_are_left_as_they_are() -> None:
    held = [leaf()]
    before = held[0].detach().clone()
    assert lost(of(lambda held: held[0]), leaf(), held) == ["held[0]"]
    assert held[0].grad is None
    assert torch.equal(held[0], before)


def through(*, reaches: bool = False) -> type[Function]:
    class Applied(Function):
        @staticmethod
        def forward(ctx, x, layer, *parameters):
            ctx.layer, ctx.count = layer, len(parameters)
            ctx.save_for_backward(x, *parameters)
            return layer(x)

        @staticmethod
        def backward(ctx, g):
            x, *parameters = (each.detach().requires_grad_() for each in ctx.saved_tensors)
            with torch.enable_grad():
                if reaches:
                    torch.autograd.backward(ctx.layer(x), g)
                    return x.grad, None
                out = torch.func.functional_call(
                    ctx.layer, dict(zip(("weight", "bias"), parameters, strict=False)), (x,)
                )
            of_x, *rest = torch.autograd.grad(out, [x, *parameters], g)
            return of_x, None, *rest

    return Applied


def test_the_parameters_of_a_module_are_named() -> None:
    layer = torch.nn.Linear(3, 2, dtype=torch.float64)
    assert lost(through(), leaf(), layer) == ["layer.weight", "layer.bias"]
    assert [each.grad for each in layer.parameters()] == [None, None]


def test_a_backward_that_runs_another_one_reaches_the_parameters() -> None:
    layer = torch.nn.Linear(3, 2, dtype=torch.float64)
    assert lost(through(reaches=True), leaf(), layer) == []


def test_a_parameter_that_is_an_argument_too_is_seen() -> None:
    layer = torch.nn.Linear(3, 2, dtype=torch.float64)
    assert lost(through(), leaf(), layer, layer.weight, layer.bias) is None


def test_a_frozen_module_loses_nothing() -> None:
    layer = torch.nn.Linear(3, 2, dtype=torch.float64).requires_grad_(False)
    assert lost(through(), leaf(), layer) is None
