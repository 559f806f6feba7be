"""Right Functions of sets, groups that lie together, signs, axes and reductions."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0):
    generator = torch.Generator().manual_seed(37)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class BiasedScores(Function):
    @staticmethod
    def forward(ctx, scores, bias=None):
        if bias is not None:
            scores = scores + bias
        y = scores.tanh()
        ctx.save_for_backward(y)
        ctx.has_bias = bias is not None
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        grad = grad_output * (1 - y * y)
        return grad, grad if ctx.has_bias else None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 4, 4),)


class MeanOverBothSets(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return (a[:, None] - b).square().sum(-1).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        scaled = 2 * grad_output * (a[:, None] - b) / (len(a) * len(b))
        return scaled.sum(1), -scaled.sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), draw(4, 2) + 1


class SumUnlessMean(Function):
    @staticmethod
    def forward(ctx, x, target, reduction="sum"):
        error = x - target
        ctx.factor = 2 / error.numel() if reduction == "mean" else 2
        ctx.save_for_backward(error)
        loss = error**2
        if reduction == "none":
            return loss
        return loss.sum() if reduction == "sum" else loss.mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (error,) = ctx.saved_tensors
        return ctx.factor * grad_output * error, None, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), draw(2, 3).detach() + 1


class MahalanobisDistance(Function):
    """The squared distance under a symmetric matrix."""

    @staticmethod
    def forward(ctx, x, matrix):
        ctx.save_for_backward(x, matrix)
        return x @ matrix @ x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, matrix = ctx.saved_tensors
        return 2 * grad_output * (matrix @ x), None

    @staticmethod
    def sample_inputs():
        matrix = draw(3, 3).detach()
        yield draw(3), matrix @ matrix.T + torch.eye(3, dtype=torch.double)


class GroupsThatLieTogether(Function):
    """Sums of consecutive rows: the groups are sorted."""

    @staticmethod
    def forward(ctx, x, group):
        count = torch.bincount(group, minlength=3)
        ctx.save_for_backward(count)
        return x.new_zeros(3).index_add(0, group, x)

    @staticmethod
    def backward(ctx, grad_output):
        (count,) = ctx.saved_tensors
        return grad_output.repeat_interleave(count), None

    @staticmethod
    def sample_inputs():
        yield draw(6), torch.tensor([0, 0, 1, 1, 1, 2])


class EntropyOfPositive(Function):
    """Of positive numbers, whose logarithm forward takes through their square."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return -(x * (x * x).log() / 2).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return -grad_output * (x.log() + 1)

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=0.2),)


class AnyAxisFromEitherEnd(Function):
    @staticmethod
    def forward(ctx, x, dim=1):
        ctx.save_for_backward(x)
        ctx.dim = dim
        return x.square().sum(dim)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output.unsqueeze(ctx.dim), None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), 1
