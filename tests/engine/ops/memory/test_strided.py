"""``as_strided`` of views, of overlapping memory, and what it shows beyond its input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine

PROGRAMS: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "part": lambda t, x: (x, x.t()[1:3].as_strided((2, 2), (4, 1)) ** 2),
    "outside of a part": lambda t, x: (x, x.t()[1:3].as_strided((2, 2), (3, 1), 0) ** 2),
    "overlapping windows": lambda t, x: (x, x.as_strided((3, 4), (2, 1), 1) ** 2),
    "overlapping input": lambda t, x: (x, x[0].expand(3, 4).as_strided((3,), (1,)) ** 2),
    "gaps": lambda t, x: (x, x.as_strided((2, 2), (7, 3)) ** 2),
    "nothing": lambda t, x: (x, x.as_strided((0, 2), (7, 3)) ** 2),
    "detached part": lambda t, x: (x, x * x.detach()[1:].as_strided((3, 4), (1, 2), 2)),
    "scatter": lambda t, x: (x, x * t.as_strided_scatter(x.detach(), x[0, :2], (2,), (5,), 3)),
}


def outcome(t: Any, program: Any) -> list[Any]:
    x = t.tensor(np.arange(12.0).reshape(3, 4) / 7, requires_grad=True)
    leaf, out = program(t, x)
    (gradient,) = t.autograd.grad(out.sum(), leaf, create_graph=True)
    found = [out.tolist(), gradient.tolist()]
    if gradient.requires_grad:
        (second,) = t.autograd.grad(gradient.sum(), leaf, allow_unused=True)
        found.append(None if second is None else second.tolist())
    return found


@pytest.mark.torch
@pytest.mark.parametrize("name", PROGRAMS)
def test_memory_is_seen_as_torch_sees_it(name: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    assert outcome(engine, PROGRAMS[name]) == outcome(torch, PROGRAMS[name])


def test_the_offset_counts_from_the_start_of_the_memory() -> None:
    x = engine.arange(10)
    assert x[4:][1:].storage_offset() == 5
    assert x[4:].detach().as_strided((2,), (1,), 0).tolist() == [0, 1]


def test_a_tangent_without_more_memory_is_zero_there() -> None:
    x = engine.arange(6.0)[2:4]
    _, tangent = engine.func.jvp(lambda x: x.as_strided((3,), (1,), 1), (x,), (engine.ones(2),))
    assert tangent.tolist() == [0, 1, 1]


def test_what_is_replaced_gets_no_gradient() -> None:
    x = engine.ones(2, 2, requires_grad=True)
    out = engine.as_strided_scatter(x, engine.zeros(2), (2,), (3,), 0)
    assert engine.autograd.grad(out.sum(), x)[0].tolist() == [[0, 1], [1, 0]]
