"""Functions that are right at their cases, and wrong where blocks, extents or the order differ."""

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
        for at in range(len(found) - 2, -1, -1):
            if (at + 1) % ctx.block:
                found[at] = found[at] + ctx.a * found[at + 1]
        return torch.stack(found), None, None

    @staticmethod
    def sample_inputs() -> Any:
        return torch.rand(6, 2, dtype=torch.float64).requires_grad_()


class SharedGain(Function):
    """x * (1 + gain), with a gain for all channels or one for each."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gain: Tensor) -> Tensor:
        ctx.save_for_backward(x, gain)
        return x * (1 + gain)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        x, gain = ctx.saved_tensors
        total = (grad_output * x).sum() / gain.numel()
        return grad_output * (1 + gain), total.expand_as(gain)

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.rand(2, 3, 4, dtype=torch.float64).requires_grad_()
        return x, torch.full((1,), 0.3, dtype=torch.float64).requires_grad_()


class HalfSpectrum(Function):
    """A filter of a real signal of n samples, given as n // 2 + 1 frequencies."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, response: Tensor) -> Tensor:
        if response.shape[-1] != x.shape[-1] // 2 + 1:
            raise ValueError("response must have n // 2 + 1 frequencies")
        ctx.save_for_backward(response)
        return torch.fft.irfft(torch.fft.rfft(x) * response, n=x.shape[-1])

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (response,) = ctx.saved_tensors
        return torch.fft.irfft(torch.fft.rfft(grad_output) * response.conj()), None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.rand(3, 6, dtype=torch.float64).requires_grad_()
        return x, torch.rand(4, dtype=torch.complex128)


class TurningNumber(Function):
    """The size of the sum of cross products of successive points."""

    @staticmethod
    def forward(ctx: Any, points: Tensor) -> Tensor:
        ctx.save_for_backward(points)
        x, y = points.unbind(-1)
        return (x * y.roll(-1) - x.roll(-1) * y).sum().abs()

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        (points,) = ctx.saved_tensors
        x, y = points.unbind(-1)
        return grad_output * torch.stack([y.roll(-1) - y.roll(1), x.roll(1) - x.roll(-1)], -1)

    @staticmethod
    def sample_inputs() -> Any:
        corners = [[0.1, 0.0], [2.0, 0.2], [1.8, 1.6], [0.2, 1.1]]
        return torch.tensor(corners, dtype=torch.float64).requires_grad_()


class SmallestByByte(Function):
    """The minimum along the last axis, whose position is kept in a byte."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        values, positions = x.min(dim=-1)
        ctx.save_for_backward(positions.to(torch.uint8))
        ctx.shape = x.shape
        return values

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        (positions,) = ctx.saved_tensors
        found = grad_output.new_zeros(ctx.shape)
        return found.scatter(-1, positions.long()[..., None], grad_output[..., None])

    @staticmethod
    def sample_inputs() -> Any:
        return torch.rand(3, 9, dtype=torch.float64).requires_grad_()
