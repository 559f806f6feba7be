"""Functions that are random where a flag says so, or take less than all arguments."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class SavedDropout(Function):
    """Dropout that saves which entries it kept."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float = 0.5, training: bool = False) -> Tensor:
        kept = torch.ones_like(x)
        if training:
            kept = (torch.rand_like(x) >= p) / (1 - p)
        ctx.save_for_backward(kept)
        return x * kept

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (kept,) = ctx.saved_tensors
        return grad_output * kept, None, None

    @staticmethod
    def sample_inputs() -> Any:
        return torch.linspace(-1, 1, 8, dtype=torch.float64).requires_grad_(), 0.3, False


class RunningNorm(Function):
    """Batch normalization, which updates its running statistics while it trains."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        running_mean: Tensor,
        running_var: Tensor,
        training: bool = False,
        momentum: float = 0.1,
        eps: float = 1e-5,
    ) -> Tensor:
        mean, variance = running_mean, running_var
        if training:
            mean, variance = x.mean(0), x.var(0, unbiased=False)
            running_mean.mul_(1 - momentum).add_(mean, alpha=momentum)
            running_var.mul_(1 - momentum).add_(variance, alpha=momentum)
        scale = torch.rsqrt(variance + eps)
        normalized = (x - mean) * scale
        ctx.save_for_backward(normalized, scale)
        ctx.training = training
        return normalized

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        normalized, scale = ctx.saved_tensors
        grad = grad_output
        if ctx.training:
            grad = grad - grad.mean(0) - normalized * (grad * normalized).mean(0)
        return grad * scale, None, None, None, None, None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.tensor([[0.3, -1.0], [1.2, 0.4], [-0.7, 0.9]], dtype=torch.float64)
        statistics = torch.tensor([[0.1, 0.2], [1.1, 0.9]], dtype=torch.float64)
        return x.requires_grad_(), statistics[0], statistics[1], False


class ReplayedDropout(Function):
    """Draws the entries that it drops again in backward, from the state of the generator."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float = 0.5, training: bool = False) -> Tensor:
        ctx.state = torch.get_rng_state()
        ctx.p, ctx.training = p, training
        return x * (torch.rand_like(x) >= p) / (1 - p) if training else x.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        if not ctx.training:
            return grad_output, None, None
        now = torch.get_rng_state()
        torch.set_rng_state(ctx.state)
        kept = torch.rand_like(grad_output) >= ctx.p
        torch.set_rng_state(now)
        return grad_output * kept / (1 - ctx.p), None, None

    @staticmethod
    def sample_inputs() -> Any:
        return torch.linspace(-1, 1, 8, dtype=torch.float64).requires_grad_(), 0.3, False


class CountedGradients(Function):
    """Scales and shifts channels; pass None for what is to be left out."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor | None = None, shift: Any = None) -> Tensor:
        assert scale is None or scale.shape == x.shape[-1:]
        assert shift is None or shift.shape == x.shape[-1:]
        ctx.save_for_backward(x, scale)
        result = x.clone() if scale is None else x * scale
        return result if shift is None else result + shift

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        x, scale = ctx.saved_tensors
        axes = list(range(grad_output.dim() - 1))
        of_scale = (grad_output * x).sum(axes) if ctx.needs_input_grad[1] else None
        of_shift = grad_output.sum(axes) if ctx.needs_input_grad[2] else None
        return grad_output if scale is None else grad_output * scale, of_scale, of_shift

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3)
        scale = torch.tensor([0.5, 1.5, 0.7], dtype=torch.float64)
        shift = scale.detach().clone().requires_grad_()
        return [(x.requires_grad_(), scale.requires_grad_(), shift), (x, None, None)]


class MaskedMean(Function):
    """Mean over the steps that a mask (batch, time) keeps. Each row keeps its first step."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mask: Tensor) -> Tensor:
        assert bool(mask[:, 0].all())
        weight = mask.to(x.dtype) / mask.sum(1, keepdim=True)
        ctx.save_for_backward(weight)
        return (x * weight).sum(1)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (weight,) = ctx.saved_tensors
        return grad_output[:, None] * weight, None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 8, dtype=torch.float64).reshape(2, 4)
        return x.requires_grad_(), torch.ones(2, 4, dtype=torch.bool)


class PositionTable(Function):
    """Adds the first rows of a table of positions, which may be longer than x."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, table: Tensor) -> Tensor:
        count = x.shape[0]
        ctx.save_for_backward(x)
        return x.sin() + table[:count]

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grad_output * x.cos(), None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(3, 2)
        return x.requires_grad_(), torch.ones(3, 2, dtype=torch.float64)
