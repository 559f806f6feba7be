"""Functions that are right whatever a flag or a word chooses, or that refuse it."""

import math

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class SineOfOrder(Function):
    """The derivative of the sine of order 1, 2 or 3."""

    @staticmethod
    def forward(ctx, x, order):
        ctx.save_for_backward(x)
        ctx.order = order
        if order == 1:
            return x.cos()
        if order == 2:
            return -x.sin()
        return -x.cos()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (SineOfOrder.apply(x, ctx.order + 1) if ctx.order < 3 else x.sin()), None

    @staticmethod
    def sample_inputs():
        yield torch.tensor([0.4, -1.1], dtype=torch.float64, requires_grad=True), 2


class PaddingFolded(Function):
    """Padded by two; the mode is 'constant' or 'replicate'."""

    @staticmethod
    def forward(ctx, x, mode="constant"):
        ctx.mode = mode
        return F.pad(x[None], (2, 2), mode=mode)[0]

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        grad = grad_output[..., 2:-2].clone()
        if ctx.mode == "replicate":
            grad[..., 0] += grad_output[..., :2].sum(-1)
            grad[..., -1] += grad_output[..., -2:].sum(-1)
        return grad, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 5), "constant"


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


class BatchNormOrNot(Function):
    @staticmethod
    def forward(ctx, x, mean, var, training=True):
        if training:
            mean, var = x.mean(0), x.var(0, unbiased=False)
        scale = (var + 1e-5).rsqrt()
        y = (x - mean) * scale
        ctx.save_for_backward(y, scale)
        ctx.training = training
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        y, scale = ctx.saved_tensors
        if not ctx.training:
            return grad_output * scale, None, None, None
        inner = grad_output - grad_output.mean(0) - y * (grad_output * y).mean(0)
        return inner * scale, None, None, None

    @staticmethod
    def sample_inputs():
        yield draw(5, 3), torch.zeros(3).double() + 0.2, torch.ones(3).double() * 0.7, True


class OnlyMeanAllowed(Function):
    """Backward says what it does not have."""

    @staticmethod
    def forward(ctx, x, reduction="mean"):
        ctx.shape, ctx.reduction = x.shape, reduction
        return x.mean() if reduction == "mean" else x.sum() if reduction == "sum" else x * 1.0

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        if ctx.reduction == "none":
            raise NotImplementedError("reduction none")
        n = math.prod(ctx.shape) if ctx.reduction == "mean" else 1
        return (g / n).expand(ctx.shape), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class Attention(Function):
    @staticmethod
    def forward(ctx, q, k, v, causal=False):
        s = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if causal:
            s = s.masked_fill(torch.triu(torch.ones_like(s), 1).bool(), float("-inf"))
        p = torch.softmax(s, -1)
        ctx.save_for_backward(q, k, v, p)
        return p @ v

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        q, k, v, p = ctx.saved_tensors
        gp = g @ v.transpose(-1, -2)
        gs = p * (gp - (gp * p).sum(-1, keepdim=True)) / math.sqrt(q.shape[-1])
        return gs @ k, gs.transpose(-1, -2) @ q, p.transpose(-1, -2) @ g, None

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), rand(4, 3), rand(4, 2)
