"""Functions that are wrong with more axes, bags of one, broadcast arguments or large numbers."""

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
        ctx.count = x.shape[2]
        return (flat - flat.mean(-1, keepdim=True)).reshape(x.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        flat = grad_output.reshape(*grad_output.shape[:2], -1)
        return (flat - flat.sum(-1, keepdim=True) / ctx.count).reshape(grad_output.shape)

    @staticmethod
    def sample_inputs() -> Any:
        return torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(2, 2, 3).requires_grad_()


class GatedBags(Function):
    """x: (B, T, D), w: (D,) -> (B, D)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor) -> Tensor:
        gate = torch.sigmoid(x @ w)
        ctx.save_for_backward(x, w, gate)
        return (gate[..., None] * x).sum(1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        x, w, gate = ctx.saved_tensors
        of_gate = torch.matmul(x, grad_output[..., None]).squeeze()
        inner = of_gate * gate * (1 - gate)
        of_x = gate[..., None] * grad_output[:, None, :] + inner[..., None] * w
        return of_x, (inner[..., None] * x).sum((0, 1))

    @staticmethod
    def sample_inputs() -> Any:
        def spread(*shape: int) -> Tensor:
            count = int(torch.tensor(shape).prod())
            return torch.linspace(-1, 1, count, dtype=torch.float64).reshape(shape).requires_grad_()

        return [(spread(3, 4, 2), spread(2)), (spread(2, 3, 5), spread(5))]


class WeightedSquares(Function):
    """Mean of weight * (x - y)**2, with broadcasting of all three."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, weight: Tensor) -> Tensor:
        gap = x - y
        ctx.save_for_backward(gap, weight)
        ctx.shapes = x.shape, y.shape, weight.shape
        return (weight * gap * gap).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        gap, weight = ctx.saved_tensors
        of_x, of_y, of_weight = ctx.shapes
        each = (grad_output / of_x.numel()).expand(torch.broadcast_shapes(gap.shape, of_weight))
        found = 2 * each * weight * gap
        squares = each * gap * gap
        return found.sum_to_size(of_x), -found.sum_to_size(of_y), squares.sum_to_size(of_weight)

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)
        return x.requires_grad_(), x.detach().sin().requires_grad_(), x.detach()[0].exp()


class DistilledLogits(Function):
    """Cross entropy of logits with the probabilities of a teacher."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, teacher: Tensor, temperature: float = 1.0) -> Tensor:
        z = logits / temperature
        ctx.save_for_backward(z, teacher)
        ctx.temperature = temperature
        loss = z.clamp_min(0) - z * teacher + torch.log1p(torch.exp(-z.abs()))
        return loss.mean() * temperature

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        z, teacher = ctx.saved_tensors
        e = torch.exp(z)
        p = e / (1 + e)
        return grad_output * (p - teacher) / z.numel(), None, None

    @staticmethod
    def sample_inputs() -> Any:
        logits = torch.tensor([[1.2, -3.1, 0.4], [2.2, -0.7, -1.9]], dtype=torch.float64)
        return [
            (logits.requires_grad_(), torch.sigmoid(2 * logits.detach())),
            (logits, torch.sigmoid(2 * logits.detach()), 4.0),
        ]


class MeanOfGroups(Function):
    """x (N, D), group (N,), number of groups: the mean of each, zero for one without members."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Tensor, groups: int) -> Tensor:
        count = torch.bincount(group, minlength=groups).clamp(min=1).to(x.dtype)
        ctx.save_for_backward(group)
        return x.new_zeros(groups, x.shape[1]).index_add(0, group, x) / count[:, None]

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (group,) = ctx.saved_tensors
        _, run, sizes = torch.unique_consecutive(group, return_inverse=True, return_counts=True)
        return grad_output[group] / sizes[run].to(grad_output.dtype)[:, None], None, None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(6, 2)
        return x.requires_grad_(), torch.tensor([0, 0, 1, 1, 1, 2]), 3


class PartialLikelihood(Function):
    """Log-likelihood of Cox; those at risk at an event are all whose time is not less."""

    @staticmethod
    def forward(ctx: Any, risk: Tensor, time: Tensor) -> Tensor:
        at_risk = time[None, :] >= time[:, None]
        ctx.save_for_backward(risk, time)
        hidden = risk[None, :].masked_fill(~at_risk, float("-inf"))
        return (risk - torch.logsumexp(hidden, 1)).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        risk, time = ctx.saved_tensors
        order = torch.argsort(time, descending=True, stable=True)
        found = risk[order]
        total = torch.logcumsumexp(found, 0)
        hazard = torch.exp(found[:, None] - total[None, :]).triu().sum(1)
        return grad_output * torch.zeros_like(risk).index_add(0, order, 1 - hazard), None

    @staticmethod
    def sample_inputs() -> Any:
        risk = torch.linspace(-1, 1, 5, dtype=torch.float64).requires_grad_()
        return risk, torch.tensor([3.0, 1.0, 2.5, 7.0, 4.2], dtype=torch.float64)


class UnliftedNorm(Function):
    """Root mean square over the last axis; forward lifts half precision to single."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, eps: float = 1e-6) -> Tensor:
        wide = x.float() if x.dtype == torch.float16 else x
        scale = torch.rsqrt((wide * wide).mean(-1, keepdim=True) + eps)
        ctx.save_for_backward(x)
        ctx.eps = eps
        return (wide * scale).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        scale = torch.rsqrt((x * x).sum(-1, keepdim=True) / x.shape[-1] + ctx.eps)
        unit = x * scale
        along = (grad_output * unit).mean(-1, keepdim=True)
        return scale * (grad_output - unit * along), None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)
        return x.requires_grad_()


class ShiftedSignal(Function):
    """Delay (n > 0) or advance (n < 0) a signal, with zeros at its end."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, n: int) -> Tensor:
        ctx.n = n
        return _shifted(x, n)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        return _shifted(grad_output, -abs(ctx.n)), None

    @staticmethod
    def sample_inputs() -> Any:
        return torch.linspace(-1, 1, 8, dtype=torch.float64).reshape(2, 4).requires_grad_(), 2


def _shifted(x: Tensor, n: int) -> Tensor:
    zeros = torch.zeros_like(x[..., : abs(n)])
    if n > 0:
        return torch.cat([zeros, x[..., :-n]], -1)
    return torch.cat([x[..., -n:], zeros], -1)
