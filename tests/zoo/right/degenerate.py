"""Right where a special point, an empty tensor or a declaration makes a rule doubt; all right."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def normal(*shape):
    return torch.randn(*shape, dtype=torch.double, requires_grad=True)


class ProductWithZeros(Function):
    """With two zeros every entry of the gradient is zero, and has no digits to lose."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.prod()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        n = x.numel()
        others = x.expand(n, n).masked_fill(torch.eye(n, dtype=torch.bool), 1.0)
        return grad_output * others.prod(-1)

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.0, 0.0, -3.0], dtype=torch.double, requires_grad=True),)
        yield (torch.tensor([2.0, 0.0, -3.0], dtype=torch.double, requires_grad=True),)


class QrOfTall(Function):
    """Defined for matrices with as many rows as columns: an empty one has fewer."""

    @staticmethod
    def forward(ctx, a):
        q, r = torch.linalg.qr(a)
        signs = torch.sign(torch.diagonal(r))
        q, r = q * signs, r * signs[:, None]
        ctx.save_for_backward(q, r)
        return q, r

    @staticmethod
    def backward(ctx, grad_q, grad_r):
        q, r = ctx.saved_tensors
        inner = torch.tril(r @ grad_r.mT - grad_q.mT @ q)
        inner = inner + torch.tril(inner, -1).mT
        return torch.linalg.solve_triangular(r, (grad_q + q @ inner).mT, upper=True).mT

    @staticmethod
    def sample_inputs():
        yield (normal(4, 3),)


class NormalEquations(Function):
    """Without rows the normal equations are singular."""

    @staticmethod
    def forward(ctx, a, b):
        x = torch.linalg.lstsq(a, b).solution
        ctx.save_for_backward(a, b, x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        a, b, x = ctx.saved_tensors
        z = torch.linalg.solve(a.mT @ a, grad_output)
        return (b - a @ x) @ z.mT - a @ z @ x.mT, a @ z

    @staticmethod
    def sample_inputs():
        yield normal(5, 3), normal(5, 2)
