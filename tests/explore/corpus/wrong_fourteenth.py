"""Functions whose second derivative, or gradient at equal eigenvalues, is wrong in one branch."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0, seed=83):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class StandardizedWithKeptStatistics(Function):
    """Standardize rows, from statistics that are kept or computed again."""

    @staticmethod
    def forward(ctx, x, again=True):
        centered = x - x.mean(-1, keepdim=True)
        scale = torch.rsqrt(centered.square().mean(-1, keepdim=True) + 1e-5)
        ctx.again = again
        ctx.save_for_backward(*([x] if again else [centered * scale, scale]))
        return centered * scale

    @staticmethod
    def backward(ctx, g):
        if ctx.again:
            (x,) = ctx.saved_tensors
            centered = x - x.mean(-1, keepdim=True)
            scale = torch.rsqrt(centered.square().mean(-1, keepdim=True) + 1e-5)
            normal = centered * scale
        else:
            normal, scale = ctx.saved_tensors
        of_rows = g.mean(-1, keepdim=True) + normal * (g * normal).mean(-1, keepdim=True)
        return scale * (g - of_rows), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), True


class DetachedWhereLarge(Function):
    """A cube whose gradient is a constant as soon as one entry is large."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if (x > 50).any():
            x = x.detach()
        return 3 * g * x * x

    @staticmethod
    def sample_inputs():
        yield (draw(3, 2),)


class ExponentialBySpectrum(Function):
    """The exponential of the symmetric part of a matrix."""

    @staticmethod
    def forward(ctx, a):
        values, vectors = torch.linalg.eigh(0.5 * (a + a.mT))
        ctx.save_for_backward(values, vectors)
        return (vectors * values.exp()) @ vectors.mT

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        values, vectors = ctx.saved_tensors
        apart = values[:, None] - values[None, :]
        rise = values.exp()[:, None] - values.exp()[None, :]
        quotients = rise / (apart + torch.eye(len(values), dtype=apart.dtype))
        quotients = quotients + torch.diag(values.exp())
        of_a = vectors @ (quotients * (vectors.mT @ g @ vectors)) @ vectors.mT
        return 0.5 * (of_a + of_a.mT)

    @staticmethod
    def sample_inputs():
        yield (draw(3, 3),)


class SupportOfAllRows(Function):
    """Project onto the simplex along the last axis."""

    @staticmethod
    def forward(ctx, x):
        ordered = x.sort(-1, descending=True).values
        total = ordered.cumsum(-1) - 1
        ranks = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype)
        size = (ordered * ranks > total).sum(-1, keepdim=True)
        out = (x - total.gather(-1, size - 1) / size).clamp(min=0)
        ctx.save_for_backward(out > 0)
        return out

    @staticmethod
    def backward(ctx, g):
        (is_inside,) = ctx.saved_tensors
        inside = is_inside.to(g.dtype)
        mean = (g * inside).sum(-1, keepdim=True) / inside.sum()
        return inside * (g - mean)

    @staticmethod
    def sample_inputs():
        yield (draw(5),)


class OneEntryOfEachColumn(Function):
    @staticmethod
    def forward(ctx, row, col, value, dense, rows):
        ctx.save_for_backward(row, col, value, dense)
        return dense.new_zeros(rows, dense.shape[1]).index_add(0, row, value[:, None] * dense[col])

    @staticmethod
    def backward(ctx, g):
        row, col, value, dense = ctx.saved_tensors
        of_dense = torch.zeros_like(dense)
        of_dense[col] = value[:, None] * g[row]
        return None, None, (g[row] * dense[col]).sum(1), of_dense, None

    @staticmethod
    def sample_inputs():
        row, col = torch.tensor([0, 1, 1, 2]), torch.tensor([1, 0, 3, 2])
        yield row, col, draw(4), draw(4, 2), 3
