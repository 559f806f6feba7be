"""Quantisers and solvers: scales, bits, callables and configurations."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.autograd import Function


class BoundedAffine(Function):
    """A scale for each channel and a number of bits that is asserted."""

    @staticmethod
    def forward(ctx, x, scale, bits):
        n, c, h, w = x.shape
        assert scale.shape == (c,), "scale must have one entry for each channel"
        assert bits in (4, 8)
        s = scale.reshape(1, -1, 1, 1)
        top = 2.0 ** (bits - 1)
        ctx.top = top
        ctx.save_for_backward(x, s)
        return torch.tanh(x / s) * s * top

    @staticmethod
    def backward(ctx, grad_output):
        x, s = ctx.saved_tensors
        t = torch.tanh(x / s)
        grad_x = grad_output * ctx.top * (1 - t * t)
        grad_s = grad_output * ctx.top * (t - (1 - t * t) * x / s)
        return grad_x, grad_s.sum((0, 2, 3)), None


class BoundedAffineForgetsScale(Function):
    """A backward that treats the scale as if it only multiplied."""

    @staticmethod
    def forward(ctx, x, scale, bits):
        n, c, h, w = x.shape
        assert scale.shape == (c,), "scale must have one entry for each channel"
        assert bits in (4, 8)
        s = scale.reshape(1, -1, 1, 1)
        top = 2.0 ** (bits - 1)
        ctx.top = top
        ctx.save_for_backward(x, s)
        return torch.tanh(x / s) * s * top

    @staticmethod
    def backward(ctx, grad_output):
        x, s = ctx.saved_tensors
        t = torch.tanh(x / s)
        grad_x = grad_output * ctx.top * (1 - t * t)
        return grad_x, (grad_output * ctx.top * t).sum((0, 2, 3)), None


@dataclass
class Config:
    """Constants of a simulation."""

    step: float = 0.1
    count: int = 3


class Decay(Function):
    """An object of the module, made with its defaults."""

    @staticmethod
    def forward(ctx, state, config: Config):
        ctx.factor = (1 - config.step) ** config.count
        return state * ctx.factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None


class FixedPoint(Function):
    """The derivative of a callable, by autograd, at the point that it leads to."""

    @staticmethod
    def forward(ctx, func, y0):
        with torch.no_grad():
            y = func(y0)
        ctx.func = func
        ctx.save_for_backward(y0)
        return y * 2.0

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        (y0,) = ctx.saved_tensors
        with torch.enable_grad():
            y0 = y0.detach().requires_grad_()
            y = ctx.func(y0)
            (grad,) = torch.autograd.grad(y, y0, 2.0 * grad_output)
        return None, grad


class MaskedCheckpoint(Function):
    """No output depends on the argument that asks for a gradient."""

    @staticmethod
    def forward(ctx, mode, x):
        if mode != "carry":
            raise ValueError("mode must be carry")
        ctx.save_for_backward(x)
        return torch.ones(3, dtype=x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return None, x * 0


class WindowOf(Function):
    """Numbers that have to fit the shape, as the call in this module shows."""

    @staticmethod
    def forward(ctx, x, height, width):
        if height * width != x.shape[1] or height < 3:
            raise ValueError("the input has the wrong size")
        ctx.width = width
        return x.reshape(x.shape[0], height, width).sum(2)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.repeat_interleave(ctx.width, 1), None, None


if __name__ == "__main__":
    tokens = torch.randn(2, 15, requires_grad=True)
    WindowOf.apply(tokens, 5, 3).sum().backward()
