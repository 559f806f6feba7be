"""Functions that are right at ties and kinks, by one of several conventions."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


def unit(*shape):
    return torch.rand(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(7))


class AreasOfTriangles(Function):
    """Areas of non-degenerate triangles between points in space."""

    @staticmethod
    def forward(ctx, points, corners):
        a, b, c = points[corners].unbind(1)
        normal = torch.linalg.cross(b - a, c - a)
        length = normal.norm(dim=1, keepdim=True)
        ctx.save_for_backward(a, b, c, normal / length, corners)
        ctx.count = len(points)
        return 0.5 * length[:, 0]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b, c, unit_normal, corners = ctx.saved_tensors
        half = 0.5 * g[:, None] * unit_normal
        found = half.new_zeros(ctx.count, 3)
        for corner, side in enumerate((c - b, a - c, b - a)):
            found.index_add_(0, corners[:, corner], torch.linalg.cross(half, side))
        return found, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), torch.tensor([[0, 1, 2], [0, 2, 3]])


class SharedBudget(Function):
    """The closest y to x with 0 <= y <= top and a given sum, below that of top, by bisection."""

    @staticmethod
    def forward(ctx, x, top, total):
        low, high = (x - top).min() - 1, x.max() + 1
        for _ in range(80):
            middle = 0.5 * (low + high)
            is_low = torch.minimum((x - middle).clamp(min=0), top).sum() > total
            low, high = (middle, high) if is_low else (low, middle)
        rest = x - 0.5 * (low + high)
        full = rest >= top
        ctx.save_for_backward((rest > 0) & ~full, full)
        return torch.minimum(rest.clamp(min=0), top)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        free, full = (each.to(g.dtype) for each in ctx.saved_tensors)
        mean = (g * free).sum() / free.sum().clamp(min=1)
        return free * (g - mean), full * (g - mean), mean

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.9, 0.2, -1.0, 0.4, 0.5], dtype=torch.double, requires_grad=True)
        top = torch.tensor([0.5, 1.0, 1.0, 0.8, 1.0], dtype=torch.double, requires_grad=True)
        total = torch.tensor(1.2, dtype=torch.double, requires_grad=True)
        yield x, top, total
        x = torch.tensor([0.9, 1.0, -1.0, 0.4, 0.5], dtype=torch.double, requires_grad=True)
        yield x, top, total


class OrderedHazard(Function):
    """Sum of the risks of all whose time is not less than that of each entry."""

    @staticmethod
    def forward(ctx: Any, risk: Tensor, time: Tensor) -> Tensor:
        at_risk = (time[None, :] >= time[:, None]).to(risk.dtype)
        ctx.save_for_backward(at_risk)
        return at_risk @ risk

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (at_risk,) = ctx.saved_tensors
        return at_risk.t() @ grad_output, None

    @staticmethod
    def sample_inputs() -> Any:
        risk = torch.linspace(-1, 1, 5, dtype=torch.float64).requires_grad_()
        return risk, torch.tensor([3.0, 1.0, 2.5, 7.0, 4.2], dtype=torch.float64)


class DistanceToPoints(Function):
    """Distances from points to others, which are none of them."""

    @staticmethod
    def forward(ctx, a, b):
        apart = a - b
        length = apart.norm(dim=-1)
        ctx.save_for_backward(apart / length[:, None])
        return length

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (direction,) = ctx.saved_tensors
        grad = grad_output[:, None] * direction
        return grad, -grad

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), draw(3, 2) * 0.7 + 0.2


class HatOfOwnKink(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.clamp(1 - x.abs(), min=0)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return torch.where(x.abs() < 1, -torch.sign(x), 0.0) * grad_output

    @staticmethod
    def sample_inputs():
        yield (3 * unit(3, 4) - 1.5,)


class Sawtooth(Function):
    @staticmethod
    def forward(ctx, x):
        return x - x.floor()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone()

    @staticmethod
    def sample_inputs():
        yield (6 * unit(3, 4) - 3,)


class MaxShared(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.amax(-1, keepdim=True)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y).to(g.dtype)
        return g * mask / mask.sum(-1, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class MaxOne(Function):
    @staticmethod
    def forward(ctx, x):
        y, at = x.max(-1, keepdim=True)
        ctx.save_for_backward(at)
        ctx.shape = x.shape
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (at,) = ctx.saved_tensors
        return torch.zeros(ctx.shape, dtype=g.dtype).scatter_(-1, at, g)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class HalfAtTies(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return torch.maximum(a, b)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        w = (a > b).to(g.dtype) + 0.5 * (a == b)
        return g * w, g * (1 - w)

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(3, 4)


class Relu(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x > 0)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class ReluAtZeroOne(Function):
    """The other one-sided derivative at zero."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x >= 0)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class SignedAbs(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.abs()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.sign()

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class Clamped(Function):
    @staticmethod
    def forward(ctx, x, low=-1.0, high=1.0):
        ctx.save_for_backward(x)
        ctx.low, ctx.high = low, high
        return x.clamp(low, high)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ((x >= ctx.low) & (x <= ctx.high)), None, None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class TopK(Function):
    @staticmethod
    def forward(ctx, x, k=2):
        y, at = x.topk(k, dim=-1)
        ctx.save_for_backward(at)
        ctx.shape = x.shape
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (at,) = ctx.saved_tensors
        return torch.zeros(ctx.shape, dtype=g.dtype).scatter(-1, at, g), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class SortedValues(Function):
    @staticmethod
    def forward(ctx, x):
        y, at = torch.sort(x, dim=-1)
        ctx.save_for_backward(at)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (at,) = ctx.saved_tensors
        return torch.zeros_like(g).scatter(-1, at, g)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class CumulativeMax(Function):
    @staticmethod
    def forward(ctx, x):
        y, at = x.cummax(-1)
        ctx.save_for_backward(at)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (at,) = ctx.saved_tensors
        return torch.zeros_like(g).scatter_add(-1, at, g)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class TropicalProduct(Function):
    """The max-plus product; the first of tied terms gets the gradient."""

    @staticmethod
    def forward(ctx, a, b):
        y, place = (a[:, :, None] + b[None, :, :]).max(1)
        ctx.save_for_backward(place)
        ctx.inner = a.shape[1]
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (place,) = ctx.saved_tensors
        chosen = F.one_hot(place, ctx.inner).to(grad_output.dtype) * grad_output[..., None]
        return chosen.sum(1), chosen.sum(0).t()

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), draw(3, 4, seed=8)


class SharedMaximum(Function):
    """The largest absolute difference of rows of two tensors; ties share the gradient evenly."""

    @staticmethod
    def forward(ctx, x, y):
        apart = x - y
        size = apart.abs()
        top = size.amax(-1, keepdim=True)
        is_top = size == top
        ctx.save_for_backward(apart, is_top)
        return top.squeeze(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        apart, is_top = ctx.saved_tensors
        share = is_top / is_top.sum(-1, keepdim=True)
        grad = grad_output[..., None] * share * apart.sign()
        return grad, -grad

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), draw(3, 4, seed=8)


class TripletHinge(Function):
    @staticmethod
    def forward(ctx, a, p, n, margin=1.0):
        gap = ((a - p) ** 2).sum(-1) - ((a - n) ** 2).sum(-1) + margin
        ctx.save_for_backward(a, p, n, gap)
        return gap.clamp(min=0).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, p, n, gap = ctx.saved_tensors
        w = (g * (gap > 0) / gap.shape[0]).unsqueeze(-1)
        return w * 2 * (n - p), -w * 2 * (a - p), w * 2 * (a - n), None

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), rand(4, 3), rand(4, 3)


class SmallestOfOthers(Function):
    """For each entry of a row the smallest size among the others, with the sign of their product.

    Zero counts as positive. Of equal sizes one is taken.
    """

    @staticmethod
    def forward(ctx, x):
        signs = 1 - 2 * (x < 0).to(x.dtype)
        sizes, places = torch.topk(x.abs(), 2, dim=1, largest=False)
        is_least = torch.arange(x.shape[1]) == places[:, :1]
        source = torch.where(is_least, places[:, 1:], places[:, :1])
        sign = signs.prod(1, keepdim=True) * signs
        ctx.save_for_backward(sign * signs.gather(1, source), source)
        return sign * torch.where(is_least, sizes[:, 1:], sizes[:, :1])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        slope, source = ctx.saved_tensors
        return torch.zeros_like(g).scatter_add_(1, source, g * slope)

    @staticmethod
    def sample_inputs():
        yield (rand(2, 5),)


class ScaledAdvantage(Function):
    """Returns less their mean, over their deviation and `eps`; at least two different ones."""

    @staticmethod
    def forward(ctx, r, eps=1e-4):
        ctx.save_for_backward(r)
        ctx.eps = eps
        return (r - r.mean(-1, keepdim=True)) / (r.std(-1, keepdim=True) + eps)

    @staticmethod
    def backward(ctx, g):
        (r,) = ctx.saved_tensors
        c, n = r - r.mean(-1, keepdim=True), r.shape[-1]
        deviation = (c.square().sum(-1, keepdim=True) / (n - 1)).sqrt()
        scale = deviation + ctx.eps
        along = (g * c).sum(-1, keepdim=True) / ((n - 1) * deviation * scale**2)
        return (g - g.mean(-1, keepdim=True)) / scale - c * along, None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 4),)


class LogOfDistance(Function):
    """asinh of the distances of rows; u != v."""

    @staticmethod
    def forward(ctx, u, v):
        ctx.save_for_backward(u, v)
        return torch.asinh((u - v).norm(dim=-1))

    @staticmethod
    def backward(ctx, g):
        u, v = ctx.saved_tensors
        square = (u - v).square().sum(-1, keepdim=True)
        gu = g.unsqueeze(-1) * (u - v) / (square * (1 + square)).sqrt()
        return gu, -gu

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(2, 3)


class OverlapOfIntervals(Function):
    """Length of what two intervals (n, 2) have in common; they must not share an end."""

    @staticmethod
    def forward(ctx, a, b):
        start, end = torch.maximum(a[:, 0], b[:, 0]), torch.minimum(a[:, 1], b[:, 1])
        ctx.save_for_backward(a, b)
        return (end - start).clamp(min=0)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        meet = torch.minimum(a[:, 1], b[:, 1]) > torch.maximum(a[:, 0], b[:, 0])
        found = []
        for one, other in ((a, b), (b, a)):
            start, end = -g * meet * (one[:, 0] > other[:, 0]), g * meet * (one[:, 1] < other[:, 1])
            found.append(torch.stack([start, end], 1))
        return tuple(found)

    @staticmethod
    def sample_inputs():
        a = torch.tensor([[0.0, 2.0], [1.0, 3.0]], dtype=torch.double, requires_grad=True)
        yield a, torch.tensor([[1.0, 3.0], [0.5, 2.0]], dtype=torch.double, requires_grad=True)


class AreaOfTriangles(Function):
    """Areas of triangles between points (n, 2), none of which is a zero-area triangle."""

    @staticmethod
    def forward(ctx, points, corners):
        one, two, three = points[corners].unbind(1)
        u, v = two - one, three - one
        ctx.save_for_backward(points, corners)
        return (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]).abs() / 2

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        points, corners = ctx.saved_tensors
        one, two, three = points[corners].unbind(1)
        u, v = two - one, three - one
        twice = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
        along = (g * twice / twice.abs() / 2).unsqueeze(-1)
        of_u = along * torch.stack([v[:, 1], -v[:, 0]], 1)
        of_v = along * torch.stack([-u[:, 1], u[:, 0]], 1)
        of_points = torch.zeros_like(points)
        for corner, each in enumerate((-of_u - of_v, of_u, of_v)):
            of_points.index_add_(0, corners[:, corner], each)
        return of_points, None

    @staticmethod
    def sample_inputs():
        yield rand(4, 2), torch.tensor([[0, 1, 2], [0, 2, 3]])


class AreaOfFaces(Function):
    """Areas of triangles spanned by edges u, v (n, 2); u is never a multiple of v."""

    @staticmethod
    def forward(ctx, u, v):
        ctx.save_for_backward(u, v)
        return (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]).abs()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        u, v = ctx.saved_tensors
        area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
        along = (g * area / area.abs()).unsqueeze(-1)
        turned = torch.tensor([1.0, -1.0], dtype=u.dtype)
        return along * turned * v.flip(1), -along * turned * u.flip(1)

    @staticmethod
    def sample_inputs():
        yield rand(2, 2), draw(2, 2, seed=1)
