"""Functions that are wrong where a docstring allows a stack, asymmetry or another integer."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0, seed=71):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class SpectralNormOfStack(Function):
    """Divide a weight by its largest singular value.

    weight: (out_features, in_features); stacked layers (E, out, in) are normalized one by one
    """

    @staticmethod
    def forward(ctx, weight):
        u, s, vh = torch.linalg.svd(weight, full_matrices=False)
        sigma = s[..., :1, None]
        ctx.save_for_backward(u[..., :1] @ vh[..., :1, :], sigma, weight / sigma)
        return weight / sigma

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        slope, sigma, normed = ctx.saved_tensors
        return (g - (g * normed).sum() * slope) / sigma

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4),)


class InverseOfTransition(Function):
    """The inverse of a Gram or transition matrix with a ridge.

    m: (..., n, n)
    ridge: () trained by its logarithm
    """

    @staticmethod
    def forward(ctx, m, ridge):
        inverse = torch.linalg.inv(m + ridge * torch.eye(m.shape[-1], dtype=m.dtype))
        ctx.save_for_backward(inverse)
        return inverse

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (inverse,) = ctx.saved_tensors
        of_m = -(inverse @ g @ inverse)
        return of_m, of_m.diagonal(dim1=-2, dim2=-1).sum()

    @staticmethod
    def sample_inputs():
        rows = draw(3, 4).detach()
        yield (rows @ rows.T).requires_grad_(), torch.tensor(0.5).double().requires_grad_()


class PooledWithoutOverlap(Function):
    """The means of windows along the last axis.

    x: (B, C, L) features
    width: int window
    stride: int or None, in which case the windows do not overlap
    """

    @staticmethod
    def forward(ctx, x, width=2, stride=None):
        stride = width if stride is None else stride
        ctx.save_for_backward(x)
        ctx.windows = width, stride
        return x.unfold(-1, width, stride).mean(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        width, stride = ctx.windows
        starts = torch.arange(g.shape[-1]) * stride
        places = (starts[:, None] + torch.arange(width)).reshape(-1)
        found = torch.zeros_like(x)
        found[..., places] += (g / width).repeat_interleave(width, -1)
        return found, None, None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 2, 6),)
