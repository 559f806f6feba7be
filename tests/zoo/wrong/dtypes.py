"""Backward that is right in the one dtype that its author tried, or poorer than forward."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class OtherBranchForSingle(Function):
    """A fast path for float32 with a mistake in it."""

    expect = {"GT117"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sigmoid()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = x.sigmoid()
        if x.dtype == torch.float32:
            return g * s
        return g * s * (1 - s)


class SingleSkipsTheMask(Function):
    """In float32 the comparison is made after a cast that rounds everything to integers."""

    expect = {"GT117"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        kept = x if x.dtype == torch.float64 else x.int()
        return g * (kept > 0)

    @staticmethod
    def sample_inputs():
        x = torch.tensor([-1.5, 0.3, 0.8, 2.2], dtype=torch.float64, requires_grad=True)
        yield (x,)


class HalfInsideBackward(Function):
    """A float32 layer whose gradient passes through float16."""

    expect = {"GT601"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return (g.half() * 2 * x.half()).float()

    @staticmethod
    def sample_inputs():
        yield (torch.randn(3, 4, requires_grad=True),)


class VarianceByDifference(Function):
    """Forward centres first; backward takes the mean of squares less the square of the mean."""

    expect = {"GT601"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        centred = x - x.mean()
        return centred / centred.square().mean().sqrt()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        mean = x.mean()
        deviation = (x.square().mean() - mean**2).sqrt()
        normed = (x - mean) / deviation
        return (g - g.mean() - normed * (g * normed).mean()) / deviation

    @staticmethod
    def sample_inputs():
        x = torch.randn(6, dtype=torch.float64) + 3e4
        yield (x.requires_grad_(),)


class ComplexInSingle(Function):
    expect = {"GT601"}

    @staticmethod
    def forward(ctx, z, w):
        ctx.save_for_backward(z, w)
        return z * w

    @staticmethod
    def backward(ctx, g):
        z, w = ctx.saved_tensors
        z, w = z.to(torch.complex64), w.to(torch.complex64)
        return (g * w.conj()).to(g.dtype), (g * z.conj()).to(g.dtype)

    @staticmethod
    def sample_inputs():
        z = torch.randn(3, dtype=torch.complex128, requires_grad=True)
        yield z, torch.randn(3, dtype=torch.complex128, requires_grad=True)


class WeightsOfAverageInSingle(Function):
    """A table of factors in the default dtype."""

    expect = {"GT601"}

    @staticmethod
    def forward(ctx, x):
        ctx.n = len(x)
        steps = torch.arange(1, ctx.n + 1, dtype=x.dtype)
        return (x / steps).sum()

    @staticmethod
    def backward(ctx, g):
        return g.float() * (1 / torch.arange(1, ctx.n + 1)).double()

    @staticmethod
    def sample_inputs():
        yield (rand(5),)
