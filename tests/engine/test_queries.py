"""Queries of the library that published code makes: checks, autocast, transforms."""

from __future__ import annotations

import importlib
from typing import Any

import pytest


def core(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}._C")


def test_a_check_raises_with_its_message(torch: Any) -> None:
    torch._check(True)
    with pytest.raises(RuntimeError, match=r"^Expected cond to be True, but got False"):
        torch._check(False)
    with pytest.raises(RuntimeError, match=r"^3 rows$"):
        torch._check(False, lambda: "3 rows")


def test_the_dtypes_of_autocast(torch: Any) -> None:
    assert torch.get_autocast_dtype("cpu") is torch.bfloat16
    assert torch.get_autocast_dtype("cuda") is torch.float16


def test_a_transform_is_active_inside_only(torch: Any) -> None:
    seen = []

    def function(x: Any) -> Any:
        seen.append(core(torch)._are_functorch_transforms_active())
        return x.sin().sum()

    x = torch.ones(2, dtype=torch.float64)
    function(x)
    torch.func.grad(function)(x)
    function(x)
    assert seen == [False, True, False]


def test_batched_gradients_are_of_the_old_kind_outside_of_func(torch: Any) -> None:
    seen = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return 2 * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            seen.append(core(torch)._functorch.is_legacy_batchedtensor(grad))
            return 2 * grad

    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    torch.autograd.grad(Double.apply(x), x, torch.ones(2, dtype=torch.float64))
    batch = torch.ones(3, 2, dtype=torch.float64)
    torch.autograd.grad(Double.apply(x), x, batch, is_grads_batched=True)
    assert seen == [False, True]


def test_what_a_tensor_contains(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    assert 2 in x
    with pytest.raises(RuntimeError, match="only supports Tensor or scalar, but you passed in a"):
        _ = "2" in x
    assert list(reversed(x)) == [2, 1]
