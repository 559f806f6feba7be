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


SHOWN_AS_ELSEWHERE: list[Callable[[Any, Any], Any]] = [
    lambda t, x: t.vmap(lambda row: told(row, row * 2))(x),
    lambda t, x: t.func.grad(lambda y: told(y, y.sum()))(x),
    lambda t, x: t.vmap(t.func.grad(lambda y: told(y, y.sum())))(x),
    lambda t, x: t.func.jvp(lambda y: told(y, y * 2), (x,), (x,)),
    lambda t, x: TOLD.extend([f"{x[0, 0]}", f"{x[0, 0]:.2f}", f"{x.sum()}", f"{x}"]),
]
TOLD: list[str] = []


def told(shown: Any, returned: Any) -> Any:
    TOLD.append(repr(shown))
    return returned


@pytest.mark.torch
@pytest.mark.parametrize("show", SHOWN_AS_ELSEWHERE)
def test_tensors_inside_transforms_look_as_pytorchs(show: Callable[[Any, Any], Any]) -> None:
    assert shown_by(engine, show) == shown_by(pytest.importorskip("torch"), show)


def shown_by(torch: Any, show: Callable[[Any, Any], Any]) -> list[str]:
    TOLD.clear()
    show(torch, torch.tensor([[0.1, 1.0], [2.0, 3.0]]))
    return TOLD.copy()


@pytest.mark.torch
def test_dual_tensors_show_their_tangents() -> None:
    assert dual(engine) == dual(pytest.importorskip("torch"))


def dual(torch: Any) -> list[str]:
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.ones(2), torch.arange(2.0))
        scalar = forward_ad.make_dual(torch.tensor(1.0), torch.tensor(2.0))
        return [repr(x), repr(x * 3), repr(scalar), repr(forward_ad.unpack_dual(x))]


@pytest.mark.torch
@pytest.mark.parametrize("sci_mode", [True, False, None])
def test_notation_may_be_chosen(sci_mode: bool | None) -> None:
    assert in_notation(engine, sci_mode) == in_notation(pytest.importorskip("torch"), sci_mode)


def in_notation(torch: Any, sci_mode: bool | None) -> list[str]:
    torch.set_printoptions(sci_mode=sci_mode)
    try:
        return [repr(torch.tensor(each)) for each in ([1.0, 2.5, 1e-6], [1, 2], [1.0, 2.0], 1e6)]
    finally:
        torch.set_printoptions(profile="default")
