"""Right Functions whose docstrings leave a choice of ranks, or give several names one shape."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0, seed=71):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class VolumeOfEachRank(Function):
    """Scale channels and count their volume.

    x: (N, C) or (N, C, L); log_scale: (C,). Returns the scaled x and L * sum(log_scale).
    """

    @staticmethod
    def forward(ctx, x, log_scale):
        if x.dim() == 3:
            factor, length = log_scale.exp()[:, None], x.shape[2]
        else:
            factor, length = log_scale.exp(), 1
        ctx.save_for_backward(x, factor)
        ctx.length = length
        return x * factor, length * log_scale.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output, grad_volume):
        x, factor = ctx.saved_tensors
        of_x = grad_output * factor
        axes = [0, 2] if x.dim() == 3 else [0]
        return of_x, (of_x * x).sum(axes) + ctx.length * grad_volume

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), draw(2)


class LogDetOfFactors(Function):
    """Log-determinants.

    a: (n, n) symmetric positive definite, or a batch (B, n, n).
    """

    @staticmethod
    def forward(ctx, a):
        factor = torch.linalg.cholesky(a)
        ctx.save_for_backward(factor)
        return 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (factor,) = ctx.saved_tensors
        return grad_output[..., None, None] * torch.cholesky_inverse(factor)

    @staticmethod
    def sample_inputs():
        root = draw(3, 3).detach()
        eye = torch.eye(3, dtype=torch.double)
        yield ((root @ root.T + eye).requires_grad_(),)


class DotsOfRows(Function):
    """Dot products of rows; only matrices are taken.

    x, y: (N, D) rows, or (D,) with its own entry point elsewhere.
    """

    @staticmethod
    def forward(ctx, x, y):
        if x.dim() != 2:
            raise ValueError("rows expected")
        ctx.save_for_backward(x, y)
        return (x * y).sum(1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output[:, None] * y, grad_output[:, None] * x

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), draw(2, 3, seed=5)
