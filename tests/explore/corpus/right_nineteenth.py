"""Functions that are right wherever they are meant for, and wrong beside that."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class BlockwiseDecay(Function):
    """h_t = a h_(t-1) + x_t along the first axis; backward walks blocks from the last."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, a: float = 0.7, block: int = 32) -> Tensor:
        rows = [x[0]]
        for row in x[1:]:
            rows.append(a * rows[-1] + row)
        ctx.a, ctx.block = a, block
        return torch.stack(rows)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        found = list(grad_output)
        for start in range((len(found) - 1) // ctx.block * ctx.block, -1, -ctx.block):
            for at in range(min(start + ctx.block, len(found)) - 1, start - 1, -1):
                if at + 1 < len(found):
                    found[at] = found[at] + ctx.a * found[at + 1]
        return torch.stack(found), None, None

    @staticmethod
    def sample_inputs() -> Any:
        return torch.rand(6, 2, dtype=torch.float64).requires_grad_()


class ExponentialSeries(Function):
    """The exponential function by its series. Entries of x lie in [0, 2]."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, terms: int = 30) -> Tensor:
        total = term = torch.ones_like(x)
        for n in range(1, terms):
            term = term * x / n
            total = total + term
        ctx.save_for_backward(total)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (total,) = ctx.saved_tensors
        return grad_output * total, None

    @staticmethod
    def sample_inputs() -> Any:
        return torch.rand(5, dtype=torch.float64).requires_grad_()


class OneGain(Function):
    """x * (1 + gain), with a single gain."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gain: Tensor) -> Tensor:
        ctx.save_for_backward(x, gain)
        return x * (1 + gain)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        x, gain = ctx.saved_tensors
        return grad_output * (1 + gain), (grad_output * x).sum().reshape(1)

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.rand(2, 3, 4, dtype=torch.float64).requires_grad_()
        return x, torch.full((1,), 0.3, dtype=torch.float64).requires_grad_()


class PairsFiltered(Function):
    """Filters pairs of samples by a response with one number for each pair."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, response: Tensor) -> Tensor:
        pairs = x[..., : 2 * len(response)].reshape(-1, len(response), 2)
        if len(response) != x.shape[-1] // 2:
            raise ValueError("response must have a number for each pair")
        ctx.save_for_backward(response)
        return (pairs * response[:, None]).reshape(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (response,) = ctx.saved_tensors
        pairs = grad_output.reshape(-1, len(response), 2)
        return (pairs * response[:, None]).reshape(grad_output.shape), None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.rand(3, 6, dtype=torch.float64).requires_grad_()
        return x, torch.rand(3, dtype=torch.float64)


class SignedArea(Function):
    """The area of a polygon whose corners are in order, whichever way around."""

    @staticmethod
    def forward(ctx: Any, corners: Tensor) -> Tensor:
        x, y = corners.unbind(-1)
        total = (x * y.roll(-1) - x.roll(-1) * y).sum()
        ctx.save_for_backward(corners, total.sign())
        return total.abs() / 2

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        corners, sign = ctx.saved_tensors
        x, y = corners.unbind(-1)
        moved = torch.stack([y.roll(-1) - y.roll(1), x.roll(1) - x.roll(-1)], -1)
        return grad_output * sign * moved / 2

    @staticmethod
    def sample_inputs() -> Any:
        corners = [[0.1, 0.0], [2.0, 0.2], [1.8, 1.6], [0.2, 1.1]]
        return torch.tensor(corners, dtype=torch.float64).requires_grad_()


class InverseCubic(Function):
    """The inverse of y + y^3, at numbers of very different sizes."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        y = 2 / 3**0.5 * torch.sinh(torch.asinh(1.5 * 3**0.5 * x) / 3)
        y = y - (y + y**3 - x) / (1 + 3 * y * y)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        (y,) = ctx.saved_tensors
        return grad_output / (1 + 3 * y * y)

    @staticmethod
    def sample_inputs() -> Any:
        return torch.tensor([0.0, 1e6, -3e4, 1e-9], dtype=torch.float64).requires_grad_()
