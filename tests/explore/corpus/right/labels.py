"""Functions that are right for masks, labels, lengths, counts and weights as they are meant."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class OrderedClasses(Function):
    """Negative log likelihood of ordered classes between cutpoints that increase."""

    @staticmethod
    def forward(ctx, score, cutpoints, classes):
        ends = F.pad(cutpoints, (1, 0), value=-50.0)
        ends = F.pad(ends, (0, 1), value=50.0)
        above, below = (torch.sigmoid(ends[classes + k] - score) for k in (1, 0))
        mass = above - below
        ctx.save_for_backward(above, below, mass, classes)
        ctx.count = len(cutpoints)
        return -mass.log().sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        above, below, mass, classes = ctx.saved_tensors
        of_above, of_below = g * above * (1 - above) / mass, g * below * (1 - below) / mass
        ends = g.new_zeros(ctx.count + 2)
        ends = ends.index_add(0, classes + 1, -of_above).index_add(0, classes, of_below)
        return of_above - of_below, ends[1:-1], None

    @staticmethod
    def sample_inputs():
        cutpoints = torch.tensor([-0.7, 0.2, 1.1], dtype=torch.double, requires_grad=True)
        yield draw(4), cutpoints, torch.tensor([0, 3, 1, 2])


class RisksInOrder(Function):
    """Mean logarithm of the sum of risks (N,) so far at times (N,), which must not ascend."""

    @staticmethod
    def forward(ctx: Any, risks: Tensor, times: Tensor) -> Tensor:
        if bool((times[1:] > times[:-1]).any()):
            raise ValueError("times must not ascend")
        last = torch.searchsorted(-times, -times, right=True) - 1
        ctx.save_for_backward(risks, last)
        return risks.logcumsumexp(0)[last].mean()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        risks, last = ctx.saved_tensors
        sums = risks.logcumsumexp(0)[last]
        is_in = torch.arange(len(risks))[None] <= last[:, None]
        shares = (risks[None] - sums[:, None]).masked_fill(~is_in, -torch.inf).exp()
        return g * shares.mean(0), None

    @staticmethod
    def sample_inputs() -> Any:
        yield rand(5), torch.tensor([9.0, 7.0, 7.0, 2.0, 2.0], dtype=torch.float64)


class CrossEntropyOfTargets(Function):
    """Mean over rows of the cross entropy of logits (N, C) and targets (N, C), whose rows add up
    to one."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor) -> Tensor:
        logs = torch.log_softmax(logits, -1)
        ctx.save_for_backward(logs, targets)
        return -(targets * logs).sum(-1).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        logs, targets = ctx.saved_tensors
        return g * (logs.exp() - targets) / len(logs), None

    @staticmethod
    def sample_inputs() -> Any:
        yield rand(3, 4), torch.eye(4, dtype=torch.float64)[:3]


class CallOrPut(Function):
    """Payoff of an option: `side` is 1 for a call, -1 for a put."""

    @staticmethod
    def forward(ctx: Any, price: Tensor, strike: Tensor, side: Tensor | int = 1) -> Tensor:
        sides = torch.as_tensor(side, dtype=price.dtype)
        gap = sides * (price - strike)
        ctx.save_for_backward(torch.sigmoid(8 * gap), sides)
        return torch.nn.functional.softplus(8 * gap) / 8

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, None]:
        inside, sides = ctx.saved_tensors
        # A side is its own sign.
        slope = g * inside * sides.sign()
        return slope, -slope, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(3), draw(3, seed=1)
        yield draw(3), draw(3, seed=1), torch.tensor([1, -1, -1])


class BagOfRows(Function):
    """The sum of rows of a table (V, D) by ids (N,); the id `padding` is left out."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, ids: Tensor, padding: int | None = None) -> Tensor:
        keep = torch.ones_like(ids, dtype=torch.bool) if padding is None else ids != padding
        ctx.save_for_backward(ids, keep)
        ctx.rows = table.shape[0]
        return (table[ids] * keep[:, None]).sum(0)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        ids, keep = ctx.saved_tensors
        rows = keep[:, None].to(g.dtype) * g
        return g.new_zeros(ctx.rows, g.shape[0]).index_add(0, ids, rows), None, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(5, 2), torch.tensor([1, 0, 1, 3]), 3
        yield draw(5, 2), torch.tensor([1, 0, 1, 3])


class IgnoredLabel(Function):
    """The cross entropy of the rows whose label is not ignored."""

    @staticmethod
    def forward(ctx, logits, target, ignore_index=-100):
        kept = target != ignore_index
        label = torch.where(kept, target, 0)[:, None]
        log_p = torch.log_softmax(logits, 1)
        ctx.save_for_backward(log_p, label, kept)
        return -(log_p.gather(1, label)[:, 0] * kept).sum() / kept.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        log_p, label, kept = ctx.saved_tensors
        hot = torch.zeros_like(log_p).scatter(1, label, 1.0)
        return g * (log_p.exp() - hot) * kept[:, None] / kept.sum(), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3, seed=185), torch.tensor([0, 2, -100, 1])


class CrossEntropyIgnoring(Function):
    """Labels are classes, or the one to ignore."""

    @staticmethod
    def forward(ctx, x, y, ignore_index=-100):
        keep = y != ignore_index
        logp = torch.log_softmax(x, -1)
        ctx.save_for_backward(logp, y, keep)
        picked = logp.gather(1, y.clamp(min=0).unsqueeze(1)).squeeze(1)
        return -(picked * keep).sum() / keep.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        logp, y, keep = ctx.saved_tensors
        grad = logp.exp()
        grad = grad - torch.nn.functional.one_hot(y.clamp(min=0), logp.shape[1]).to(grad.dtype)
        return g * grad * keep.unsqueeze(1) / keep.sum(), None, None

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), torch.tensor([0, 2, -100, 1])


class HardMargin(Function):
    """A margin of labels that are zero or one."""

    @staticmethod
    def forward(ctx, scores, labels):
        if ((labels != 0) & (labels != 1)).any():
            raise ValueError("labels must be 0 or 1")
        ctx.save_for_backward(scores, labels)
        return torch.relu(1 - (2 * labels - 1) * scores).sum()

    @staticmethod
    def backward(ctx, g):
        scores, labels = ctx.saved_tensors
        inside = torch.where(labels > 0, scores < 1, scores > -1)
        return g * torch.where(inside, 1 - 2 * labels, torch.zeros_like(scores)), None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]], dtype=torch.double)


class GatedByMask(Function):
    """Keep what a mask of zeros and ones marks."""

    @staticmethod
    def forward(ctx, x, mask):
        ctx.save_for_backward(mask)
        return torch.where(mask > 0, x, torch.zeros_like(x))

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]], dtype=torch.double)


class MeanOfKeptSteps(Function):
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


class MaskedMean(Function):
    @staticmethod
    def forward(ctx, x, keep):
        count = keep.sum(-1).clamp(min=1)
        ctx.save_for_backward(keep, count)
        return x.masked_fill(~keep, 0.0).sum(-1) / count

    @staticmethod
    def backward(ctx, grad_output):
        keep, count = ctx.saved_tensors
        return (grad_output / count)[..., None] * keep, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), torch.ones(3, 4, dtype=torch.bool)


class NormalizedWeights(Function):
    @staticmethod
    def forward(ctx, x, weight):
        total = weight.sum()
        mean = (weight * x * x).sum() / total
        ctx.save_for_backward(x, weight, total, mean)
        return mean.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, weight, total, mean = ctx.saved_tensors
        of_weight = grad_output * (x * x - mean) / total if ctx.needs_input_grad[1] else None
        return 2 * grad_output * weight * x / total, of_weight

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, low=0.3).detach()


class SoftmaxOfKept(Function):
    """Each row keeps at least one entry."""

    @staticmethod
    def forward(ctx, x, keep):
        y = x.masked_fill(~keep, -torch.inf).softmax(-1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return y * (grad_output - (y * grad_output).sum(-1, keepdim=True)), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), torch.ones(3, 4, dtype=torch.bool)


class MaskedSoftmax(Function):
    @staticmethod
    def forward(ctx, x, mask):
        p = torch.softmax(x.masked_fill(~mask, float("-inf")), -1)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g - (g * p).sum(-1, keepdim=True)), None

    @staticmethod
    def sample_inputs():
        yield rand(4, 4), torch.tril(torch.ones(4, 4)).bool()


class MeanOfSteps(Function):
    @staticmethod
    def forward(ctx, x, lengths):
        valid = torch.arange(x.shape[1]) < lengths[:, None]
        ctx.save_for_backward(valid, lengths)
        return (x * valid).sum(1) / lengths

    @staticmethod
    def backward(ctx, grad_output):
        valid, lengths = ctx.saved_tensors
        return (grad_output / lengths)[:, None] * valid, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 5), torch.tensor([5, 5, 5])


class LastOfSequence(Function):
    """The last state of each sequence; states (B, T), lengths (B,) in [1, T]."""

    @staticmethod
    def forward(ctx, states, lengths):
        at = (lengths - 1).clamp(min=0)[:, None]
        ctx.save_for_backward(lengths)
        ctx.shape = states.shape
        return states.gather(1, at)[:, 0]

    @staticmethod
    def backward(ctx, grad_output):
        (lengths,) = ctx.saved_tensors
        grad = torch.zeros(ctx.shape, dtype=grad_output.dtype)
        rows = torch.arange(ctx.shape[0])
        grad[rows, lengths - 1] = grad_output
        return grad, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), torch.tensor([4, 2, 3])


class MeanOverCounted(Function):
    @staticmethod
    def forward(ctx, scores, labels, skipped=-1):
        counted = labels != skipped
        safe = labels.clamp(min=0)
        ctx.save_for_backward(scores, safe, counted)
        picked = scores.gather(1, safe[:, None])[:, 0]
        return (picked.square() * counted).sum() / counted.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        scores, safe, counted = ctx.saved_tensors
        picked = scores.gather(1, safe[:, None]) * counted[:, None]
        grad = torch.zeros_like(scores).scatter_(1, safe[:, None], 2 * picked)
        return grad_output * grad / counted.sum(), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), torch.tensor([0, 2, 1, 2]), -1


class DropoutByGivenMask(Function):
    @staticmethod
    def forward(ctx, x, keep, p=0.5):
        ctx.save_for_backward(keep)
        ctx.p = p
        return x * keep / (1 - p)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (keep,) = ctx.saved_tensors
        return g * keep / (1 - ctx.p), None, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), torch.rand(3, 4) > 0.5


class PoissonOfCounts(Function):
    """The Poisson deviance of counts, zero or not."""

    @staticmethod
    def forward(ctx, mu, counts):
        y = counts.to(mu.dtype)
        ctx.save_for_backward(mu, y)
        return 2 * (torch.special.xlogy(y, y / mu) - y + mu)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        mu, y = ctx.saved_tensors
        return 2 * grad_output * (1 - y / mu), None

    @staticmethod
    def sample_inputs():
        yield draw(3, low=0.5, high=3.0), torch.tensor([2, 4, 1])


class ReciprocalOfCounts(Function):
    """Means of groups from sums and counts; every group has a member."""

    @staticmethod
    def forward(ctx, total, count):
        ctx.save_for_backward(count)
        return total / count.clamp(min=1)[:, None]

    @staticmethod
    def backward(ctx, grad_output):
        (count,) = ctx.saved_tensors
        return grad_output / count[:, None], None

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), torch.tensor([2, 4, 1])


class SharedWeights(Function):
    """A weighted mean; weights need not be equal."""

    @staticmethod
    def forward(ctx, x, weights):
        ctx.save_for_backward(weights)
        return (weights[:, None] * x).sum(0) / weights.sum()

    @staticmethod
    def backward(ctx, grad_output):
        (weights,) = ctx.saved_tensors
        return grad_output * (weights / weights.sum())[:, None], None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), torch.full((4,), 0.25, dtype=torch.double)


class BceWithLogits(Function):
    @staticmethod
    def forward(ctx, x, target, pos_weight=1.0):
        ctx.save_for_backward(x, target)
        ctx.w = pos_weight
        return (F.softplus(-x) * target * pos_weight + F.softplus(x) * (1 - target)).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, t = ctx.saved_tensors
        s = torch.sigmoid(x)
        d = -(1 - s) * t * ctx.w + s * (1 - t)
        return g * d / x.numel(), None, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), torch.tensor([[0.0, 1, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0]]).double()


class CrossEntropyInParts(Function):
    """Mean cross entropy of rows (N, D) times `weight` (C, D), a few rows at a time.

    The gradients are made in forward.
    """

    @staticmethod
    def forward(ctx, rows, weight, labels, part=2):
        of_rows, of_weight = torch.empty_like(rows), torch.zeros_like(weight)
        loss = rows.new_zeros(())
        for start in range(0, len(rows), part):
            own, chosen = rows[start : start + part], labels[start : start + part]
            logs = (own @ weight.T).log_softmax(-1)
            loss = loss - logs.gather(1, chosen[:, None]).sum()
            share = logs.exp().scatter_add(1, chosen[:, None], -torch.ones_like(logs[:, :1]))
            of_rows[start : start + part] = share @ weight
            of_weight += share.T @ own
        ctx.save_for_backward(of_rows / len(rows), of_weight / len(rows))
        return loss / len(rows)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        of_rows, of_weight = ctx.saved_tensors
        return g * of_rows, g * of_weight, None, None

    @staticmethod
    def sample_inputs():
        yield draw(5, 3), draw(4, 3, seed=1), torch.tensor([1, 0, 3, 2, 2])


class WeighedDistance(Function):
    """Mean absolute distance; weight: optional, of the same shape, constant."""

    @staticmethod
    def forward(ctx, x, y, weight=None, reduction="mean"):
        apart = x - y
        ctx.reduction = reduction
        ctx.save_for_backward(apart, weight)
        loss = apart.abs() if weight is None else weight * apart.abs()
        return loss.mean() if reduction == "mean" else loss

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        apart, weight = ctx.saved_tensors
        found = g * apart.sign()
        if weight is not None:
            found = found * weight
        if ctx.reduction == "mean":
            found = found / apart.numel()
        return found, -found, None, None

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, seed=1)
