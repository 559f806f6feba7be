"""A tensor of a graph that a constant is written over stays in the graph, with slope zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradtool.engine as engine

WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "zero_": lambda t, x: x.zero_(),
    "fill_": lambda t, x: x.fill_(2.0),
    "fill_ by a tensor": lambda t, x: x.fill_(t.tensor(2.0)),
    "bernoulli_": lambda t, x: x.bernoulli_(),
    "uniform_": lambda t, x: x.uniform_(),
    "normal_": lambda t, x: x.normal_(),
    "random_": lambda t, x: x.random_(),
    "copy_": lambda t, x: x.copy_(t.ones(3)),
    "copy_ of a leaf": lambda t, x: x.copy_(t.ones(3, requires_grad=True)),
    "copy_ of what broadcasts": lambda t, x: x.copy_(t.ones(1, dtype=t.float64)),
    "fill_ by a leaf": lambda t, x: x.fill_(t.tensor(2.0, requires_grad=True)),
    "all assigned": lambda t, x: x.__setitem__(slice(None), t.ones(3, requires_grad=True)),
}


def outcome(t: Any, write: str) -> Any:
    """Whether the tensor, and a view of it, require gradients; and the gradient before it."""
    leaf = t.ones(3, requires_grad=True)
    x = leaf * 2
    view = x[1:]
    WRITES[write](t, x)
    (found,) = t.autograd.grad(x.sum() + view.sum(), leaf)
    return x.requires_grad, view.requires_grad, x.is_leaf, found.tolist()


@pytest.mark.parametrize("write", WRITES)
def test_the_gradient_before_the_write_is_zero(write: str) -> None:
    assert outcome(engine, write) == (True, True, False, [0.0, 0.0, 0.0])


@pytest.mark.torch
@pytest.mark.parametrize("write", WRITES)
def test_as_in_torch(write: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    assert outcome(engine, write) == outcome(torch, write)


def test_what_is_copied_has_its_gradient_in_its_own_shape_and_dtype() -> None:
    x, y = engine.ones(3, requires_grad=True), engine.ones(1, dtype=engine.float64).requires_grad_()
    (x * 2).copy_(y).sum().backward()
    assert (y.grad.tolist(), y.grad.dtype) == ([3.0], engine.float64)
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_infinite_gradients_do_not_come_through() -> None:
    leaf = engine.ones(2, requires_grad=True)
    x = leaf * 2
    x.zero_()
    with engine.no_grad():
        infinite = engine.full((2,), float("inf"))
    x.backward(infinite)
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [0.0, 0.0]


def test_fill_refuses_values_with_dimensions() -> None:
    with pytest.raises(RuntimeError, match="fill_ only supports 0-dimension value tensor"):
        engine.ones(3).fill_(engine.ones(1))
