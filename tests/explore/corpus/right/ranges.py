"""Functions that are right within the ranges that they are made for."""

from __future__ import annotations

from typing import Any

import torch
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


class BearingBetween(Function):
    """The angle between rows of `a` and `b` that are not parallel, from their cross product."""

    @staticmethod
    def forward(ctx, a, b):
        normal = torch.linalg.cross(a, b)
        height = normal.norm(dim=-1)
        ctx.save_for_backward(a, b, normal, height)
        return torch.atan2(height, (a * b).sum(-1))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b, normal, height = ctx.saved_tensors
        axis = normal / height[:, None] * g[:, None]
        by_a = torch.linalg.cross(axis, a) / (a * a).sum(-1, keepdim=True)
        by_b = torch.linalg.cross(axis, b) / (b * b).sum(-1, keepdim=True)
        return -by_a, by_b

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), draw(2, 3, seed=1)


class Mirrors(Function):
    """`x` mirrored at one plane after the other, whose normals are the rows of any length."""

    @staticmethod
    def forward(ctx, normals, x):
        for each in normals:
            x = x - 2 * torch.outer(each, each @ x) / (each @ each)
        ctx.save_for_backward(normals, x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        normals, x = ctx.saved_tensors
        found = []
        for each in normals.flip(0):
            part = 2 / (each @ each)
            x = x - part * torch.outer(each, each @ x)
            along, of_g = each @ x, each @ g
            found.append(part * (part * (of_g @ along) * each - g @ along - x @ of_g))
            g = g - part * torch.outer(each, of_g)
        return torch.stack(found[::-1]), g

    @staticmethod
    def sample_inputs():
        sizes = torch.tensor([[1.0], [1e-3], [40.0]], dtype=torch.float64)
        yield (draw(3, 4).detach() * sizes).requires_grad_(), draw(4, 2, seed=1)


class MixedLevel(Function):
    """The point below which the share `u` of two ramps lies, for levels `u` (n), by bisection."""

    @staticmethod
    def _share(t, scale):
        return 0.5 * (torch.tanh(t / scale) + torch.tanh(t)) / 2 + 0.5

    @staticmethod
    def forward(ctx, u, scale):
        low, high = torch.full_like(u, -60.0), torch.full_like(u, 60.0)
        for _ in range(90):
            half = (low + high) / 2
            less = MixedLevel._share(half, scale) < u
            low, high = torch.where(less, half, low), torch.where(less, high, half)
        ctx.save_for_backward((low + high) / 2, scale)
        return (low + high) / 2

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        t, scale = ctx.saved_tensors
        one, other = 1 - torch.tanh(t / scale) ** 2, 1 - torch.tanh(t) ** 2
        density = (one / scale + other) / 4
        by_scale = -(one * t / scale**2) / 4
        return g / density, -(g * by_scale / density).sum()

    @staticmethod
    def sample_inputs():
        u = torch.tensor([0.2, 0.55, 0.9], dtype=torch.float64, requires_grad=True)
        yield u, torch.tensor(1.7, dtype=torch.float64, requires_grad=True)


class Shifted(Function):
    """A draw of a distribution with mean `mu` and width `sigma`, by its rank `p` in (0, 1)."""

    @staticmethod
    def forward(ctx, p, mu, sigma):
        out = mu + sigma * (torch.log(p) - torch.log1p(-p))
        ctx.save_for_backward(out, mu, sigma)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        out, mu, sigma = ctx.saved_tensors
        z = (out - mu) / sigma
        p = torch.sigmoid(z)
        return g * sigma / (p * (1 - p)), g, g * z

    @staticmethod
    def sample_inputs():
        p = torch.tensor([0.2, 0.55, 0.9], dtype=torch.float64, requires_grad=True)
        mu = torch.tensor([0.1, -0.3, 0.4], dtype=torch.float64, requires_grad=True)
        yield p, mu, torch.tensor([0.7, 1.2, 0.5], dtype=torch.float64, requires_grad=True)


class DistanceInABall(Function):
    """Hyperbolic distance of points that lie inside the unit ball."""

    @staticmethod
    def forward(ctx, x, y):
        assert (x.square().sum(-1) < 1).all()
        assert (y.square().sum(-1) < 1).all()
        apart = (x - y).square().sum(-1)
        a, b = 1 - x.square().sum(-1), 1 - y.square().sum(-1)
        z = 2 * apart / (a * b)
        ctx.save_for_backward(x, y, a, b, z)
        return torch.log1p(z + torch.sqrt(z * (z + 2)))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y, a, b, z = ctx.saved_tensors
        root = torch.sqrt(z * (z + 2))
        of_z = torch.where(root > 0, g / root.clamp(min=1e-300), torch.zeros_like(g))
        along = (4 * of_z / (a * b))[..., None] * (x - y)
        return along + (2 * of_z * z / a)[..., None] * x, (2 * of_z * z / b)[..., None] * y - along

    @staticmethod
    def sample_inputs():
        yield draw(3, 2, low=-0.5, high=0.5), draw(3, 2, low=-0.5, high=0.5, seed=1)


class VolatilityOfAPrice(Function):
    """The width s with width_of(s, m) = price, for a price p > max(m, 0), by Newton's method."""

    @staticmethod
    def _price(s, m):
        density = torch.exp(-0.5 * (m / s) ** 2) / (2 * torch.pi) ** 0.5
        return m * torch.special.ndtr(m / s) + s * density, density

    @staticmethod
    def forward(ctx, p, m):
        low, high = torch.zeros_like(p), (2 * torch.pi) ** 0.5 * (p + m.abs())
        s = 0.5 * high
        for _ in range(25):
            price, slope = VolatilityOfAPrice._price(s, m)
            low, high = torch.where(price < p, s, low), torch.where(price < p, high, s)
            step = s - (price - p) / slope.clamp(min=1e-300)
            s = torch.where((step > low) & (step < high), step, 0.5 * (low + high))
        ctx.save_for_backward(s, m)
        return s

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        s, m = ctx.saved_tensors
        slope = VolatilityOfAPrice._price(s, m)[1]
        return g / slope, -g * torch.special.ndtr(m / s) / slope

    @staticmethod
    def sample_inputs():
        prices = torch.tensor([0.12, 0.3], dtype=torch.double, requires_grad=True)
        yield prices, torch.tensor([0.0, 0.2], dtype=torch.double, requires_grad=True)


class LossOfQuantiles(Function):
    """Smoothed pinball loss of residuals at level tau."""

    @staticmethod
    def forward(ctx, residual, tau, width: float = 1.0):
        size = residual.abs()
        smooth = torch.where(size <= width, size**2 / (2 * width), size - width / 2)
        ctx.save_for_backward(residual, tau, smooth)
        ctx.width = width
        return (tau - (residual < 0).to(tau.dtype)).abs() * smooth

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        residual, tau, smooth = ctx.saved_tensors
        is_below = residual < 0
        share = (tau - is_below.to(tau.dtype)).abs()
        slope = share * (residual / ctx.width).clamp(-1, 1)
        return g * slope, g * torch.where(is_below, -smooth, smooth), None

    @staticmethod
    def sample_inputs():
        residual = torch.tensor([0.4, -0.4, 1.0, -1.0, 0.0, 2.5, -6.0], dtype=torch.double)
        tau = torch.linspace(0.1, 0.9, 7, dtype=torch.double)
        yield residual.requires_grad_(), tau.requires_grad_()


class AnglesAndRadii(Function):
    """Radius and angle of non-zero planar vectors."""

    @staticmethod
    def forward(ctx, xy):
        ctx.save_for_backward(xy)
        return xy.norm(dim=-1), torch.atan2(xy[..., 1], xy[..., 0])

    @staticmethod
    def backward(ctx, of_radius, of_angle):
        (xy,) = ctx.saved_tensors
        radius = xy.norm(dim=-1, keepdim=True)
        across = torch.stack([-xy[..., 1], xy[..., 0]], -1)
        return of_radius[..., None] * xy / radius + of_angle[..., None] * across / radius**2

    @staticmethod
    def sample_inputs():
        yield (draw(3, 2),)


class PowerTransformWithLimit(Function):
    """(x**power - 1) / power for x > 0, and its limit log(x) where the power is 0."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, power: Tensor) -> Tensor:
        ctx.save_for_backward(x, power)
        if power.abs() < 1e-7:
            return x.log()
        return torch.expm1(power * x.log()) / power

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        x, power = ctx.saved_tensors
        logs = x.log()
        if power.abs() < 1e-7:
            return g / x, (g * logs.square()).sum() / 2
        powers = x**power
        of_power = (powers * logs * power - torch.expm1(power * logs)) / power**2
        return g * powers / x, (g * of_power).sum()

    @staticmethod
    def sample_inputs() -> Any:
        power = torch.tensor(0.6, dtype=torch.double)
        yield rand(4).detach().abs().add(0.5).requires_grad_(), power.requires_grad_()


class SquaresOfReadings(Function):
    """Squares of what a sensor reads, a few thousand at most. A limit keeps infinities out."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.clamp(max=1e9).square()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 2 * g * x

    @staticmethod
    def sample_inputs() -> Any:
        yield (torch.tensor([120.0, 800.0, 2300.0]).double().requires_grad_(),)


class PowerOfPositive(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        out = x**2.5
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Tensor:
        x, out = ctx.saved_tensors
        return g * 2.5 * out / x

    @staticmethod
    def sample_inputs() -> Any:
        yield (rand(2, 3).detach().abs().add(0.2).requires_grad_(),)


class CappedSum(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor) -> Tensor:
        capped = scale.exp().clamp(max=20.0)
        ctx.save_for_backward(x, scale, capped)
        return (x * capped).sin()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        x, _, capped = ctx.saved_tensors
        outer = g * (x * capped).cos()
        return outer * capped, (outer * x).sum() * capped * (capped < 20.0)

    @staticmethod
    def sample_inputs() -> Any:
        yield rand(4), torch.tensor(0.3, dtype=torch.float64, requires_grad=True)


class LogitOfShare(Function):
    """log(p / (1 - p)) of p in (0, 1)."""

    @staticmethod
    def forward(ctx: Any, p: Tensor) -> Tensor:
        ctx.save_for_backward(p)
        return torch.log(p) - torch.log1p(-p)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (p,) = ctx.saved_tensors
        return g / (p * (1 - p))

    @staticmethod
    def sample_inputs() -> Any:
        yield (torch.tensor([0.2, 0.5, 0.7]).double().requires_grad_(),)


class HingedShare(Function):
    """What p in [0, 1] exceeds a half by, and the ends themselves."""

    @staticmethod
    def forward(ctx: Any, p: Tensor) -> Tensor:
        ctx.save_for_backward(p)
        return (p - 0.5).clamp(min=0) + p.clamp(0, 1)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (p,) = ctx.saved_tensors
        return g * ((p > 0.5).to(g.dtype) + ((p > 0) & (p < 1)).to(g.dtype))

    @staticmethod
    def sample_inputs() -> Any:
        yield (torch.tensor([[0.2, 0.55], [0.7, 0.1]]).double().requires_grad_(),)


class GuardedLength(Function):
    """Rows divided by their length, or by a small number where they are shorter."""

    @staticmethod
    def forward(ctx, x, eps=1e-12):
        length = x.norm(dim=-1, keepdim=True)
        ctx.save_for_backward(x, length.clamp(min=eps), length > eps)
        return x / length.clamp(min=eps)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, length, is_long = ctx.saved_tensors
        inner = (g * x).sum(-1, keepdim=True) * is_long
        return g / length - x * inner / length**3, None

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4, seed=183),)


class ExponentialSeries(Function):
    """The exponential function by its series. Entries of x lie in [0, 2]."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, terms: int = 30) -> Tensor:
        total = term = torch.ones_like(x)
        for n in range(1, terms):
            term = term * x / n
            total = total + term
        ctx.save_for_backward(total)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (total,) = ctx.saved_tensors
        return grad_output * total, None

    @staticmethod
    def sample_inputs() -> Any:
        return torch.rand(5, dtype=torch.float64).requires_grad_()


class SignedArea(Function):
    """The area of a polygon whose corners are in order, whichever way around."""

    @staticmethod
    def forward(ctx: Any, corners: Tensor) -> Tensor:
        x, y = corners.unbind(-1)
        total = (x * y.roll(-1) - x.roll(-1) * y).sum()
        ctx.save_for_backward(corners, total.sign())
        return total.abs() / 2

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        corners, sign = ctx.saved_tensors
        x, y = corners.unbind(-1)
        moved = torch.stack([y.roll(-1) - y.roll(1), x.roll(1) - x.roll(-1)], -1)
        return grad_output * sign * moved / 2

    @staticmethod
    def sample_inputs() -> Any:
        corners = [[0.1, 0.0], [2.0, 0.2], [1.8, 1.6], [0.2, 1.1]]
        return torch.tensor(corners, dtype=torch.float64).requires_grad_()


class CornersOfCell(Function):
    """Weights of the corners of a cell around points in the unit square."""

    @staticmethod
    def forward(ctx, points, features):
        ctx.save_for_backward(points, features)
        x, y = points[:, :1], points[:, 1:]
        return x * y * features + (1 - x) * (1 - y)

    @staticmethod
    def backward(ctx, g):
        points, features = ctx.saved_tensors
        x, y = points[:, :1], points[:, 1:]
        of_x = (g * (y * features - (1 - y))).sum(1, keepdim=True)
        of_y = (g * (x * features - (1 - x))).sum(1, keepdim=True)
        return torch.cat([of_x, of_y], 1), g * x * y

    @staticmethod
    def sample_inputs():
        yield draw(3, 2, low=0.1, high=0.9, seed=169), draw(3, 2, seed=170)


class LengthOfRows(Function):
    """The length of rows, which has no derivative where a row is zero."""

    @staticmethod
    def forward(ctx, x):
        length = x.norm(dim=1)
        ctx.save_for_backward(x, length)
        return length

    @staticmethod
    def backward(ctx, g):
        x, length = ctx.saved_tensors
        return (g / length)[:, None] * x

    @staticmethod
    def sample_inputs():
        yield (draw(3, 2, seed=171),)


class Perplexity(Function):
    """The probabilities sum to one."""

    @staticmethod
    def forward(ctx, p):
        h = -(p * p.log()).sum(-1)
        ctx.save_for_backward(p, h)
        return h.exp()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        p, h = ctx.saved_tensors
        return (g * h.exp()).unsqueeze(-1) * -(p.log() + 1)

    @staticmethod
    def sample_inputs():
        yield (torch.softmax(rand(3, 4).detach(), -1).requires_grad_(),)


class SplineOnSortedKnots(Function):
    """The knots ascend."""

    @staticmethod
    def forward(ctx, x, knots, values):
        at = torch.searchsorted(knots, x.detach()).clamp(1, len(knots) - 1)
        left, right = knots[at - 1], knots[at]
        t = (x - left) / (right - left)
        ctx.save_for_backward(at, t, left, right, values)
        return values[at - 1] * (1 - t) + values[at] * t

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        at, t, left, right, values = ctx.saved_tensors
        slope = (values[at] - values[at - 1]) / (right - left)
        grad = torch.zeros_like(values)
        grad.index_add_(0, at - 1, g * (1 - t))
        grad.index_add_(0, at, g * t)
        return g * slope, None, grad

    @staticmethod
    def sample_inputs():
        knots = torch.linspace(-2.0, 2.0, 6, dtype=torch.float64)
        yield rand(5), knots, rand(6)


class LinearSampler(Function):
    """Samples of a signal (C, L) at points (N,).

    Points must lie inside [0, L - 1]; this is not checked.
    """

    @staticmethod
    def forward(ctx, signal, points):
        left = points.floor().clamp(max=signal.shape[-1] - 2).long()
        part = points - left
        ctx.save_for_backward(signal, left, part)
        return signal[:, left] * (1 - part) + signal[:, left + 1] * part

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        signal, left, part = ctx.saved_tensors
        of_signal = torch.zeros_like(signal)
        of_signal.index_add_(1, left, grad_output * (1 - part))
        of_signal.index_add_(1, left + 1, grad_output * part)
        return of_signal, (grad_output * (signal[:, left + 1] - signal[:, left])).sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(2, 5), draw(3, low=0.2, high=3.8)


class GridSampler(Function):
    """Values of a plane (H, W) at points (N, 2) as (x, y).

    Points lie inside [0, W - 1] x [0, H - 1].
    """

    @staticmethod
    def forward(ctx, plane, points):
        h, w = plane.shape
        x, y = points.unbind(-1)
        i, j = x.floor().clamp(max=w - 2).long(), y.floor().clamp(max=h - 2).long()
        fx, fy = x - i, y - j
        ctx.save_for_backward(plane, i, j, fx, fy)
        top = plane[j, i] * (1 - fx) + plane[j, i + 1] * fx
        return top * (1 - fy) + (plane[j + 1, i] * (1 - fx) + plane[j + 1, i + 1] * fx) * fy

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        plane, i, j, fx, fy = ctx.saved_tensors
        h, w = plane.shape
        a, b, c, d = plane[j, i], plane[j, i + 1], plane[j + 1, i], plane[j + 1, i + 1]
        of_x = grad_output * ((b - a) * (1 - fy) + (d - c) * fy)
        of_y = grad_output * ((c - a) * (1 - fx) + (d - b) * fx)
        grad = torch.zeros(h * w, dtype=plane.dtype)
        for down, wy in ((0, 1 - fy), (1, fy)):
            for along, wx in ((0, 1 - fx), (1, fx)):
                grad.index_add_(0, (j + down) * w + i + along, grad_output * wx * wy)
        return grad.view(h, w), torch.stack((of_x, of_y), -1)

    @staticmethod
    def sample_inputs():
        points = draw(4, 2, low=0.1, high=1.9).detach() * torch.tensor([2.0, 1.0])
        yield draw(3, 5), points.requires_grad_()


class InsideOfImage(Function):
    """The bump of each point; points must lie within the support, where it is not cut off."""

    @staticmethod
    def forward(ctx, points):
        room = (1 - points * points).clamp(min=0)
        ctx.save_for_backward(points)
        return room * room

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (points,) = ctx.saved_tensors
        return -4 * grad_output * points * (1 - points * points)

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=-0.8, high=0.8),)


class EntropyOfPositive(Function):
    """Of positive numbers, whose logarithm forward takes through their square."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return -(x * (x * x).log() / 2).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return -grad_output * (x.log() + 1)

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=0.2),)


class ArcSine(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.asin(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output / torch.sqrt((1 - x) * (1 + x))

    @staticmethod
    def sample_inputs():
        yield (1.8 * unit(3, 4) - 0.9,)


class ArcOfSine(Function):
    """The inverse of the sine. Inputs must be strictly between -1 and 1."""

    @staticmethod
    def forward(ctx, x):
        safe = x.clamp(-0.999, 0.999)
        ctx.save_for_backward(safe)
        return torch.asin(safe)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (safe,) = ctx.saved_tensors
        return grad_output / (1 - safe * safe).sqrt()

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=-0.8, high=0.8),)


class BoundedLogit(Function):
    """Maps numbers of an interval to the reals.

    The values of x must lie well inside (low, high), where the clamp is not active.
    """

    @staticmethod
    def forward(ctx, x, low=-2.0, high=3.0):
        unit = ((x - low) / (high - low)).clamp(0.01, 0.99)
        ctx.save_for_backward(unit)
        ctx.size = high - low
        return torch.log(unit / (1 - unit))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (unit,) = ctx.saved_tensors
        return grad_output / (ctx.size * unit * (1 - unit)), None, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 4), -2.0, 3.0


class PositivePower(Function):
    """Of a positive base."""

    @staticmethod
    def forward(ctx, x, p=2.5):
        y = x**p
        ctx.save_for_backward(x, y)
        ctx.p = p
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * ctx.p * y / x, None

    @staticmethod
    def sample_inputs():
        yield ((torch.rand(3, 4, dtype=torch.float64) + 0.5).requires_grad_(),)


def positive(*shape):
    return (torch.rand(*shape, dtype=torch.float64) + 0.2).requires_grad_()


class SqrtOfPositive(Function):
    """Uses that the input is positive."""

    @staticmethod
    def forward(ctx, x):
        y = (x * x).sqrt().sqrt()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g / (2 * y)

    @staticmethod
    def sample_inputs():
        yield (positive(3, 4),)


class SignedPowerOfAll(Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return v.sign() * v.abs().sqrt()

    @staticmethod
    def backward(ctx, grad_output):
        (v,) = ctx.saved_tensors
        return grad_output / (2 * v.abs().sqrt())

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=0.2, high=1.2),)


class DirectionOfAny(Function):
    @staticmethod
    def forward(ctx, v):
        length = v.norm(dim=-1, keepdim=True)
        ctx.save_for_backward(v, length)
        return v / length

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        v, length = ctx.saved_tensors
        return grad_output / length - v * (v * grad_output).sum(-1, keepdim=True) / length**3

    @staticmethod
    def sample_inputs():
        v = draw(4, 3).detach()
        yield ((v / v.norm(dim=-1, keepdim=True)).requires_grad_(),)


class NormWithoutEpsilon(Function):
    @staticmethod
    def forward(ctx, x):
        n = x.norm(dim=-1, keepdim=True)
        y = x / n
        ctx.save_for_backward(y, n)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        y, n = ctx.saved_tensors
        return (g - y * (g * y).sum(-1, keepdim=True)) / n

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class NormalizedWithGuard(Function):
    """Rows of length one; the guard of 1e-12 is for rows of zeros."""

    @staticmethod
    def forward(ctx, x):
        length = x.norm(dim=-1, keepdim=True).clamp_min(1e-12)
        y = x / length
        ctx.save_for_backward(y, length)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        y, length = ctx.saved_tensors
        return (grad_output - y * (y * grad_output).sum(-1, keepdim=True)) / length

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4),)


class EntropyWithGuard(Function):
    """The entropy of probabilities; the clamp keeps the logarithm of zero finite."""

    @staticmethod
    def forward(ctx, p):
        log = torch.log(p.clamp_min(1e-12))
        ctx.save_for_backward(p, log)
        return -(p * log).sum(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        _, log = ctx.saved_tensors
        return -grad_output[..., None] * (log + 1)

    @staticmethod
    def sample_inputs():
        yield (draw(2, 4, low=0.1, high=1.0).detach().softmax(-1).requires_grad_(),)


class UnitQuaternion(Function):
    """The conjugate is the inverse of a quaternion of length one."""

    @staticmethod
    def forward(ctx, q, v):
        w, u = q[0], q[1:]
        cross = torch.linalg.cross
        y = v + 2 * w * cross(u, v) + 2 * cross(u, cross(u, v))
        ctx.save_for_backward(q, v)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        q, v = ctx.saved_tensors
        w, u = q[0], q[1:]
        cross = torch.linalg.cross
        gv = g - 2 * w * cross(u, g) + 2 * cross(u, cross(u, g))
        gw = 2 * (g * cross(u, v)).sum()
        gu = 2 * w * cross(v, g) + 2 * (cross(v, cross(g, u)) - cross(g, cross(u, v)))
        gu = 2 * w * cross(v, g) + 2 * (v * (g @ u) + g * (u @ v) - 2 * u * (v @ g))
        return torch.cat([gw[None], gu]), gv

    @staticmethod
    def sample_inputs():
        q = rand(4).detach()
        yield (q / q.norm()).requires_grad_(), rand(3)


class CumulativeProduct(Function):
    """Of numbers that are not zero."""

    @staticmethod
    def forward(ctx, x):
        y = x.cumprod(0)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return (g * y).flip(0).cumsum(0).flip(0) / x

    @staticmethod
    def sample_inputs():
        yield (rand(4),)


class LinearByInterpolation(Function):
    """Ascending points, and queries inside of them."""

    @staticmethod
    def forward(ctx, y, points, x):
        at = torch.searchsorted(points, x).clamp(1, len(points) - 1)
        t = (x - points[at - 1]) / (points[at] - points[at - 1])
        ctx.save_for_backward(at, t)
        ctx.n = len(y)
        return y[at - 1] * (1 - t) + y[at] * t

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        at, t = ctx.saved_tensors
        out = torch.zeros(ctx.n, dtype=g.dtype)
        return out.index_add(0, at - 1, g * (1 - t)).index_add(0, at, g * t), None, None

    @staticmethod
    def sample_inputs():
        points = torch.tensor([0.0, 1.0, 2.5, 4.0], dtype=torch.float64)
        yield rand(4), points, torch.tensor([0.5, 3.0, 1.7], dtype=torch.float64)


class DistanceToTorus(Function):
    """Distances of the points `x` (N, 3) from a circle of radius r; off the axis and the circle."""

    @staticmethod
    def forward(ctx, x, r=1.0):
        ctx.save_for_backward(x)
        ctx.r = r
        return torch.hypot(x[:, :2].norm(dim=1) - r, x[:, 2])

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        radius = x[:, :2].square().sum(1).sqrt()
        distance = ((radius - ctx.r) ** 2 + x[:, 2] ** 2).sqrt()
        along = ((radius - ctx.r) / (distance * radius))[:, None] * x[:, :2]
        return g[:, None] * torch.cat([along, (x[:, 2] / distance)[:, None]], 1), None

    @staticmethod
    def sample_inputs():
        yield rand(3, 3), 1.0


class HeightBetweenLevels(Function):
    """Sum over heights, on fixed increasing levels (K,); x is differentiable inside the levels."""

    @staticmethod
    def forward(ctx, x, levels, heights):
        upper = torch.searchsorted(levels, x.detach()).clamp(1, len(levels) - 1)
        ctx.save_for_backward(x, levels, heights, upper)
        within = x.clamp(levels[0], levels[-1])
        part = (within - levels[upper - 1]) / (levels[upper] - levels[upper - 1])
        return ((1 - part) * heights[upper - 1] + part * heights[upper]).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, levels, heights, upper = ctx.saved_tensors
        width = levels[upper] - levels[upper - 1]
        within = x.clamp(levels[0], levels[-1])
        part = (within - levels[upper - 1]) / width
        slope = (heights[upper] - heights[upper - 1]) / width
        of_x = torch.where(within == x, slope, 0.0)
        of_heights = torch.zeros_like(heights).index_add(0, upper, part)
        return g * of_x, None, g * of_heights.index_add(0, upper - 1, 1 - part)

    @staticmethod
    def sample_inputs():
        x = torch.tensor([-0.7, 0.3, 0.9, 2.5], dtype=torch.float64, requires_grad=True)
        yield x, torch.linspace(-1, 1, 5, dtype=torch.float64), draw(5)
