"""Functions that are right at whole numbers, where their derivative jumps, and at large ones."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape):
    return torch.rand(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(7))


class Sawtooth(Function):
    @staticmethod
    def forward(ctx, x):
        return x - x.floor()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone()

    @staticmethod
    def sample_inputs():
        yield (6 * draw(3, 4) - 3,)


class ArcSine(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.asin(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output / torch.sqrt((1 - x) * (1 + x))

    @staticmethod
    def sample_inputs():
        yield (1.8 * draw(3, 4) - 0.9,)


class HatOfOwnKink(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.clamp(1 - x.abs(), min=0)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return torch.where(x.abs() < 1, -torch.sign(x), 0.0) * grad_output

    @staticmethod
    def sample_inputs():
        yield (3 * draw(3, 4) - 1.5,)


class LogLikelihood(Function):
    @staticmethod
    def forward(ctx, scores, transitions):
        paths = scores[:, :, None] + transitions + scores[:, None, :]
        total = torch.logsumexp(paths, (1, 2))
        ctx.save_for_backward(scores, transitions, total)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        scores, transitions, total = ctx.saved_tensors
        outer = scores.exp()[:, :, None] * transitions.exp() * scores.exp()[:, None, :]
        posterior = outer / total.exp()[:, None, None] * grad_output[:, None, None]
        return posterior.sum(2) + posterior.sum(1), posterior.sum(0)

    @staticmethod
    def sample_inputs():
        yield 2 * draw(3, 4) - 1, 2 * draw(4, 4) - 1
