"""Decompositions, which have no derivative where a matrix loses rank."""

import torch
from torch.autograd import Function


class Orthonormalized(Function):
    """The two factors of a tall or square matrix: an orthonormal basis, and a triangle."""

    @staticmethod
    def forward(ctx, a):
        basis, triangle = torch.linalg.qr(a)
        ctx.save_for_backward(basis, triangle)
        return basis, triangle

    @staticmethod
    def backward(ctx, grad_basis, grad_triangle):
        basis, triangle = ctx.saved_tensors
        m = triangle @ grad_triangle.mT - grad_basis.mT @ basis
        m = m.tril() + m.tril(-1).mT
        return (grad_basis + basis @ m) @ torch.linalg.pinv(triangle).mT

    @staticmethod
    def sample_inputs():
        a = torch.tensor([[1.2, 0.3, -0.4], [0.5, -1.1, 0.2], [-0.3, 0.7, 1.6]], dtype=torch.double)
        yield (a.requires_grad_(),)
