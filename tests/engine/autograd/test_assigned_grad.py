"""What ``grad`` may be set to, and the dtype that it has."""

from __future__ import annotations

from typing import Any

import pytest


def leaf(torch: Any) -> Any:
    return torch.ones(2, requires_grad=True)


def test_a_gradient_of_another_kind_is_refused(torch: Any) -> None:
    x = leaf(torch)
    for value, error, message in [
        (3, TypeError, "expected to be a Tensor or None but got grad of type int"),
        (torch.ones(3), RuntimeError, r"of size '\[3\]' to a tensor of size '\[2\]'"),
        (torch.ones(2).double(), RuntimeError, "dtype 'double' to a tensor with grad_dtype 'Float"),
        (torch.ones(2).half(), RuntimeError, "with dtype 'c10::Half' to a tensor with grad_dtype"),
        (x, RuntimeError, "can't assign Variable as its own grad"),
    ]:
        with pytest.raises(error, match=message):
            x.grad = value


def test_a_gradient_is_cast_to_the_dtype_that_is_set(torch: Any) -> None:
    x = leaf(torch)
    assert x.grad_dtype is torch.float32
    x.grad_dtype = torch.float64
    seen: list[Any] = []
    x.register_hook(lambda grad: seen.append(grad.dtype))
    out = (x * 2).sum()
    assert torch.autograd.grad(out, x, retain_graph=True)[0].dtype is torch.float64
    out.backward()
    assert x.grad.dtype is torch.float64
    assert seen == [torch.float64] * 2
    with pytest.raises(RuntimeError, match="because there is already a gradient with dtype"):
        x.grad_dtype = torch.float32


def test_a_gradient_may_have_any_dtype(torch: Any) -> None:
    class Double(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad.double()

    x = leaf(torch)
    Double.apply(x).sum().backward()
    assert x.grad.dtype is torch.float32
    x.grad = None
    x.grad_dtype = None
    Double.apply(x).sum().backward()
    assert x.grad.dtype is torch.float64


def test_the_dtype_of_a_gradient_is_a_matter_of_leaves(torch: Any) -> None:
    y = leaf(torch) * 2
    with pytest.raises(RuntimeError, match="can only be accessed on leaf tensors"):
        y.grad_dtype  # noqa: B018 - asking is the point
    with pytest.raises(RuntimeError, match="can only be set on leaf tensors"):
        y.grad_dtype = torch.float64
    with pytest.raises(RuntimeError, match=r"must be a torch\.dtype or None, but got str"):
        leaf(torch).grad_dtype = "float64"
