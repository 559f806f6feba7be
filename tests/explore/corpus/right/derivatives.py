"""Functions with outputs that have no gradient, with another one on purpose, or with a vmap."""

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


class RatioMask(Function):
    """A complex spectrum times mask * exp(gain); mask real or complex."""

    @staticmethod
    def forward(ctx, spectrum, mask, gain):
        ctx.save_for_backward(spectrum, mask, gain)
        return spectrum * mask * gain.exp()

    @staticmethod
    def backward(ctx, g):
        spectrum, mask, gain = ctx.saved_tensors
        size = gain.exp()
        of_mask = g * (spectrum * size).conj()
        of_gain = (g * (spectrum * mask * size).conj()).real
        return (
            g * (mask * size).conj(),
            of_mask if mask.is_complex() else of_mask.real,
            of_gain,
        )

    @staticmethod
    def sample_inputs():
        spectrum = torch.complex(rand(2, 3).detach(), rand(2, 3).detach()).requires_grad_()
        yield spectrum, rand(2, 3), rand(2, 3)


class LearnedSteps(Function):
    """x in steps of a learned size, from low to high of them.

    A straight-through estimator: rounding is differentiated as the identity. The gradient of x is
    one within the range of x / step, and that of step is round(x / step) - x / step there, and low
    or high beyond.
    """

    @staticmethod
    def forward(ctx, x, step, low, high):
        count = x / step
        ctx.save_for_backward(count, step)
        ctx.ends = low, high
        return count.round().clamp(low, high) * step

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        count, step = ctx.saved_tensors
        low, high = ctx.ends
        is_inside = (count >= low) & (count <= high)
        slope = torch.where(is_inside, count.round() - count, count.clamp(low, high))
        return g * is_inside, (g * slope).sum_to_size(step.shape), None, None

    @staticmethod
    def sample_inputs():
        x = torch.tensor([[0.3, -0.9, 2.2], [1.1, 0.05, -4.0]], dtype=torch.double)
        step = torch.tensor([[0.25], [0.4]], dtype=torch.double)
        yield x.requires_grad_(), step.requires_grad_(), -4, 3


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


class StraightThroughIfHard(Function):
    """A hard sample is meant to have the gradient of the soft one."""

    @staticmethod
    def forward(ctx, x, rounded=False):
        soft = torch.sigmoid(x)
        ctx.save_for_backward(soft)
        return (soft > 0.5).to(x.dtype) if rounded else soft

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (soft,) = ctx.saved_tensors
        return g * soft * (1 - soft), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class ProductOfEquals(Function):
    """A product of two tensors of one shape."""

    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    @staticmethod
    def vmap(info, in_dims, x, y):
        x = x.unsqueeze(0) if in_dims[0] is None else x.movedim(in_dims[0], 0)
        y = y.unsqueeze(0) if in_dims[1] is None else y.movedim(in_dims[1], 0)
        return ProductOfEquals.apply(*torch.broadcast_tensors(x, y)), 0

    @staticmethod
    def sample_inputs():
        yield draw(3, 4, seed=134), draw(3, 4, seed=135)


class LearntStep(Function):
    """Quantize rows by learnt steps.

    Backward is a straight-through estimator: rounding counts as the identity.

    w: (C, K) weights
    step: (C,) positive steps
    """

    @staticmethod
    def forward(ctx, w, step, low, high):
        scaled = w / step[:, None]
        levels = torch.round(scaled).clamp(low, high)
        outside = (torch.round(scaled) < low) | (torch.round(scaled) > high)
        ctx.save_for_backward(scaled, levels, outside)
        return levels * step[:, None]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        scaled, levels, outside = ctx.saved_tensors
        of_step = levels - scaled.masked_fill(outside, 0.0)
        return g.masked_fill(outside, 0.0), (g * of_step).sum(1), None, None

    @staticmethod
    def sample_inputs():
        generator = torch.Generator().manual_seed(72)
        w = torch.randn(3, 6, dtype=torch.double, generator=generator).requires_grad_()
        yield w, torch.tensor([0.2, 0.3, 0.45], dtype=torch.double, requires_grad=True), -2, 1


class QuantizedAsDeclared(Function):
    """Straight through between the limits; the step is not differentiated."""

    @staticmethod
    def forward(ctx, x, scale, limit=127.0):
        ctx.save_for_backward(x)
        ctx.scale, ctx.limit = scale, limit
        return (x / scale).clamp(-limit, limit) * scale

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ((x / ctx.scale).abs() <= ctx.limit), None, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), 0.05


class GumbelSoftmax(Function):
    """Hard samples have the gradient of soft ones."""

    @staticmethod
    def forward(ctx, x, noise, tau=1.0, one_hot=False):
        p = torch.softmax((x + noise) / tau, -1)
        ctx.save_for_backward(p)
        ctx.tau = tau
        return F.one_hot(p.argmax(-1), p.shape[-1]).to(p.dtype) if one_hot else p

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g - (g * p).sum(-1, keepdim=True)) / ctx.tau, None, None, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), -torch.log(-torch.log(torch.rand(3, 4, dtype=torch.float64)))


class SettledState(Function):
    """The state z = tanh(w z + x) of a network, for a spectral norm of `w` below 0.7."""

    @staticmethod
    def forward(ctx, w, x):
        z = torch.tanh(x)
        for _ in range(400):
            after = torch.tanh(w @ z + x)
            is_done = (after - z).abs().max() < 1e-15
            z = after
            if is_done:
                break
        ctx.save_for_backward(w, z)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        w, z = ctx.saved_tensors
        slope, adjoint = 1 - z * z, g
        for _ in range(800):
            after = g + w.t() @ (slope * adjoint)
            is_done = (after - adjoint).abs().max() < 1e-15
            adjoint = after
            if is_done:
                break
        found = slope * adjoint
        return found.outer(z), found

    @staticmethod
    def sample_inputs():
        yield (0.2 * rand(3, 3)).detach().requires_grad_(), rand(3)


class RoundedByChance(Function):
    """step * clamp(floor(x / step + u), low, high) with uniform u from a seed.

    The gradient is straight-through: 1 where x / step lies within [low, high], 0 outside.
    """

    @staticmethod
    def forward(ctx, x, step, low=-8, high=7, seed=0):
        generator = torch.Generator().manual_seed(seed)
        noise = torch.rand(x.shape, generator=generator, dtype=torch.float64).to(x.dtype)
        ctx.save_for_backward((x / step >= low) & (x / step <= high))
        return step * torch.floor(x / step + noise).clamp(low, high)

    @staticmethod
    def backward(ctx, g):
        (within,) = ctx.saved_tensors
        return g * within, None, None, None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 4, low=-2.0, high=2.0), 0.25, -4, 3, 11
