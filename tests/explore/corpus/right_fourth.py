"""Right Functions with optional tensors, shared arguments, other ranks, and indices."""

import numpy as np
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape):
    return torch.randn(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(4))


class ConstantWeights(Function):
    @staticmethod
    def forward(ctx, x, target, weight=None):
        error = x - target
        if weight is not None:
            error = weight * error
        ctx.save_for_backward(error, weight)
        return error.square().sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        error, weight = ctx.saved_tensors
        grad = 2 * grad_output * (error if weight is None else weight * error)
        return grad, -grad, None

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3), draw(3, 4).T)


class ScaleIsANumber(Function):
    @staticmethod
    def forward(ctx, q, k, scale=None):
        factor = q.shape[-1] ** -0.5 if scale is None else scale
        ctx.save_for_backward(q, k)
        ctx.factor = factor
        return factor * q @ k.T

    @staticmethod
    def backward(ctx, grad_output):
        q, k = ctx.saved_tensors
        return ctx.factor * grad_output @ k, ctx.factor * grad_output.T @ q, None

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3), draw(5, 3))


class RowsWritten(Function):
    @staticmethod
    def forward(ctx, table, index, rows):
        ctx.save_for_backward(index)
        result = table.clone()
        result[index] = rows
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        of_table = grad_output.clone()
        of_table[index] = 0
        return of_table, None, grad_output[index]

    @staticmethod
    def sample_inputs():
        yield (draw(6, 2), torch.tensor([5, 0, 3]), draw(3, 2))


class RowsAdded(Function):
    @staticmethod
    def forward(ctx, table, index):
        ctx.save_for_backward(index)
        ctx.rows = table.shape[0]
        return table.index_select(0, index)

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        grad = grad_output.new_zeros(ctx.rows, grad_output.shape[1])
        return grad.index_add(0, index, grad_output), None

    @staticmethod
    def sample_inputs():
        yield (draw(6, 2), torch.tensor([5, 0, 3]))


class ShuffledBack(Function):
    @staticmethod
    def forward(ctx, x, order):
        ctx.save_for_backward(order)
        return x[order]

    @staticmethod
    def backward(ctx, grad_output):
        (order,) = ctx.saved_tensors
        return grad_output[torch.argsort(order)], None

    @staticmethod
    def sample_inputs():
        yield (draw(4, 2), torch.tensor([2, 0, 3, 1]))


class SharedOffset(Function):
    @staticmethod
    def forward(ctx, scores, offset):
        ctx.save_for_backward(scores, offset)
        return torch.tanh(scores + offset)

    @staticmethod
    def backward(ctx, grad_output):
        scores, offset = ctx.saved_tensors
        grad = grad_output * (1 - torch.tanh(scores + offset) ** 2)
        if offset.shape[0] != scores.shape[0]:
            return grad, grad.sum(0, keepdim=True)
        return grad, grad

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3), draw(4, 3))


class MeanSquareOfOneShape(Function):
    @staticmethod
    def forward(ctx, x, target):
        if x.shape != target.shape:
            raise ValueError(f"{x.shape} is not {target.shape}")
        ctx.save_for_backward(x, target)
        return (x - target).square().mean()

    @staticmethod
    def backward(ctx, grad_output):
        x, target = ctx.saved_tensors
        grad = 2 * grad_output * (x - target) / target.numel()
        return grad, -grad

    @staticmethod
    def sample_inputs():
        yield (draw(1, 3), draw(3, 1).T)


class OfAnyRank(Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale.view(1, -1, *[1] * (x.ndim - 2))

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        of_scale = grad_output * x
        if x.ndim > 2:
            of_scale = of_scale.flatten(2).sum(-1)
        return grad_output * scale.view(1, -1, *[1] * (x.ndim - 2)), of_scale.sum(0)

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3), draw(3))


class OddPower(Function):
    """The slope of an odd power, which has no sign."""

    @staticmethod
    def forward(ctx, x, power=3):
        ctx.save_for_backward(x)
        ctx.power = power
        return x.sign() * x.abs() ** power

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ctx.power * x ** (ctx.power - 1), None

    @staticmethod
    def sample_inputs():
        yield (draw(4),)


class Expectation(Function):
    """psi* H psi of a Hermitian matrix."""

    @staticmethod
    def forward(ctx, psi, matrix):
        ctx.save_for_backward(psi, matrix)
        return (psi.conj() @ matrix @ psi).real

    @staticmethod
    def backward(ctx, grad_output):
        psi, matrix = ctx.saved_tensors
        return 2 * grad_output * matrix @ psi, grad_output * torch.outer(psi, psi.conj())

    @staticmethod
    def sample_inputs():
        matrix = torch.complex(draw(3, 3), draw(3, 3).T)
        yield (torch.complex(draw(3), draw(3).flip(0)), matrix + matrix.mH)


class SegmentMeans(Function):
    @staticmethod
    def forward(ctx, x, ids):
        counts = torch.bincount(ids, minlength=3).clamp(min=1).to(x.dtype)
        ctx.save_for_backward(ids, counts)
        return x.new_zeros(3).index_add(0, ids, x) / counts

    @staticmethod
    def backward(ctx, grad_output):
        ids, counts = ctx.saved_tensors
        return (grad_output / counts)[ids], None

    @staticmethod
    def sample_inputs():
        yield (draw(6), torch.tensor([0, 0, 0, 1, 1, 2]))


class MatrixExponential(Function):
    @staticmethod
    def forward(ctx, matrix):
        values, vectors = torch.linalg.eigh((matrix + matrix.T) / 2)
        ctx.save_for_backward(values, vectors)
        return vectors @ torch.diag(values.exp()) @ vectors.T

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        values, vectors = ctx.saved_tensors
        gaps = values[:, None] - values
        middle = ((values[:, None] + values) / 2).exp()
        near = gaps.abs() < 1e-7
        half = torch.where(near, 1.0, gaps / 2)
        quotients = torch.where(near, middle, middle * torch.sinh(half) / half)
        inner = vectors.T @ ((grad_output + grad_output.T) / 2) @ vectors
        return vectors @ (quotients * inner) @ vectors.T

    @staticmethod
    def sample_inputs():
        matrix = draw(3, 3)
        yield (matrix + matrix.T,)


class PowerThroughNumPy(Function):
    @staticmethod
    def forward(ctx, x, power=2.0):
        ctx.save_for_backward(x)
        ctx.power = power
        return torch.from_numpy(np.exp(power * np.log(x.detach().numpy())))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ctx.power * x ** (ctx.power - 1), None

    @staticmethod
    def sample_inputs():
        yield (draw(4).abs() + 0.5,)
