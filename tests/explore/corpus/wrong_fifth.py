"""Functions whose gradient is not finite at whole numbers, or where an exponential overflows."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape):
    return torch.rand(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(6))


class QuotientOfExponentials(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.nn.functional.softplus(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.exp() / (1 + x.exp())

    @staticmethod
    def sample_inputs():
        yield (4 * draw(3, 4) - 2,)


class BilinearByDivision(Function):
    @staticmethod
    def forward(ctx, table, x):
        corner = x.detach().floor().clamp(0, len(table) - 2).long()
        part = x - corner
        weights = torch.stack((1 - part, part), -1)
        ctx.save_for_backward(table, corner, weights)
        (i, j), (u, v) = corner.unbind(-1), weights.unbind(-2)
        return sum(table[i + a, j + b] * u[:, a] * v[:, b] for a in (0, 1) for b in (0, 1))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        table, corner, weights = ctx.saved_tensors
        (i, j), (u, v) = corner.unbind(-1), weights.unbind(-2)
        of_table, of_x = torch.zeros_like(table), 0
        for a in (0, 1):
            for b in (0, 1):
                weight = u[:, a] * v[:, b]
                of_table.index_put_((i + a, j + b), grad_output * weight, accumulate=True)
                slope = grad_output * table[i + a, j + b] * weight
                signs = torch.tensor([2 * a - 1, 2 * b - 1])
                of_x = of_x + signs * slope[:, None] / torch.stack((u[:, a], v[:, b]), -1)
        return of_table, of_x

    @staticmethod
    def sample_inputs():
        yield draw(5, 5), 0.1 + 3.8 * draw(6, 2)
