"""Functions of matrices, labels and exponents that are right wherever they are meant to be."""

import torch
from torch.autograd import Function


def draw(*shape, low=-1.0, high=1.0, seed=103):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


def balanced(n, seed=104):
    half = draw(n, n, seed=seed).detach()
    return (half + half.mT + 4 * torch.eye(n, dtype=torch.double)).requires_grad_()


class QuadraticOfCovariance(Function):
    """The squared Mahalanobis distance for a covariance matrix."""

    @staticmethod
    def forward(ctx, sigma, x):
        solved = torch.linalg.solve(sigma, x)
        ctx.save_for_backward(sigma, x)
        return (x * solved).sum()

    @staticmethod
    def backward(ctx, g):
        sigma, x = ctx.saved_tensors
        solved = torch.linalg.solve(sigma, x)
        return -g * torch.outer(solved, solved), 2 * g * solved

    @staticmethod
    def sample_inputs():
        yield balanced(3), draw(3, seed=105)


class TraceOfAnyInverse(Function):
    """The trace of an inverse."""

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return torch.linalg.inv(a).diagonal().sum()

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        inverse = torch.linalg.inv(a)
        return -g * (inverse @ inverse).mT

    @staticmethod
    def sample_inputs():
        yield (balanced(3, seed=106),)


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


class PowerMeanOfLogs(Function):
    """The power mean with a learned exponent, in logarithms, which do not overflow."""

    @staticmethod
    def forward(ctx, x, p):
        logs = x.log()
        mean = torch.logsumexp(p * logs, -1) - torch.tensor(float(x.shape[-1])).log()
        out = torch.exp(mean / p)
        ctx.save_for_backward(x, p)
        return out

    @staticmethod
    def backward(ctx, g):
        x, p = ctx.saved_tensors
        logs = x.log()
        mean = torch.logsumexp(p * logs, -1) - torch.tensor(float(x.shape[-1])).log()
        out = torch.exp(mean / p)
        weight = torch.softmax(p * logs, -1)
        by_p = g * out * ((weight * logs).sum(-1) / p - mean / (p * p))
        return (g * out)[..., None] * weight / x, by_p.sum().reshape(p.shape)

    @staticmethod
    def sample_inputs():
        yield (
            draw(2, 4, low=0.5, high=2.0),
            torch.tensor([3.0], dtype=torch.double).requires_grad_(),
        )
