"""Functions that are wrong where two entries, times or points are equal."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class RisksOfTied(Function):
    """Partial likelihood of events in order of their times; tied ones share the set at risk."""

    @staticmethod
    def forward(ctx, risk, times, happened):
        each = risk.exp()
        at_risk = each.flip(0).cumsum(0).flip(0)
        first = torch.searchsorted(times, times)
        ctx.save_for_backward(each, at_risk, happened)
        return (happened * (risk - at_risk[first].log())).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        each, at_risk, happened = ctx.saved_tensors
        hazard = (happened / at_risk).cumsum(0)
        return g * (happened - each * hazard), None, None

    @staticmethod
    def sample_inputs():
        happened = torch.tensor([1, 0, 1, 1], dtype=torch.double)
        yield draw(4), torch.tensor([0.5, 1.0, 2.5, 3.0], dtype=torch.double), happened


class DistancesOfSets(Function):
    """Euclidean distances from each row of `p` to each row of `q`."""

    @staticmethod
    def forward(ctx, p, q):
        apart = p[:, None] - q
        length = (apart * apart).sum(-1).sqrt()
        ctx.save_for_backward(apart, length)
        return length

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        apart, length = ctx.saved_tensors
        pulls = apart * (g / length)[..., None]
        return pulls.sum(1), -pulls.sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), draw(4, 3, seed=1)


class DistanceOfEqualPairs(Function):
    @staticmethod
    def forward(ctx, a, b):
        length = (a - b).norm(dim=-1)
        ctx.save_for_backward(a - b, length)
        return (length**2).sin()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        apart, length = ctx.saved_tensors
        grad = (grad_output * 2 * length * (length**2).cos() / length)[:, None] * apart
        return grad, -grad

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), draw(3, 2) * 0.7 + 0.2


class SmoothOfDistance(Function):
    @staticmethod
    def forward(ctx, x, y, scale):
        apart = x[:, None] - y[None]
        length = (apart * apart).sum(-1).sqrt()
        ctx.save_for_backward(apart, length, scale)
        return torch.cos(scale * length)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        apart, length, scale = ctx.saved_tensors
        slope = -grad_output * torch.sin(scale * length)
        terms = (slope * scale / length)[..., None] * apart
        return terms.sum(1), -terms.sum(0), (slope * length).sum()

    @staticmethod
    def sample_inputs():
        scale = torch.tensor(0.8, dtype=torch.double, requires_grad=True)
        yield draw(3, 2), draw(4, 2, seed=7), scale


class EveryTiedMaximum(Function):
    """Each of several maxima gets the whole gradient."""

    @staticmethod
    def forward(ctx, x):
        y = x.amax(dim=-1, keepdim=True)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return (x == y).to(g.dtype) * g

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class BothOfEqualPair(Function):
    """Where both are equal both get the gradient."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return torch.maximum(a, b)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * (a >= b), g * (b >= a)

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(3, 4)


class TropicalMatmul(Function):
    """The product over the max-plus semiring; every tied term gets the whole gradient."""

    @staticmethod
    def forward(ctx, a, b):
        terms = a[:, :, None] + b[None, :, :]
        y = terms.amax(1)
        ctx.save_for_backward(terms, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        terms, y = ctx.saved_tensors
        spread = (terms == y[:, None]).to(y.dtype) * grad_output[:, None]
        return spread.sum(2), spread.sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), draw(3, 4, seed=8)


class Dilation(Function):
    """Grey dilation of a signal by a structuring element, tied maxima counted twice."""

    @staticmethod
    def forward(ctx, x, element):
        sums = x.unfold(-1, element.shape[0], 1) + element
        y = sums.max(-1).values
        ctx.save_for_backward(sums, y)
        ctx.length = x.shape[-1]
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        sums, y = ctx.saved_tensors
        share = (sums == y[..., None]).to(y.dtype) * grad_output[..., None]
        of_x = torch.zeros(*y.shape[:-1], ctx.length, dtype=y.dtype)
        for k in range(sums.shape[-1]):
            of_x[..., k : k + y.shape[-1]] += share[..., k]
        return of_x, share.flatten(0, -2).sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(2, 6), draw(3, seed=8)


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


class FarthestPair(Function):
    """The largest squared distance of each point to a set."""

    @staticmethod
    def forward(ctx, x, y):
        apart = x[:, None] - y[None]
        square = (apart * apart).sum(-1)
        far = square.amax(1)
        ctx.save_for_backward(apart, square, far)
        return far

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        apart, square, far = ctx.saved_tensors
        chosen = (square == far[:, None]).to(far.dtype) * grad_output[:, None]
        terms = 2 * apart * chosen[..., None]
        return terms.sum(1), -terms.sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), draw(4, 2, seed=8)


class MedianOfTies(Function):
    """All entries that equal the minimum get its gradient."""

    @staticmethod
    def forward(ctx, x):
        y = x.amin(0)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return torch.where(x == y, g, torch.zeros_like(g))

    @staticmethod
    def sample_inputs():
        yield (rand(4, 3),)


class RiskOfOrdered(Function):
    """Log of the sum over all that are as late (n,), for scores (n,)."""

    @staticmethod
    def forward(ctx, scores, times):
        order = times.argsort()
        own, t = scores[order], times[order]
        late = t[None, :] >= t[:, None]
        ctx.save_for_backward(own, order)
        return own[None, :].masked_fill(~late, -torch.inf).logsumexp(1).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        own, order = ctx.saved_tensors
        weight = (own - own.amax()).exp()
        later = weight.flip(0).cumsum(0).flip(0)
        found = torch.empty_like(own)
        found[order] = g * weight * (1 / later).cumsum(0)
        return found, None

    @staticmethod
    def sample_inputs():
        yield draw(4), torch.tensor([0.7, 2.5, 1.1, 3.0], dtype=torch.double)


class LargestBlockOfPooled(Function):
    """Isotonic regression of `y` (n,): the non-decreasing fit with the least squares."""

    @staticmethod
    def forward(ctx, y):
        means, counts = [], []
        for each in y.tolist():
            means.append(each)
            counts.append(1)
            while len(means) > 1 and means[-2] > means[-1]:
                count = counts[-2] + counts[-1]
                mean = (means[-2] * counts[-2] + means[-1] * counts[-1]) / count
                means[-2:], counts[-2:] = [mean], [count]
        ctx.counts = counts
        return torch.cat([y.new_full((n,), m) for m, n in zip(means, counts)])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        largest = max(ctx.counts)
        return torch.cat([p.sum().expand(len(p)) / largest for p in g.split(ctx.counts)])

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.2, 0.5, 0.7, 1.4, 1.9], dtype=torch.float64, requires_grad=True),)


class DistanceToTarget(Function):
    """Mean distance of rows of `x` from those of `target`; the two may be equal (slope 0)."""

    @staticmethod
    def forward(ctx, x, target):
        ctx.save_for_backward(x, target)
        return (x - target).square().sum(1).sqrt().mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, target = ctx.saved_tensors
        apart = x - target
        return g * apart / (apart.square().sum(1, keepdim=True).sqrt() * len(x)), None

    @staticmethod
    def sample_inputs():
        yield rand(4, 2), 0.5 - rand(4, 2).detach().flip(0)


class KeptBySize(Function):
    """Keep the entries of at least the k-th largest size; ties with the k-th are all kept."""

    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return torch.where(x.abs() >= x.abs().flatten().topk(k).values[-1], x, 0.0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        kept = torch.zeros(x.numel(), dtype=g.dtype)
        kept[x.abs().flatten().topk(ctx.k).indices] = 1.0
        return g * kept.view_as(x), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), 5
