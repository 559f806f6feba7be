"""A tensor is shown as PyTorch shows it, to the character."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradtool.engine as engine

SHOWN: list[Callable[[Any], Any]] = [
    lambda t: t.tensor(1.0),
    lambda t: t.tensor(-3),
    lambda t: t.tensor([1.0, -2.5]),
    lambda t: t.tensor([[1, 200], [-3, 4]]),
    lambda t: t.tensor([True, False]),
    lambda t: t.tensor([]),
    lambda t: t.zeros(0, 3),
    lambda t: t.zeros(0, dtype=t.int64),
    lambda t: t.zeros(2, 0, dtype=t.int32),
    lambda t: t.tensor([1e-5, 1.0]),
    lambda t: t.tensor([-1.0, 1000.5]),
    lambda t: t.tensor([1e9]),
    lambda t: t.tensor([t.nan, 1.0, t.inf]),
    lambda t: t.tensor([t.nan, 1.5, -t.inf]),
    lambda t: t.tensor([t.nan, t.nan]),
    lambda t: t.tensor([0.0, 0.0]),
    lambda t: t.tensor([1 + 10j, 20.5 - 3j]),
    lambda t: t.tensor([1 + 1j, 2 - 3j]),
    lambda t: t.tensor(99999.5),
    lambda t: t.arange(40.0) / 7,
    lambda t: t.arange(120).reshape(2, 60),
    lambda t: t.arange(24.0).reshape(2, 3, 4),
    lambda t: t.zeros(2, 2, 2, 2),
    lambda t: t.arange(2000),
    lambda t: t.arange(12000.0).reshape(60, 200),
    lambda t: t.zeros(7, 11, 13) > 0,
    lambda t: t.arange(1500).reshape(2, 750) * 1.5,
    lambda t: t.ones(2, dtype=t.float16),
    lambda t: t.ones(2, 2, dtype=t.float64, requires_grad=True),
    lambda t: t.ones(2, 2, requires_grad=True) * 1.5,
    lambda t: t.ones(12, dtype=t.float64).requires_grad_() * 2,
    lambda t: t.ones(3, 14, dtype=t.float64).requires_grad_(),
    lambda t: t.ones(3, requires_grad=True)[0],
]


@pytest.mark.torch
@pytest.mark.parametrize("make", SHOWN)
def test_is_shown_as_in_torch(make: Callable[[Any], Any]) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    assert repr(make(engine)) == repr(make(torch))


def test_names_what_is_not_as_by_default() -> None:
    x = engine.tensor([[1.0, 2.0]], dtype=engine.float64, requires_grad=True)
    assert repr(x) == "tensor([[1., 2.]], dtype=torch.float64, requires_grad=True)"
    assert repr(x * 2.25) == (
        "tensor([[2.2500, 4.5000]], dtype=torch.float64, grad_fn=<MulBackward0>)"
    )


def test_a_large_tensor_is_shown_by_its_edges() -> None:
    assert repr(engine.arange(2000)) == "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"


def test_named_tuples_name_their_function() -> None:
    assert repr(engine.tensor([2, 1]).sort()) == (
        "torch.return_types.sort(\nvalues=tensor([1, 2]),\nindices=tensor([1, 0]))"
    )
