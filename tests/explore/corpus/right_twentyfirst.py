"""Functions that are right with more axes, bags of one, broadcast arguments and large numbers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class CentredChannels(Function):
    """x: (N, C, *spatial), each channel less its mean over one spatial axis or more."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        assert x.dim() >= 3
        flat = x.reshape(*x.shape[:2], -1)
        return (flat - flat.mean(-1, keepdim=True)).reshape(x.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        flat = grad_output.reshape(*grad_output.shape[:2], -1)
        return (flat - flat.mean(-1, keepdim=True)).reshape(grad_output.shape)

    @staticmethod
    def sample_inputs() -> Any:
        return torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(2, 2, 3).requires_grad_()


class SaturatedCrossEntropy(Function):
    """Binary cross entropy of logits; its gradient takes exponentials of negative numbers only."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, target: Tensor) -> Tensor:
        ctx.save_for_backward(logits, target)
        return (logits.clamp_min(0) - logits * target + torch.log1p(torch.exp(-logits.abs()))).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        logits, target = ctx.saved_tensors
        e = torch.exp(-logits.abs())
        p = torch.where(logits >= 0, 1 / (1 + e), e / (1 + e))
        return grad_output * (p - target), None

    @staticmethod
    def sample_inputs() -> Any:
        logits = torch.tensor([1.2, -3.1, 0.4, -1.9], dtype=torch.float64)
        return logits.requires_grad_(), torch.tensor([1.0, 0, 1, 0], dtype=torch.float64)


class LiftedNorm(Function):
    """Root mean square over the last axis; half precision is lifted to single both ways."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, eps: float = 1e-6) -> Tensor:
        wide = x.float() if x.dtype == torch.float16 else x
        scale = torch.rsqrt((wide * wide).mean(-1, keepdim=True) + eps)
        ctx.save_for_backward(wide, scale)
        return (wide * scale).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        wide, scale = ctx.saved_tensors
        grad = grad_output.to(wide.dtype)
        unit = wide * scale
        found = scale * (grad - unit * (grad * unit).mean(-1, keepdim=True))
        return found.to(grad_output.dtype), None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)
        return x.requires_grad_()


class QueueScores(Function):
    """Scores against a bank, a buffer of which the last rows are overwritten by the keys."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, keys: Tensor, bank: Tensor) -> Tensor:
        assert keys.shape == x.shape
        assert len(bank) >= len(keys)
        before = bank.clone()
        bank[len(bank) - len(keys) :] = keys
        ctx.save_for_backward(before)
        return x @ before.t()

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (before,) = ctx.saved_tensors
        return grad_output @ before, None, None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3)
        bank = torch.linspace(0.1, 1.2, 12, dtype=torch.float64).reshape(4, 3)
        return x.requires_grad_(), x.detach().sin(), bank


class OrderedHazard(Function):
    """Sum of the risks of all whose time is not less than that of each entry."""

    @staticmethod
    def forward(ctx: Any, risk: Tensor, time: Tensor) -> Tensor:
        at_risk = (time[None, :] >= time[:, None]).to(risk.dtype)
        ctx.save_for_backward(at_risk)
        return at_risk @ risk

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (at_risk,) = ctx.saved_tensors
        return at_risk.t() @ grad_output, None

    @staticmethod
    def sample_inputs() -> Any:
        risk = torch.linspace(-1, 1, 5, dtype=torch.float64).requires_grad_()
        return risk, torch.tensor([3.0, 1.0, 2.5, 7.0, 4.2], dtype=torch.float64)
