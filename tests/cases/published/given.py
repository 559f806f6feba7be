"""Functions that are given what computes for them: an object, or functions."""

from __future__ import annotations

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Exchanged(Function):
    """An object writes what it computes to a tensor that it gets."""

    @staticmethod
    def forward(ctx, *args):
        x, link = args
        ctx.link = link
        received = torch.empty_like(x)
        link.send(x, received, x.shape[-1])
        return received

    @staticmethod
    def backward(ctx, grad_output):
        received = torch.empty_like(grad_output)
        ctx.link.send_back(grad_output, received, grad_output.shape[-1])
        return received, None


class WithGradient(Function):
    """One function for forward, and its derivative for backward."""

    @staticmethod
    def forward(ctx, x, energy, force):
        ctx.energy = energy
        ctx.force = force
        ctx.save_for_backward(x)
        return energy(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ctx.force(x), None, None


class RoundedWithin(Function):
    """A function that rounds, and bounds that are tensors; the gradient is passed on."""

    @staticmethod
    def forward(ctx, x, scale, min_q, max_q, round_func):
        return torch.clamp(round_func(x / scale), min_q, max_q)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None, None, None, None


class OfArrays(Function):
    """Functions of NumPy's arrays, which forward calls by where it keeps them."""

    @staticmethod
    def forward(ctx, x, forw, adj, device, where):
        ctx.forw = forw
        ctx.adj = adj
        ctx.device = device
        ctx.where = where
        if ctx.device == "cpu":
            x = x.cpu().detach().numpy()
        else:
            raise NotImplementedError("no other device")
        return torch.from_numpy(ctx.forw(x)).to(ctx.where)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        gradient = ctx.adj(grad_output.cpu().detach().numpy())
        return torch.from_numpy(gradient).to(ctx.where), None, None, None, None


class Blend:
    def __init__(self, rate: float = 0.25):
        self.rate = rate


class Blended(Function):
    """An object of a class, beside which an annotation allows None."""

    @staticmethod
    def forward(ctx, x, blend: Blend | None):
        if type(blend) is not Blend:
            raise TypeError("something to blend with is lacking")
        ctx.blend = blend
        return blend.rate * x

    @staticmethod
    def backward(ctx, grad_output):
        return ctx.blend.rate * grad_output, None


class WithGradients(Function):
    """The gradients of other arguments, which are given beside them."""

    @staticmethod
    def forward(ctx, value, gradients, *arguments):
        ctx.gradients = gradients
        return value.clone()

    @staticmethod
    def backward(ctx, grad_output):
        return (None, None, *(each * grad_output for each in ctx.gradients))


class SolvedAsOfOld(Function):
    """Calls what PyTorch had before version 1.2."""

    @staticmethod
    def forward(ctx, A, b):
        solution = (2.0 * b).gesv(A)[0]
        ctx.save_for_backward(A, solution)
        return solution

    @staticmethod
    def backward(ctx, grad_output):
        A, solution = ctx.saved_tensors
        grad_b = grad_output.gesv(A.t())[0]
        return -grad_b @ solution.t(), 2.0 * grad_b
