"""Functions that are wrong for unequal weights, complex numbers, common points and large means."""

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0, seed=59):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


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


class TapsOfAnyKind(Function):
    """Products of symbols and taps, which are real or complex."""

    @staticmethod
    def forward(ctx, symbols, taps):
        ctx.save_for_backward(symbols, taps)
        return symbols * taps

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        symbols, taps = ctx.saved_tensors
        return grad_output * taps, (grad_output * symbols).sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), draw(4, seed=3)


class QuadraticOfComplex(Function):
    """The quadratic form of complex or real vectors."""

    @staticmethod
    def forward(ctx, a, v):
        ctx.save_for_backward(a, v)
        return a @ v  # Not conjugated.

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        a, v = ctx.saved_tensors
        return torch.outer(grad_output, v.conj()), a.t() @ grad_output

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), draw(3, seed=3)


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


class VarianceInOnePass(Function):
    @staticmethod
    def forward(ctx, x):
        centered = x - x.mean(-1, keepdim=True)
        ctx.save_for_backward(x)
        return centered / (centered * centered).mean(-1, keepdim=True).sqrt()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        mean = x.mean(-1, keepdim=True)
        scale = ((x * x).mean(-1, keepdim=True) - mean * mean).rsqrt()
        y = (x - mean) * scale
        g = grad_output - grad_output.mean(-1, keepdim=True)
        return scale * (g - y * (grad_output * y).mean(-1, keepdim=True))

    @staticmethod
    def sample_inputs():
        yield (draw(3, 5),)


class PowerOfScalar(Function):
    @staticmethod
    def forward(ctx, x, exponent):
        ctx.save_for_backward(x, exponent)
        return x**exponent

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, exponent = ctx.saved_tensors
        of_exponent = (grad_output * x**exponent * x.log()).sum()
        return grad_output * 1.5 * x**0.5, of_exponent

    @staticmethod
    def sample_inputs():
        exponent = torch.tensor(1.5, dtype=torch.double, requires_grad=True)
        yield draw(4, low=0.5, high=1.5), exponent


class SoftmaxOverOneStep(Function):
    @staticmethod
    def forward(ctx, score, x):
        p = score.softmax(-1)
        ctx.save_for_backward(p, x)
        return (p.unsqueeze(1) @ x).squeeze(1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        p, x = ctx.saved_tensors
        of_p = (x @ grad_output.unsqueeze(-1)).squeeze()
        of_score = p * (of_p - (p * of_p).sum(-1, keepdim=True))
        return of_score.sum_to_size(p.shape), p.unsqueeze(-1) * grad_output.unsqueeze(1)

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), draw(3, 4, 2, seed=5)


class FramesOfAnyPadding(Function):
    @staticmethod
    def forward(ctx, x, left=1, right=1):
        ctx.left = left
        return F.pad(x, (left, right)) * 2

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output[..., ctx.left : -ctx.left], None, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 4), 1, 1
