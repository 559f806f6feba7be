"""Functions that are random, or keep statistics, where a flag says so."""

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
