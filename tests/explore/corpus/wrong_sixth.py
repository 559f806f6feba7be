"""Functions whose mistake shows where forward, its options or its documentation reach further."""

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0):
    generator = torch.Generator().manual_seed(11)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


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


class ScaledByWidth(Function):
    """Rows of any length, with any number of leading dimensions, divided by their length."""

    @staticmethod
    def forward(ctx, rows):
        ctx.save_for_backward(rows)
        return rows.pow(3) / rows.shape[-1]

    @staticmethod
    def backward(ctx, grad_output):
        (rows,) = ctx.saved_tensors
        return 3 * rows.pow(2) * grad_output / rows.shape[1]

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4),)


class NeedsEveryArgument(Function):
    @staticmethod
    def forward(ctx, x, power, weight=None):
        ctx.save_for_backward(x, weight)
        ctx.power = power
        return x**power if weight is None else weight * x**power

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grad_x = ctx.power * x ** (ctx.power - 1) * grad_output
        grad_weight = x**ctx.power * grad_output if ctx.needs_input_grad[2] else None
        return grad_x if weight is None else grad_x * weight, None, grad_weight

    @staticmethod
    def sample_inputs():
        yield draw(3, low=0.5, high=1.5), 3, draw(3)


class SignedSquare(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign() * x.square()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=0.2, high=1.2),)


class DirectionOfUnit(Function):
    @staticmethod
    def forward(ctx, v):
        unit = v / v.norm(dim=-1, keepdim=True)
        ctx.save_for_backward(unit)
        return unit

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (unit,) = ctx.saved_tensors
        return grad_output - unit * (unit * grad_output).sum(-1, keepdim=True)

    @staticmethod
    def sample_inputs():
        v = draw(4, 3).detach()
        yield ((v / v.norm(dim=-1, keepdim=True)).requires_grad_(),)


class SubtractsInPlaceWithoutPadding(Function):
    @staticmethod
    def forward(ctx, x, width):
        missing = -x.shape[-1] % width
        parts = F.pad(x, (0, missing)) if missing else x
        parts = parts.unflatten(-1, (-1, width))
        parts -= parts.mean(-1, keepdim=True)
        ctx.width, ctx.length = width, x.shape[-1]
        return parts.flatten(-2)[..., : ctx.length].clone()

    @staticmethod
    def backward(ctx, grad_output):
        missing = -ctx.length % ctx.width
        parts = F.pad(grad_output, (0, missing)).unflatten(-1, (-1, ctx.width))
        parts = parts - parts.mean(-1, keepdim=True)
        return parts.flatten(-2)[..., : ctx.length], None

    @staticmethod
    def sample_inputs():
        yield draw(2, 7), 4


class RolloutOfOneStep(Function):
    @staticmethod
    def forward(ctx, x, rate, rounds):
        ctx.save_for_backward(x, rate)
        ctx.rounds = rounds
        for _ in range(rounds):
            x = x - rate * x.sin()
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, rate = ctx.saved_tensors
        grad_rate = torch.zeros_like(rate)
        for _ in range(ctx.rounds):
            grad_rate = grad_rate - grad_output * x.sin()
            grad_output = grad_output * (1 - rate * x.cos())
        return grad_output, grad_rate, None

    @staticmethod
    def sample_inputs():
        yield draw(3), draw(3, low=0.1, high=0.4), 1


class NotANumberAtZero(Function):
    @staticmethod
    def forward(ctx, v):
        length = v.square().sum(-1, keepdim=True).sqrt()
        is_small = length < 1e-4
        safe = torch.where(is_small, torch.ones_like(length), length)
        factor = torch.where(is_small, 1 - length**2 / 6, safe.sin() / safe)
        ctx.save_for_backward(v)
        return factor * v

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (v,) = ctx.saved_tensors
        length = v.norm(dim=-1, keepdim=True)
        factor = length.sin() / length
        slope = (length.cos() - factor) / length**2
        return factor * grad_output + slope * v * (v * grad_output).sum(-1, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3),)


class ScaledPerColumnOnly(Function):
    """The scale has any shape that is broadcastable to x."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        return grad_output * scale, (x * grad_output).reshape(-1, x.shape[-1]).sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(2, 3, 4), draw(4)


class LogisticOfAnyNumber(Function):
    """The logistic function of any real number."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sigmoid(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.exp() / (1 + x.exp()) ** 2

    @staticmethod
    def sample_inputs():
        yield (draw(5),)


class LengthOfAnySize(Function):
    """The length of any finite vectors but zero."""

    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        largest = v.abs().amax(-1, keepdim=True)
        return (largest * (v / largest).pow(2).sum(-1, keepdim=True).sqrt()).squeeze(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (v,) = ctx.saved_tensors
        return grad_output[..., None] * v / v.pow(2).sum(-1, keepdim=True).sqrt()

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3),)
