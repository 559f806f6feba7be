"""Functions that are wrong with another flag, word, mask, label or shape than at their samples."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional


def _block(x: Tensor, weight: Tensor, p: float, training: bool) -> Tensor:
    return functional.dropout(torch.tanh(x @ weight.t()), p, training)


class RecomputedDropout(Function):
    """Runs the block once more in backward, whose dropout then drops other entries."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, p: float = 0.5, training: bool = False) -> Any:
        ctx.save_for_backward(x, weight)
        ctx.p, ctx.training = p, training
        return _block(x, weight, p, training)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        x, weight = (each.detach().requires_grad_() for each in ctx.saved_tensors)
        with torch.enable_grad():
            again = _block(x, weight, ctx.p, ctx.training)
        return (*torch.autograd.grad(again, (x, weight), grad_output), None, None)

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)
        weight = torch.linspace(0.2, 1.3, 20, dtype=torch.float64).reshape(5, 4)
        return x.requires_grad_(), weight.requires_grad_(), 0.4, False


class RunningNormWithoutMean(Function):
    """Batch normalization whose backward keeps the mean of the batch constant."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, running_mean: Tensor, running_var: Tensor, training: bool = False
    ) -> Tensor:
        mean, variance = running_mean, running_var
        if training:
            mean, variance = x.mean(0), x.var(0, unbiased=False)
            running_mean.mul_(0.9).add_(mean, alpha=0.1)
            running_var.mul_(0.9).add_(variance, alpha=0.1)
        scale = torch.rsqrt(variance + 1e-5)
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
            grad = grad - normalized * (grad * normalized).mean(0)
        return grad * scale, None, None, None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.tensor([[0.3, -1.0], [1.2, 0.4], [-0.7, 0.9]], dtype=torch.float64)
        statistics = torch.tensor([[0.1, 0.2], [1.1, 0.9]], dtype=torch.float64)
        return x.requires_grad_(), statistics[0], statistics[1], False


class ReducedDivergence(Function):
    """Divergence of a normal distribution from the standard one.

    reduction: "sum", "mean" over all entries, or "batchmean", the sum over the batch size.
    """

    @staticmethod
    def forward(ctx: Any, mean: Tensor, log_variance: Tensor, reduction: str = "mean") -> Tensor:
        ctx.save_for_backward(mean, log_variance)
        ctx.reduction = reduction
        found = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance)
        if reduction == "sum":
            return found.sum()
        if reduction == "mean":
            return found.mean()
        if reduction == "batchmean":
            return found.sum() / len(mean)
        raise ValueError(reduction)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        mean, log_variance = ctx.saved_tensors
        if ctx.reduction != "sum":
            grad_output = grad_output / mean.numel()
        return grad_output * mean, grad_output * 0.5 * (log_variance.exp() - 1), None

    @staticmethod
    def sample_inputs() -> Any:
        mean = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3)
        return mean.requires_grad_(), (mean.detach() / 2).requires_grad_(), "mean"


class PaddedTransitions(Function):
    """Score of all paths through a chain. mask (batch, time): true up to the length of each."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, transitions: Tensor, mask: Tensor) -> Tensor:
        assert bool(mask[:, 0].all())
        alpha = scores[:, 0]
        rows = [alpha]
        for t in range(1, scores.shape[1]):
            after = torch.logsumexp(alpha[:, :, None] + transitions, 1) + scores[:, t]
            alpha = torch.where(mask[:, t, None], after, alpha)
            rows.append(alpha)
        total = torch.logsumexp(alpha, 1)
        ctx.save_for_backward(scores, transitions, mask, torch.stack(rows, 1), total)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        scores, transitions, mask, alphas, total = ctx.saved_tensors
        beta = torch.zeros_like(scores[:, 0])
        of_scores, of_transitions = torch.zeros_like(scores), torch.zeros_like(transitions)
        for t in reversed(range(scores.shape[1])):
            here = torch.exp(alphas[:, t] + beta - total[:, None])
            of_scores[:, t] = here * mask[:, t, None] * grad_output[:, None]
            if t:
                step = transitions + (scores[:, t] + beta)[:, None, :]
                pair = torch.exp(alphas[:, t - 1, :, None] + step - total[:, None, None])
                of_transitions += (pair * grad_output[:, None, None]).sum(0)
                beta = torch.where(mask[:, t, None], torch.logsumexp(step, 2), beta)
        return of_scores, of_transitions, None

    @staticmethod
    def sample_inputs() -> Any:
        scores = torch.linspace(-1, 1, 18, dtype=torch.float64).reshape(2, 3, 3).sin()
        transitions = torch.linspace(0.3, 1.1, 9, dtype=torch.float64).reshape(3, 3)
        mask = torch.ones(2, 3, dtype=torch.bool)
        return scores.requires_grad_(), transitions.requires_grad_(), mask


class RepeatedNeighbors(Function):
    """Weights each entry of x by one more than the number of neighbors with the same label."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, labels: Tensor) -> Tensor:
        padded = torch.zeros(len(labels) + 1, dtype=labels.dtype) - 1
        padded[1:] = labels
        same = (padded[1:] == padded[:-1]).to(x.dtype)
        ctx.save_for_backward(x)
        return (1 + same) * x.sin()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grad_output * x.cos(), None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 3, dtype=torch.float64)
        return x.requires_grad_(), torch.tensor([2, 0, 1])


class PartlyRotated(Function):
    """Turns pairs of the first features of x, one for each column of the angles."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        count = cosine.shape[-1]
        assert count % 2 == 0
        assert count <= x.shape[-1]
        ctx.save_for_backward(cosine, sine)
        turned, rest = x[..., :count], x[..., count:]
        left, right = turned.chunk(2, -1)
        turned = turned * cosine + torch.cat([-right, left], -1) * sine
        return torch.cat([turned, rest], -1)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        cosine, sine = ctx.saved_tensors
        count = cosine.shape[-1]
        left, right = (grad_output[..., :count] * sine).chunk(2, -1)
        found = torch.zeros_like(grad_output)
        found[..., :count] = grad_output[..., :count] * cosine + torch.cat([right, -left], -1)
        return found, None, None

    @staticmethod
    def sample_inputs() -> Any:
        angles = torch.linspace(0.1, 0.9, 6, dtype=torch.float64).reshape(3, 2)
        angles = torch.cat([angles, angles], -1)
        x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)
        return x.requires_grad_(), angles.cos(), angles.sin()


class ScaleAndShift(Function):
    """scale * x + shift, with broadcasting of scale and shift against x."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        assert scale.shape == shift.shape
        result = scale * x + shift
        assert result.shape == x.shape
        ctx.save_for_backward(x, scale)
        return result

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        x, scale = ctx.saved_tensors
        count = scale.numel()
        of_scale = (grad_output * x).reshape(-1, count).sum(0).view(scale.shape)
        return (
            grad_output * scale,
            of_scale,
            grad_output.reshape(-1, count).sum(0).view(scale.shape),
        )

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(4, 3)
        scale = torch.tensor([0.5, 1.5, 0.7], dtype=torch.float64)
        return x.requires_grad_(), scale.requires_grad_(), (scale.detach() / 3).requires_grad_()
