"""Spikes whose slope is a function that backward calls, and whose backward is that of a base."""

from collections.abc import Callable

import torch
from torch.autograd import Function


class SlopeAtTheInput:
    @staticmethod
    def backward(ctx, grad_output):
        (potential,) = ctx.saved_tensors
        return grad_output * ctx.slope(potential - ctx.threshold), None, None


class Spikes(SlopeAtTheInput, Function):
    @staticmethod
    def forward(ctx, potential, threshold: float | torch.Tensor, slope: Callable):
        ctx.save_for_backward(potential)
        ctx.threshold, ctx.slope = threshold, slope
        return (potential > threshold).to(potential.dtype)
