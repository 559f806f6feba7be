"""Functions whose arguments are known by a position, an axis, a table or an example."""

import math

import numpy as np
import torch
from torch.autograd import Function

_PARTNER = torch.tensor([6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5])


def _difference(x, dim, boundary):
    if boundary == "open":
        count = x.shape[dim]
        return torch.narrow(x, dim, 1, count - 1) - torch.narrow(x, dim, 0, count - 1)
    if boundary == "closed":
        return x - torch.roll(x, 1, dims=dim)
    raise ValueError("boundary should be either 'open' or 'closed'")


def _adjoint(y, dim, boundary):
    if boundary == "open":
        count = y.shape[dim]
        zero = torch.zeros_like(torch.narrow(y, dim, 0, 1))
        inner = torch.narrow(y, dim, 0, count)
        return torch.cat([zero, inner], dim) - torch.cat([inner, zero], dim)
    if boundary == "closed":
        return y - torch.roll(y, -1, dims=dim)
    raise ValueError("boundary should be either 'open' or 'closed'")


class DifferenceAlong(Function):
    @staticmethod
    def forward(ctx, x, dim, boundary):
        ctx.dim, ctx.boundary = dim, boundary
        return _difference(x, dim, boundary)

    @staticmethod
    def backward(ctx, grad_output):
        return _adjoint(grad_output, ctx.dim, ctx.boundary), None, None


class SwappedHalves(Function):
    """A product with the other half of twelve numbers, by a table of their places."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y[..., _PARTNER]

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y[..., _PARTNER], (grad_output * x)[..., _PARTNER]


class Parabola(Function):
    """Heights over a base, from the values by their positions."""

    @staticmethod
    def forward(*values):
        x, y = (each.detach().numpy() for each in values[1:3])
        curvature = values[3].item()
        heights = [curvature * one * one + other for one, other in zip(x, y, strict=True)]
        raised = [height if height > -1e9 else -1e9 for height in heights]
        return torch.from_numpy(np.array(raised)) + values[0]

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        _, x, _, curvature = ctx.saved_tensors
        squares = (grad_output * x * x).sum()
        return grad_output, 2 * curvature * x * grad_output, grad_output, squares


class AngleOf(Function):
    """The angle of a cosine, which rounding may leave a little above 1."""

    @staticmethod
    def forward(ctx, cosine):
        ctx.save_for_backward(cosine)
        inside = cosine.clamp(-1.0, 1.0)
        return torch.acos(inside)

    @staticmethod
    def backward(ctx, grad_output):
        (cosine,) = ctx.saved_tensors
        inside = cosine.clamp(-1.0 + 1e-7, 1.0 - 1e-7)
        return -grad_output / (1 - inside**2).sqrt()


class Occupied(Function):
    """Full places up to a number, and the rest of it in the next.

    >>> filled = torch.tensor(1.25, dtype=torch.float64, requires_grad=True)
    >>> Occupied.apply(filled, 1, 2, 4)
    tensor([1.0000, 0.2500, 0.0000, 0.0000])
    """

    @staticmethod
    def forward(ctx, filled, below, above, places):
        if not below <= filled < above <= places:
            raise ValueError("the numbers of places do not fit")
        ctx.above = above
        result = filled.new_zeros(places)
        result[:below] = 1.0
        result[below] = filled - math.floor(filled)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output[ctx.above - 1], None, None, None


class Accepted(Function):
    """Solutions where the iteration converged, and NaN elsewhere."""

    @staticmethod
    def forward(ctx, solution, converged):
        if converged.shape != solution.shape:
            raise ValueError("one flag for each entry is needed")
        ctx.save_for_backward(converged)
        return torch.where(converged, solution, torch.nan)

    @staticmethod
    def backward(ctx, grad_output):
        (converged,) = ctx.saved_tensors
        return torch.where(converged, grad_output, torch.nan), None


class Balanced(Function):
    """Passes a solution on, and gives its gradient to what the problem was posed with."""

    @staticmethod
    def forward(solution, problem, *params):
        return solution.clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, problem, *params = inputs
        ctx.problem = problem
        ctx.save_for_backward(output, *(each for each in params if torch.is_tensor(each)))

    @staticmethod
    def backward(ctx, grad_output):
        solution, *params = ctx.saved_tensors
        problem: object = ctx.problem
        if not params:
            return None, None, *([None] * (len(ctx.needs_input_grad) - 2))
        return None, None, *problem.pullback(problem.solve(grad_output), solution, params)


class SummedOver(Function):
    """Dimensions in a list, which forward goes through."""

    @staticmethod
    def forward(ctx, x, batch_dim):
        batch_dim = [dim if dim >= 0 else x.dim() + dim for dim in batch_dim]
        ctx.shape = x.shape
        ctx.batch_dim = batch_dim
        return x.sum(dim=batch_dim)

    @staticmethod
    def backward(ctx, grad_output):
        for dim in sorted(ctx.batch_dim):
            grad_output = grad_output.unsqueeze(dim)
        return grad_output.expand(ctx.shape), None


class DepthInBall(Function):
    """How deep points lie in the Poincaré ball; those outside are at its border."""

    @staticmethod
    def forward(ctx, x, c):
        ctx.save_for_backward(x, c)
        return (1 - c * x.pow(2).sum(-1)).clamp_min(1e-15).log()

    @staticmethod
    def backward(ctx, grad_output):
        x, c = ctx.saved_tensors
        squared = x.pow(2).sum(-1)
        slope = -grad_output / (1 - c * squared)
        return 2 * c * slope.unsqueeze(-1) * x, (slope * squared).sum()
