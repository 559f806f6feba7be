"""Digits lost on the way back."""

import torch
from torch.autograd import Function


class SingleInsideBackward(Function):
    """Comes back as float64, with the digits of float32."""

    expect = {"GT601"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return (grad_output.float() * x.float().cos()).double()

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.3, -0.7, 1.1, 0.9], dtype=torch.float64, requires_grad=True),)


class SavedInSingle(Function):
    """Saved in half the memory."""

    expect = {"GT601"}

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y.double()

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y.float())
        return y


class CotangentRounded(Function):
    expect = {"GT601"}

    @staticmethod
    def forward(ctx, x):
        return 3 * x

    @staticmethod
    def backward(ctx, grad_output):
        return 3 * grad_output.to(torch.float32).to(grad_output.dtype)


class CancelsLargeNumbers(Function):
    """A detour over a large constant, which leaves seven digits."""

    expect = {"GT601"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.log1p(x)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        large = 1e9
        return grad_output * ((1 / (1 + x) + large) - large)

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.5, 1.0, 3.0], dtype=torch.float64, requires_grad=True),)
