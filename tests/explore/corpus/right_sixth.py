"""Right Functions with options and shapes that belong together, and the counterparts of wrong ones.

What is stated holds: x (B, C, T), taps (C, K), state (B, C, (K - 1) * dilation).
"""

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0):
    generator = torch.Generator().manual_seed(12)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


def kept(shape, p):
    generator = torch.Generator().manual_seed(3)
    return (torch.rand(shape, dtype=torch.double, generator=generator) >= p) / (1 - p)


class Dropped(Function):
    @staticmethod
    def forward(ctx, x, p):
        ctx.p = p
        return x * kept(x.shape, p) if p > 0.0 else x * (1 - p)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * kept(grad_output.shape, ctx.p) if ctx.p > 0.0 else grad_output, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), 0.3


class Streamed(Function):
    @staticmethod
    def forward(ctx, x, taps, state, dilation):
        number, length = taps.shape[1], x.shape[-1]
        whole = torch.cat((state, x), -1)
        ctx.save_for_backward(x, taps, state)
        ctx.dilation = dilation
        parts = (whole[..., k * dilation : k * dilation + length] for k in range(number))
        return sum(taps[:, k, None] * part for k, part in enumerate(parts))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, taps, state = ctx.saved_tensors
        number, length, dilation = taps.shape[1], x.shape[-1], ctx.dilation
        whole = torch.cat((state, x), -1)
        left = (number - 1) * dilation
        grad = torch.zeros_like(whole)
        of_taps = []
        for k in range(number):
            part = whole[..., k * dilation : k * dilation + length]
            of_taps.append((grad_output * part).sum((0, 2)))
            grad = grad + F.pad(taps[:, k, None] * grad_output, (k * dilation, left - k * dilation))
        return grad[..., left:], torch.stack(of_taps, 1), grad[..., :left], None

    @staticmethod
    def sample_inputs():
        yield draw(2, 2, 5), draw(2, 3), draw(2, 2, 4), 2


class TurnedPairs(Function):
    @staticmethod
    def forward(ctx, x, turned):
        ctx.turned = turned
        return TurnedPairs.turn(x, turned, 1.0)

    @staticmethod
    def turn(x, turned, sign):
        half = turned // 2
        a, b, rest = x[..., :half], x[..., half:turned], x[..., 2 * half :]
        return torch.cat((0.6 * a - 0.8 * sign * b[..., :half], 0.6 * b + 0.8 * sign * a, rest), -1)

    @staticmethod
    def backward(ctx, grad_output):
        return TurnedPairs.turn(grad_output, ctx.turned, -1.0), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 6), 4


class Saturated(Function):
    @staticmethod
    def forward(ctx, x):
        p = torch.softmax(x, -1)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, grad_output):
        (p,) = ctx.saved_tensors
        weighted = grad_output * p
        return weighted - p * weighted.sum(-1, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield (draw(3, 2, low=-2.0, high=2.0),)


class SettledPoint(Function):
    """Iterates to a fixed point and differentiates that."""

    @staticmethod
    def forward(ctx, x, rounds):
        z = torch.zeros_like(x)
        for _ in range(rounds):
            z = 0.3 * torch.cos(z) + x
        ctx.save_for_backward(z)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (z,) = ctx.saved_tensors
        return grad_output / (1 + 0.3 * z.sin()), None

    @staticmethod
    def sample_inputs():
        yield draw(4), 40


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


class SignedPowerOfAll(Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return v.sign() * v.abs().sqrt()

    @staticmethod
    def backward(ctx, grad_output):
        (v,) = ctx.saved_tensors
        return grad_output / (2 * v.abs().sqrt())

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=0.2, high=1.2),)


class DirectionOfAny(Function):
    @staticmethod
    def forward(ctx, v):
        length = v.norm(dim=-1, keepdim=True)
        ctx.save_for_backward(v, length)
        return v / length

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        v, length = ctx.saved_tensors
        return grad_output / length - v * (v * grad_output).sum(-1, keepdim=True) / length**3

    @staticmethod
    def sample_inputs():
        v = draw(4, 3).detach()
        yield ((v / v.norm(dim=-1, keepdim=True)).requires_grad_(),)


class LeavesOut(Function):
    @staticmethod
    def forward(ctx, x, power, weight=None):
        ctx.save_for_backward(x, weight)
        ctx.power = power
        return x**power if weight is None else weight * x**power

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grad_x = ctx.power * x ** (ctx.power - 1) * grad_output
        if weight is None:
            return grad_x, None, None
        return grad_x * weight, None, x**ctx.power * grad_output

    @staticmethod
    def sample_inputs():
        yield draw(3, low=0.5, high=1.5), 3, draw(3)
