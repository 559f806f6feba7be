"""Functions with outputs that are meant to have no gradient, and with eigenvalues."""

import torch
from torch.autograd import Function


def draw(*shape, low=-1.0, high=1.0, seed=89):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class PreferenceWithMargins(Function):
    """A loss of pairs, and their margins, which are logging values only."""

    @staticmethod
    def forward(ctx, better, worse, beta=0.5):
        margin = beta * (better - worse)
        ctx.save_for_backward(better, worse)
        ctx.beta = beta
        ctx.mark_non_differentiable(margin)
        return -torch.nn.functional.logsigmoid(margin), margin

    @staticmethod
    def backward(ctx, g, _):
        better, worse = ctx.saved_tensors
        of_margin = -g * torch.sigmoid(-ctx.beta * (better - worse))
        return ctx.beta * of_margin, -ctx.beta * of_margin, None

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, seed=90)


class CenteredByRunningMean(Function):
    """Center a batch and update its running mean in place."""

    @staticmethod
    def forward(ctx, x, running, momentum=0.1):
        mean = x.mean(0)
        running.mul_(1 - momentum).add_(mean, alpha=momentum)
        ctx.mark_dirty(running)
        ctx.mark_non_differentiable(running)
        return x - mean, running

    @staticmethod
    def backward(ctx, g, _):
        return g - g.mean(0), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), torch.zeros(3, dtype=torch.double)


class LogOfDeterminant(Function):
    """The logarithm of the determinant of a matrix's symmetric part, shifted to be positive."""

    @staticmethod
    def forward(ctx, a):
        part = 0.5 * (a + a.mT) + 4 * torch.eye(a.shape[-1], dtype=a.dtype)
        ctx.save_for_backward(a)
        return torch.linalg.eigvalsh(part).log().sum()

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        part = 0.5 * (a + a.mT) + 4 * torch.eye(a.shape[-1], dtype=a.dtype)
        return g * torch.linalg.inv(part)

    @staticmethod
    def sample_inputs():
        yield (draw(3, 3),)


class RoundedToSteps(Function):
    """Round to multiples of a step, with a straight-through estimator."""

    @staticmethod
    def forward(ctx, x, step=0.25):
        return torch.round(x / step) * step

    @staticmethod
    def backward(ctx, g):
        return g, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), 0.25
