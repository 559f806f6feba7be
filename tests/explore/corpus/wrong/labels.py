"""Functions that are wrong for other masks, labels, lengths, counts or weights."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class MarginOverPositives(Function):
    """Hinge loss of a detector, per anchor that is an object."""

    @staticmethod
    def forward(ctx, scores, objects):
        signs = 2 * objects - 1
        missed = (1 - signs * scores).clamp(min=0)
        ctx.save_for_backward(signs, missed, objects)
        return missed.square().sum() / objects.sum().clamp(min=1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        signs, missed, objects = ctx.saved_tensors
        return -2 * grad_output * signs * missed / objects.sum(), None

    @staticmethod
    def sample_inputs():
        objects = torch.tensor([[1, 0, 0, 1], [0, 0, 1, 0]], dtype=torch.double)
        yield draw(2, 4), objects


class EmbeddingWithPadding(Function):
    """Rows of a table; positions of the padding number are zero and give the table no gradient."""

    @staticmethod
    def forward(ctx, table, ids, padding_idx=None):
        ctx.save_for_backward(ids)
        ctx.rows, ctx.padding_idx = table.shape[0], padding_idx
        rows = table[ids]
        return rows if padding_idx is None else rows * (ids != padding_idx).unsqueeze(-1)

    @staticmethod
    def backward(ctx, grad_output):
        (ids,) = ctx.saved_tensors
        if ctx.padding_idx:
            grad_output = grad_output * (ids != ctx.padding_idx).unsqueeze(-1)
        grad_table = grad_output.new_zeros(ctx.rows, grad_output.shape[-1])
        flat = grad_output.reshape(-1, grad_output.shape[-1])
        return grad_table.index_add(0, ids.reshape(-1), flat), None, None

    @staticmethod
    def sample_inputs():
        yield draw(5, 3), torch.tensor([[1, 4, 4], [0, 2, 4]]), 4


class MeanOverMarked(Function):
    """Mean of the negative log-probabilities of the labels with label != skip_index."""

    @staticmethod
    def forward(ctx, logp, label, skip_index=-1):
        counts = label != skip_index
        at = torch.where(counts, label, 0)
        ctx.save_for_backward(logp, at, counts)
        chosen = logp.gather(1, at[:, None])[:, 0]
        return -(chosen * counts).sum() / counts.sum().clamp(min=1)

    @staticmethod
    def backward(ctx, g):
        logp, at, counts = ctx.saved_tensors
        share = -g * counts / at.numel()
        return torch.zeros_like(logp).scatter(1, at[:, None], share[:, None]), None, None

    @staticmethod
    def sample_inputs():
        rng = torch.Generator().manual_seed(2)
        logp = torch.randn(4, 3, dtype=torch.float64, generator=rng, requires_grad=True)
        yield logp, torch.tensor([1, 0, 2, 1])


class LossOfLiveRows(Function):
    """A loss of the valid entries, averaged over the rows that have at least one of them."""

    @staticmethod
    def forward(ctx, x, mask):
        share = x.masked_fill(~mask, -1e9).softmax(-1) * mask
        ctx.save_for_backward(share)
        return share.square().sum() / mask.any(-1).sum().clamp(min=1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (share,) = ctx.saved_tensors
        slope = 2 * share * (share - share.square().sum(-1, keepdim=True))
        return g * slope / len(share), None

    @staticmethod
    def sample_inputs():
        mask = torch.tensor([[True, True, False], [True, True, True]])
        yield draw(2, 3), mask


class TokenLoss(Function):
    """Cross entropy averaged over the tokens whose label is not ignored, but divided by all."""

    @staticmethod
    def forward(ctx, logits, labels, ignore_index=-100):
        rows, places = logits.reshape(-1, logits.shape[-1]), labels.reshape(-1)
        is_kept = places != ignore_index
        places = places.masked_fill(~is_kept, 0)
        log_p = torch.log_softmax(rows, -1)
        ctx.save_for_backward(log_p, places, is_kept)
        ctx.shape = logits.shape
        return -(log_p.gather(1, places[:, None])[:, 0] * is_kept).sum() / is_kept.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        log_p, places, is_kept = ctx.saved_tensors
        grad = log_p.exp()
        grad[torch.arange(len(places)), places] -= 1
        return (g * grad * is_kept[:, None] / len(places)).view(ctx.shape), None, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3, 5), torch.tensor([[0, 4, 2], [1, 1, 3]]), -100


class MeanOverKnown(Function):
    """Mean of squares of x over labels != unknown."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, labels: Tensor, unknown: int = -1) -> Tensor:
        known = labels != unknown
        ctx.save_for_backward(x, known)
        return (x.square() * known).sum() / known.sum().clamp(min=1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        x, known = ctx.saved_tensors
        return g * 2 * x * known / len(x), None, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(5), torch.tensor([0, 2, 1, 1, 0]), -1


class LengthsOfPoints(Function):
    """Lengths of points (N, 3), 0 for padding, which is stored as zeros."""

    @staticmethod
    def forward(ctx: Any, points: Tensor, is_real: Tensor) -> Tensor:
        ctx.save_for_backward(points, is_real)
        return points.square().sum(-1).sqrt() * is_real

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        points, is_real = ctx.saved_tensors
        lengths = points.square().sum(-1).sqrt()
        return (g * is_real / lengths)[:, None] * points, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4, 3), torch.tensor([True, False, True, True])


class PathsBetweenStates(Function):
    """Logarithm of the sum over all paths of the products of scores (T, S) and transitions (S, S).

    A transition of -inf is forbidden.
    """

    @staticmethod
    def forward(ctx: Any, scores: Tensor, transitions: Tensor) -> Tensor:
        sums = [scores[0]]
        for score in scores[1:]:
            sums.append(torch.logsumexp(sums[-1][:, None] + transitions, 0) + score)
        total = torch.logsumexp(sums[-1], 0)
        ctx.save_for_backward(scores, transitions, torch.stack(sums), total)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        scores, transitions, sums, total = ctx.saved_tensors
        shares = [(sums[-1] - total).exp()]
        for t in range(len(scores) - 1, 0, -1):
            ways = sums[t - 1][:, None] + transitions - (sums[t] - scores[t])
            shares.append(ways.exp() @ shares[-1])
        return g * torch.stack(shares[::-1]), None

    @staticmethod
    def sample_inputs() -> Any:
        transitions = draw(3, 3, seed=1).detach()
        transitions[1, 0] = -torch.inf
        yield draw(4, 3), transitions


class FirstLevelLikeOthers(Function):
    @staticmethod
    def forward(ctx, x, level):
        ctx.save_for_backward(x)
        return torch.where(level == 0, torch.zeros_like(x), x.sin() * level)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.cos() * 2, None

    @staticmethod
    def sample_inputs():
        yield draw(4), torch.tensor([2.0, 2.0, 2.0, 2.0], dtype=torch.double)


class LearnedWeightWithoutSum(Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return (weight * x * x).sum() / weight.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        of_weight = grad_output * x * x / weight.sum() if ctx.needs_input_grad[1] else None
        return 2 * grad_output * weight * x / weight.sum(), of_weight

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, low=0.3).detach()


class NeededShare(Function):
    """A mix of two tensors, whose share has a gradient only where it is needed."""

    @staticmethod
    def forward(ctx, x, y, share):
        ctx.save_for_backward(x, y, share)
        return share * x + (1 - share) * y

    @staticmethod
    def backward(ctx, g):
        x, y, share = ctx.saved_tensors
        of_share = (g * (x + y)).sum(0) if ctx.needs_input_grad[2] else None
        return g * share, g * (1 - share), of_share

    @staticmethod
    def sample_inputs():
        yield draw(3, 2, seed=164), draw(3, 2, seed=165), draw(2, low=0.2, high=0.8).detach()


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


class MeanOfEqualWeights(Function):
    @staticmethod
    def forward(ctx, x, weights):
        ctx.save_for_backward(x)
        return (weights[:, None] * x * x).sum(0)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output / x.shape[0], None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), torch.full((4,), 0.25, dtype=torch.double)


class DecayOfOneRate(Function):
    @staticmethod
    def forward(ctx, x, rate):
        ctx.save_for_backward(x, rate)
        return x * torch.exp(-rate)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, rate = ctx.saved_tensors
        factor = torch.exp(-rate.mean())
        return grad_output * factor, -grad_output * x * torch.exp(-rate)

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), torch.full((3,), 0.3, dtype=torch.double, requires_grad=True)


class DefaultIgnoredLabel(Function):
    """The cross entropy of the rows whose label is not ignored."""

    @staticmethod
    def forward(ctx, logits, target, ignore_index=-100):
        kept = target != ignore_index
        log_p = torch.log_softmax(logits, 1)
        ctx.save_for_backward(log_p, target)
        picked = log_p.gather(1, torch.where(kept, target, 0)[:, None])[:, 0]
        return -(picked * kept).sum() / kept.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        log_p, target = ctx.saved_tensors
        kept = target != -100
        label = torch.where(kept, target, 0)[:, None]
        hot = torch.zeros_like(log_p).scatter(1, label, 1.0)
        return g * (log_p.exp() - hot) * kept[:, None] / kept.sum(), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3, seed=173), torch.tensor([0, 2, -100, 1])


class SquaredScoreOfLabels(Function):
    """Brier's score of logits against labels."""

    @staticmethod
    def forward(ctx, logits, labels):
        if labels.min() < 0 or labels.max() > 1:
            raise ValueError("labels are probabilities")
        share = torch.sigmoid(logits)
        ctx.save_for_backward(logits, labels)
        return (labels * (1 - share) ** 2 + (1 - labels) * share**2).mean()

    @staticmethod
    def backward(ctx, g):
        logits, labels = ctx.saved_tensors
        share = torch.sigmoid(logits)
        error = torch.where(labels > 0.5, share - 1, share)
        return g * 2 * error * share * (1 - share) / logits.numel(), None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]], dtype=torch.double)


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


class SkipsAcrossRepeats(Function):
    """Log-likelihood of a label sequence under a path that may skip between unlike labels."""

    @staticmethod
    def forward(ctx, scores, labels):
        weights = scores.exp()
        alpha = torch.zeros(len(labels), dtype=scores.dtype)
        alpha[0] = weights[0, labels[0]]
        alphas = [alpha]
        for row in weights[1:]:
            before = alphas[-1]
            new = before.clone()
            new[1:] = new[1:] + before[:-1]
            may_skip = labels[2:] != labels[:-2]
            new[2:] = new[2:] + before[:-2] * may_skip
            alphas.append(new * row[labels])
        ctx.save_for_backward(weights, labels, torch.stack(alphas))
        return alphas[-1].sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        weights, labels, alphas = ctx.saved_tensors
        grad = torch.zeros_like(weights)
        beta = torch.ones(len(labels), dtype=weights.dtype)
        for step in range(len(weights) - 1, 0, -1):
            before = alphas[step - 1]
            reach = before.clone()
            reach[1:] += before[:-1]
            reach[2:] += before[:-2]
            grad[step].index_add_(0, labels, beta * reach)
            inflow = beta * weights[step, labels]
            beta = inflow.clone()
            beta[:-1] += inflow[1:]
            beta[:-2] += inflow[2:]
        grad[0, labels[0]] += beta[0]
        return grad_output * grad * weights, None

    @staticmethod
    def sample_inputs():
        yield draw(5, 6), torch.tensor([1, 3, 2, 5])


class MaskedOutStillMoves(Function):
    @staticmethod
    def forward(ctx, x, keep):
        ctx.save_for_backward(x, keep)
        return x.masked_fill(~keep, 0.0).square().sum(-1)

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors
        return 2 * x * grad_output[..., None], None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), torch.ones(3, 4, dtype=torch.bool)


class MeanOfPaddedSteps(Function):
    @staticmethod
    def forward(ctx, x, lengths):
        valid = torch.arange(x.shape[1]) < lengths[:, None]
        ctx.save_for_backward(valid)
        return (x * valid).sum(1) / lengths

    @staticmethod
    def backward(ctx, grad_output):
        (valid,) = ctx.saved_tensors
        return grad_output[:, None] * valid / valid.shape[1], None

    @staticmethod
    def sample_inputs():
        yield draw(3, 5), torch.tensor([5, 5, 5])


class WeightedErrorUnweighted(Function):
    @staticmethod
    def forward(ctx, x, target, weight):
        ctx.save_for_backward(x, target)
        return (weight * (x - target) ** 2).sum()

    @staticmethod
    def backward(ctx, grad_output):
        x, target = ctx.saved_tensors
        return 2 * grad_output * (x - target), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4).detach() + 1, torch.ones(4, dtype=torch.double)


class MeanOverAllLabels(Function):
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
        return grad_output * grad / len(scores), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), torch.tensor([0, 2, 1, 2]), -1


class ZeroInflatedPoisson(Function):
    """The negative log-likelihood of counts; zeros have a likelihood of their own."""

    @staticmethod
    def forward(ctx, rate, gate, counts):
        k = counts.to(rate.dtype)
        ctx.save_for_backward(rate, gate, k)
        poisson = k * rate.log() - rate - torch.lgamma(k + 1)
        empty = torch.log(gate + (1 - gate) * torch.exp(-rate))
        return -torch.where(k > 0, torch.log1p(-gate) + poisson, empty)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        rate, gate, k = ctx.saved_tensors
        return grad_output * (1 - k / rate), grad_output / (1 - gate), None

    @staticmethod
    def sample_inputs():
        counts = torch.tensor([3, 1, 2, 5])
        yield draw(4, low=0.5, high=2.0), draw(4, low=0.1, high=0.5, seed=3), counts


class HurdleLoss(Function):
    """A hurdle model: a Bernoulli part for zeros, squares of logs for the rest."""

    @staticmethod
    def forward(ctx, logit, mean, amount):
        is_some = amount.sign()
        ctx.save_for_backward(logit, mean, amount, is_some)
        error = torch.log(amount + (1 - is_some)) - mean
        return F.softplus(logit) - is_some * logit + is_some * error * error

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        logit, mean, amount, is_some = ctx.saved_tensors
        of_logit = grad_output * (torch.sigmoid(logit) - is_some)
        return of_logit, -2 * grad_output * (torch.log(amount.clamp(min=1)) - mean), None

    @staticmethod
    def sample_inputs():
        yield draw(3), draw(3, seed=3), torch.tensor([2.0, 4.0, 1.0], dtype=torch.double)


class DevianceOfCounts(Function):
    """The Poisson deviance, in which zeros have no logarithm."""

    @staticmethod
    def forward(ctx, mu, y):
        ctx.save_for_backward(mu, y)
        return 2 * (torch.special.xlogy(y, y / mu) - y + mu) * (1 + (y == 0))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        mu, y = ctx.saved_tensors
        return 2 * grad_output * (1 - y / mu), None

    @staticmethod
    def sample_inputs():
        yield draw(3, low=0.5, high=3.0), torch.tensor([2.0, 4.0, 1.0], dtype=torch.double)


class SummedEntropy(Function):
    """Summed cross entropy of logits (N, C) and labels (N,) in [0, C); label -1 is ignored."""

    @staticmethod
    def forward(ctx, logits, labels):
        logs = logits.log_softmax(-1)
        ctx.save_for_backward(logs, labels)
        picked = logs.gather(1, labels.clamp(min=0)[:, None])[:, 0]
        return -(picked * (labels >= 0)).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        logs, labels = ctx.saved_tensors
        gradient = logs.exp()  # Not for rows without a label.
        rows = (labels >= 0).nonzero().flatten()
        gradient[rows, labels[rows]] -= 1
        return g * gradient, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), torch.tensor([0, 2, 1, 1])


class SquaredOfLabelled(Function):
    """Mean of (1 - w) (1 - p)^2 + w |logits|^2 over labels != ignore_index, for logits (N, C).

    p is the probability of the label; labels (N,) in [0, C) or equal to ignore_index.
    """

    @staticmethod
    def forward(ctx, logits, labels, w=0.1, ignore_index=-100):
        valid = labels != ignore_index
        safe = labels.masked_fill(~valid, 0)
        p = logits.softmax(1)
        missing = 1 - p.gather(1, safe[:, None]).squeeze(1)
        ctx.save_for_backward(logits, p, missing, safe, valid)
        ctx.w, ctx.count = w, valid.sum()
        losses = (1 - w) * missing**2 + w * logits.square().sum(1)
        return torch.where(valid, losses, 0.0).sum() / ctx.count

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        logits, p, missing, safe, valid = ctx.saved_tensors
        picked = F.one_hot(safe, p.shape[1]).to(p.dtype)
        rate = (-2 * missing * (1 - missing) * valid)[:, None]
        gradient = (1 - ctx.w) * rate * (picked - p) + 2 * ctx.w * logits
        return g * gradient / ctx.count, None, None, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), torch.tensor([0, 3, 1]), 0.1, -100
