"""What PyTorch computes at once is no view, whatever the engine computes it by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradtool.engine as engine

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "max": lambda t, x: x.max(1)[0],
    "median": lambda t, x: x.median(1)[0],
    "kthvalue": lambda t, x: x.kthvalue(1)[0],
    "kron": lambda t, x: t.kron(x, x),
    "quantile": lambda t, x: x.quantile(0.5, 1),
    "rot90": lambda t, x: x.rot90(),
    "put": lambda t, x: x.put(t.tensor([0]), x[0, :1]),
    "embedding": lambda t, x: t.nn.functional.embedding(t.tensor([[0, 1]]), x),
}


def outcome(t: Any, name: str) -> Any:
    """Whether the result has a base, or its views have it for theirs; its node after a change."""
    x = t.tensor([[1.0, 3.0, 2.0], [6.0, 5.0, 4.0]], requires_grad=True)
    out = CALLS[name](t, x)
    found = out._base is None, out[0]._base is out
    out.mul_(2)
    (grad,) = t.autograd.grad(out.sum(), x)
    return found, out.grad_fn.name(), grad.tolist()


@pytest.mark.parametrize("name", CALLS)
def test_results_have_no_base(name: str) -> None:
    assert outcome(engine, name)[:2] == ((True, True), "MulBackward0")


@pytest.mark.torch
@pytest.mark.parametrize("name", CALLS)
def test_as_in_torch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    assert outcome(engine, name) == outcome(torch, name)
