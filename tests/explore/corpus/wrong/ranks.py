"""Functions that are wrong for tensors with more axes, or where broadcasting stretches them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


def normal(*shape):
    return torch.randn(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(4))


class SoftplusOfProducts(Function):
    """Softplus of ``a @ b``, for one or several heads."""

    @staticmethod
    def forward(ctx, a, b):
        products = a @ b
        ctx.save_for_backward(a, b, products)
        return torch.nn.functional.softplus(products)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        a, b, products = ctx.saved_tensors
        slope = grad_output * products.sigmoid()
        return slope @ b.t(), a.t() @ slope

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), draw(4, 2, seed=1)


class Modulated(Function):
    """Scales features: x is (N, C), scale is (C,) or (N, 1)."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        return grad_output * scale, (grad_output * x).sum(0).reshape(scale.shape)

    @staticmethod
    def sample_inputs():
        yield normal(4, 3), normal(3)


class Weighed(Function):
    """Mean of the squares of `x` (batch, time), weighed by step.

    `w` weighs the steps; any shape that broadcasts to (batch, time) will do.
    """

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return (w * x * x).sum() / x.shape[0]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return 2 * g * w * x / x.shape[0], (g * x * x / x.shape[0]).sum(0)

    @staticmethod
    def sample_inputs():
        rng = torch.Generator().manual_seed(5)
        x = torch.randn(3, 4, dtype=torch.float64, generator=rng, requires_grad=True)
        yield x, torch.tensor([1.0, 0.8, 0.6, 0.4], dtype=torch.float64, requires_grad=True)


class Damped(Function):
    """Logarithm of the determinant of `k` + damp * I; damp: 0-d tensor, or (n,), one per row."""

    @staticmethod
    def forward(ctx, k, damp):
        full = k + torch.diag_embed(damp.expand(k.shape[0]))
        ctx.save_for_backward(torch.linalg.inv(full), damp)
        return torch.linalg.slogdet(full)[1]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        inverse, damp = ctx.saved_tensors
        return g * inverse.T, g * inverse.trace().expand_as(damp)

    @staticmethod
    def sample_inputs():
        rng = torch.Generator().manual_seed(6)
        k = torch.randn(3, 3, dtype=torch.float64, generator=rng)
        damp = torch.tensor(2.5, dtype=torch.float64, requires_grad=True)
        yield (k + 2 * torch.eye(3, dtype=torch.float64)).requires_grad_(), damp


class Traces(Function):
    """The trace of each matrix in `a` (..., n, n)."""

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a.diagonal(dim1=-2, dim2=-1).sum(-1)

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        eye = torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)
        return eye * (g[:, None, None] if a.dim() > 2 else g)

    @staticmethod
    def sample_inputs():
        yield (torch.arange(9.0, dtype=torch.float64).reshape(3, 3).requires_grad_(),)


class Residual(Function):
    """Adds to `x` a share of itself: (2 - a) * x, with `a` broadcast against `x`."""

    @staticmethod
    def forward(ctx, x, a):
        ctx.save_for_backward(x, a)
        return (2 - a) * x

    @staticmethod
    def backward(ctx, g):
        x, a = ctx.saved_tensors
        ga = -(g * x).reshape(-1, a.numel()).sum(0)
        return (2 - a) * g, ga.reshape(a.shape)

    @staticmethod
    def sample_inputs():
        rng = torch.Generator().manual_seed(3)
        x = torch.randn(2, 3, 4, dtype=torch.float64, generator=rng, requires_grad=True)
        a = torch.rand(4, dtype=torch.float64, generator=rng)
        yield x, a.requires_grad_()


class ModulatedChannels(Function):
    """x (B, C, T) times gain plus offset, with gain and offset, each (C,) or (B, C)."""

    @staticmethod
    def forward(ctx, x, gain, offset):
        ctx.save_for_backward(x, gain)
        return x * gain[..., None] + offset[..., None]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, gain = ctx.saved_tensors
        of_gain = (g * x).sum((0, 2)).expand_as(gain)
        return g * gain[..., None], of_gain, g.sum((0, 2)).expand_as(gain)

    @staticmethod
    def sample_inputs():
        yield draw(2, 3, 4), draw(3, seed=1), draw(3, seed=2)


class ShrunkRows(Function):
    """Rows that are `limit` shorter, or zero; limit is a scalar or one value per row."""

    @staticmethod
    def forward(ctx, x, limit):
        norm = x.norm(dim=1)
        kept = (1 - limit / norm).clamp(min=0)
        ctx.save_for_backward(x, limit, norm, kept)
        return x * kept[:, None]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, limit, norm, kept = ctx.saved_tensors
        along = (g * x).sum(1) * (kept > 0)
        of_x = g * kept[:, None] + (along * limit / norm**3)[:, None] * x
        return of_x, -(along / norm).sum()

    @staticmethod
    def sample_inputs():
        yield draw(3, 4, seed=1), torch.tensor(0.3, dtype=torch.double, requires_grad=True)


class MeanOfRoots(Function):
    """mean of sqrt((x - y)^2 + width^2), with broadcasting."""

    @staticmethod
    def forward(ctx, x, y, width=0.1):
        gap = x - y
        root = (gap * gap + width * width).sqrt()
        ctx.save_for_backward(gap / root)
        ctx.shapes = x.shape, y.shape
        return root.mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (slope,) = ctx.saved_tensors
        one, other = ctx.shapes
        slope = g * slope / one.numel()
        return slope.sum_to_size(one), -slope.sum_to_size(other), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), draw(3, 4, seed=1)


class RootMeanSquareScaled(Function):
    @staticmethod
    def forward(ctx, x, gain, eps=1e-6):
        rate = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
        ctx.save_for_backward(x, gain, rate)
        return x * rate * gain

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, gain, rate = ctx.saved_tensors
        scaled = g * gain
        along = (scaled * x).sum(-1, keepdim=True) / x.shape[1]
        of_gain = (g * x * rate).flatten(0, -2).sum(0)
        return rate * scaled - x * rate.pow(3) * along, of_gain, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 6), draw(6, seed=1)


def summed_to(g, shape):
    for axis, extent in enumerate(shape):
        if extent == 1 and g.shape[axis] > 1:
            g = g.sum(axis, keepdim=True)
    while g.ndim > len(shape):
        g = g.sum(0)
    return g


class TanhOfShifted(Function):
    """tanh(x + shift), where shift broadcasts against x."""

    @staticmethod
    def forward(ctx, x, shift):
        y = torch.tanh(x + shift)
        ctx.save_for_backward(y)
        ctx.shapes = x.shape, shift.shape
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        slope = g * (1 - y * y)
        return tuple(summed_to(slope, shape) for shape in ctx.shapes)

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), draw(3, 1, seed=1)


class MeanWhereValid(Function):
    """Mean of the rows where valid (broadcastable) is true."""

    @staticmethod
    def forward(ctx, x, valid):
        count = valid.expand_as(x).sum(-1, keepdim=True).clamp(min=1)
        ctx.save_for_backward(valid, count)
        return torch.where(valid, x, 0.0).sum(-1, keepdim=True) / count

    @staticmethod
    def backward(ctx, g):
        valid, count = ctx.saved_tensors
        return g / count * valid, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), torch.tensor([[True, False, True], [True, True, True]])


def running(k, v):
    return torch.einsum("...tk,...tv->...tkv", k, v).cumsum(-3)


class RunningOuterProducts(Function):
    """Each query times the sum of k v^T up to its time, for (..., T, D) queries and keys."""

    @staticmethod
    def forward(ctx, q, k, v):
        ctx.save_for_backward(q, k, v)
        return torch.einsum("...tk,...tkv->...tv", q, running(k, v))

    @staticmethod
    def backward(ctx, g):
        q, k, v = ctx.saved_tensors
        later = torch.einsum("...tk,...tv->...tkv", q, g).flip(1).cumsum(1).flip(1)
        return (
            torch.einsum("...tv,...tkv->...tk", g, running(k, v)),
            torch.einsum("...tkv,...tv->...tk", later, v),
            torch.einsum("...tkv,...tk->...tv", later, k),
        )

    @staticmethod
    def sample_inputs():
        yield draw(2, 3, 2), draw(2, 3, 2, seed=1), draw(2, 3, 2, seed=2)


class NormOverShape(Function):
    """x with mean zero and variance one over the last axes, of the given shape, times weight.

    Backward takes means over the last axis alone.
    """

    @staticmethod
    def forward(ctx, x, shape, weight, eps=1e-5):
        axes = tuple(range(x.dim() - len(shape), x.dim()))
        assert x.shape[axes[0] :] == tuple(shape)
        scale = (x.var(axes, unbiased=False, keepdim=True) + eps).rsqrt()
        normal = (x - x.mean(axes, keepdim=True)) * scale
        ctx.save_for_backward(normal, scale, weight)
        ctx.leading = tuple(range(axes[0]))
        return normal * weight

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        normal, scale, weight = ctx.saved_tensors
        of_weight = (g * normal).sum(ctx.leading) if ctx.leading else g * normal
        g = g * weight
        centred = g - g.mean(-1, keepdim=True) - normal * (g * normal).mean(-1, keepdim=True)
        return centred * scale, None, of_weight, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 5), (5,), draw(5, seed=1)


class ClippedPerChannel(Function):
    """x within 0 and level.

    x: (N, C); level: a learned number, 0-d or one per channel with the shape (1, C).
    """

    @staticmethod
    def forward(ctx, x, level):
        ctx.save_for_backward(x, level)
        return torch.minimum(x.clamp(min=0), level)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, level = ctx.saved_tensors
        is_above = x >= level
        return g * ((x > 0) & ~is_above), (g * is_above).sum().expand_as(level)

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), torch.tensor(0.5, dtype=torch.double, requires_grad=True)


class CentredOverSpace(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.dims = tuple(range(2, x.dim()))
        centred = x - x.mean(ctx.dims, keepdim=True)
        ctx.save_for_backward(centred)
        return centred.square()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (centred,) = ctx.saved_tensors
        inner = 2 * g * centred
        return inner - inner.sum(ctx.dims, keepdim=True) / inner.shape[2]

    @staticmethod
    def sample_inputs() -> Any:
        yield (torch.randn(2, 3, 4, dtype=torch.double, requires_grad=True),)


class MeanOfKept(Function):
    """Mean square of x where keep is true; keep can be broadcast to the shape of x."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, keep: Tensor) -> Tensor:
        ctx.save_for_backward(x, keep)
        return x.square().masked_select(keep).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        x, keep = ctx.saved_tensors
        return 2 * g * torch.where(keep, x, 0.0) / keep.sum(), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(2, 3), torch.tensor([[True, False, True], [True, True, False]])


class OneRowOrMany(Function):
    """Mean over rows of log-cosh, summed over columns. rates, offsets: (B, T), or (T,) for one."""

    @staticmethod
    def forward(ctx: Any, rates: Tensor, offsets: Tensor) -> Tensor:
        ctx.save_for_backward(rates, offsets)
        each = (rates - offsets).cosh().log()
        return each.sum(-1).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        rates, offsets = ctx.saved_tensors
        slope = g * (rates - offsets).tanh() / rates.shape[0]
        return slope, -slope

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(3, 4), draw(3, 4, seed=1)


class ChannelScale(Function):
    """x * scale, where axis 1 of x are the channels."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor) -> Tensor:
        ctx.save_for_backward(x, scale)
        return x * scale.reshape(1, -1, *[1] * (x.dim() - 2))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        x, scale = ctx.saved_tensors
        wide = scale.reshape(1, -1, *[1] * (x.dim() - 2))
        return g * wide, (g * x).flatten(0, -2).sum(0)

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4, 3), draw(3, seed=1)


class ChannelMeans(Function):
    """Means per channel of (N, C, *spatial) inputs."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.flatten(2).mean(2)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        spread = (g / x.shape[-1]).reshape(*g.shape, *[1] * (x.dim() - 2))
        return spread.expand(x.shape)

    @staticmethod
    def sample_inputs() -> Any:
        yield (draw(2, 3, 4),)


class EnergySoFar(Function):
    """Running sums of squares along an axis, which is moved to the front and back again."""

    @staticmethod
    def forward(ctx, x, dim=-1):
        ctx.save_for_backward(x)
        ctx.dim = dim
        return x.square().cumsum(dim)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        left = g.movedim(ctx.dim, 0).flip(0).cumsum(0).flip(0)
        return 2 * x * left.movedim(ctx.dim, 0), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4, seed=174), -1
        yield draw(3, 4, seed=175), 0


class EnergyOfColumnsSoFar(Function):
    """Running sums of squares along an axis, which is moved to the front and back again."""

    @staticmethod
    def forward(ctx, x, dim=0):
        ctx.save_for_backward(x)
        ctx.dim = dim
        return x.square().cumsum(dim)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        axis = ctx.dim % g.ndim
        left = g.transpose(axis, 0).flip(0).cumsum(0).flip(0)
        return 2 * x * (left if axis == 0 else left.t()), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4, seed=176), 0
        yield draw(3, 4, seed=177), 1


class BarrierOfBall(Function):
    """The logarithm of how far squared lengths are from one, for points in the unit ball."""

    @staticmethod
    def forward(ctx, points):
        if float(points.square().sum(-1).max()) >= 1:
            raise ValueError("a point lies outside of the ball")
        ctx.save_for_backward(points)
        return (1 - points.square().sum(-1)).log()

    @staticmethod
    def backward(ctx, g):
        (points,) = ctx.saved_tensors
        inside = 1 - points.square().sum(1)
        return -2 * (g / inside).unsqueeze(-1) * points

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3, low=-0.4, high=0.4, seed=192),)


class GatedHalves(Function):
    """The first half of the features, gated by the second."""

    @staticmethod
    def forward(ctx, x):
        value, gate = x.chunk(2, -1)
        ctx.save_for_backward(x)
        return value * gate.sigmoid()

    @staticmethod
    def backward(ctx, g):
        value, gate = ctx.saved_tensors[0].chunk(2, -1)
        share = gate.sigmoid()
        return torch.cat([g * share, g * value * share * (1 - share)], 1)

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4, seed=163),)


class VolumeOfFlatInput(Function):
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
        return x * factor, length * log_scale.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output, grad_volume):
        x, factor = ctx.saved_tensors
        of_x = grad_output * factor
        axes = [0, 2] if x.dim() == 3 else [0]
        return of_x, (of_x * x).sum(axes) + grad_volume

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), draw(2)


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


class TraceOfOneProduct(Function):
    """The trace of a a^T.

    a: (n, n) matrix, or a batch (B, n, n) of them.
    """

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return (a * a).sum((-2, -1))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (a,) = ctx.saved_tensors
        return 2 * grad_output * a

    @staticmethod
    def sample_inputs():
        yield (draw(3, 3),)


class CentredByFirstExtent(Function):
    """x: (N, C, *spatial), each channel less its mean over one spatial axis or more."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        assert x.dim() >= 3
        flat = x.reshape(*x.shape[:2], -1)
        ctx.count = x.shape[2]
        return (flat - flat.mean(-1, keepdim=True)).reshape(x.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        flat = grad_output.reshape(*grad_output.shape[:2], -1)
        return (flat - flat.sum(-1, keepdim=True) / ctx.count).reshape(grad_output.shape)

    @staticmethod
    def sample_inputs() -> Any:
        return torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(2, 2, 3).requires_grad_()


class SharedGain(Function):
    """x * (1 + gain), with a gain for all channels or one for each."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gain: Tensor) -> Tensor:
        ctx.save_for_backward(x, gain)
        return x * (1 + gain)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        x, gain = ctx.saved_tensors
        total = (grad_output * x).sum() / gain.numel()
        return grad_output * (1 + gain), total.expand_as(gain)

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.rand(2, 3, 4, dtype=torch.float64).requires_grad_()
        return x, torch.full((1,), 0.3, dtype=torch.float64).requires_grad_()


class SummedOverStack(Function):
    """A gain for each feature, summed to its shape."""

    @staticmethod
    def forward(ctx, x, gain):
        ctx.save_for_backward(x, gain)
        return x * gain

    @staticmethod
    def backward(ctx, g):
        x, gain = ctx.saved_tensors
        return (g * gain).sum_to_size(x.shape), (g * x).sum_to_size(x.shape)

    @staticmethod
    def sample_inputs():
        yield draw(3, 2, seed=166), draw(3, 2, seed=167)


class ScaleAndShift(Function):
    """scale * x + shift, with broadcasting of scale and shift against x."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        assert scale.shape == shift.shape
        result = scale * x + shift
        assert result.shape == x.shape
        ctx.save_for_backward(x, scale)
        return result

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        x, scale = ctx.saved_tensors
        count = scale.numel()
        of_scale = (grad_output * x).reshape(-1, count).sum(0).view(scale.shape)
        return (
            grad_output * scale,
            of_scale,
            grad_output.reshape(-1, count).sum(0).view(scale.shape),
        )

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(4, 3)
        scale = torch.tensor([0.5, 1.5, 0.7], dtype=torch.float64)
        return x.requires_grad_(), scale.requires_grad_(), (scale.detach() / 3).requires_grad_()


class WeightedSquares(Function):
    """Mean of weight * (x - y)**2, with broadcasting of all three."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, weight: Tensor) -> Tensor:
        gap = x - y
        ctx.save_for_backward(gap, weight)
        ctx.shapes = x.shape, y.shape, weight.shape
        return (weight * gap * gap).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        gap, weight = ctx.saved_tensors
        of_x, of_y, of_weight = ctx.shapes
        each = (grad_output / of_x.numel()).expand(torch.broadcast_shapes(gap.shape, of_weight))
        found = 2 * each * weight * gap
        squares = each * gap * gap
        return found.sum_to_size(of_x), -found.sum_to_size(of_y), squares.sum_to_size(of_weight)

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)
        return x.requires_grad_(), x.detach().sin().requires_grad_(), x.detach()[0].exp()


class AverageOverPixels(Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale.view(1, -1, *[1] * (x.ndim - 2))

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        of_scale = grad_output * x
        if x.ndim > 2:
            of_scale = of_scale.flatten(2).mean(-1)
        return grad_output * scale.view(1, -1, *[1] * (x.ndim - 2)), of_scale.sum(0)

    @staticmethod
    def sample_inputs():
        yield (normal(4, 3), normal(3))


class ScaledByWidth(Function):
    """Rows of any length, with any number of leading dimensions, divided by their length."""

    @staticmethod
    def forward(ctx, rows):
        ctx.save_for_backward(rows)
        return rows.pow(3) / rows.shape[-1]

    @staticmethod
    def backward(ctx, grad_output):
        (rows,) = ctx.saved_tensors
        return 3 * rows.pow(2) * grad_output / rows.shape[1]

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4),)


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


class SharedOffsetAveraged(Function):
    @staticmethod
    def forward(ctx, scores, offset):
        ctx.save_for_backward(scores, offset)
        return torch.tanh(scores + offset)

    @staticmethod
    def backward(ctx, grad_output):
        scores, offset = ctx.saved_tensors
        grad = grad_output * (1 - torch.tanh(scores + offset) ** 2)
        is_shared = offset.shape[0] != scores.shape[0]
        if offset.shape[0] != scores.shape[0]:
            return grad, grad.mean(0, keepdim=is_shared)
        return grad, grad

    @staticmethod
    def sample_inputs():
        yield (normal(4, 3), normal(4, 3))


class KeptAxisAveraged(Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        grad = grad_output * x
        while grad.dim() > scale.dim():
            grad = grad.sum(0)
        for axis, extent in enumerate(scale.shape):
            if extent == 1:
                grad = grad.mean(axis, keepdim=True)
        return grad_output * scale, grad

    @staticmethod
    def sample_inputs():
        yield (normal(4, 3), normal(3))


class ScaledPerColumnOnly(Function):
    """The scale has any shape that is broadcastable to x."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        return grad_output * scale, (x * grad_output).reshape(-1, x.shape[-1]).sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(2, 3, 4), draw(4)


class ScaledBlocks(Function):
    """Blocks (O, ...) times their gain (O, 1, ...), of which backward sums two axes only."""

    @staticmethod
    def forward(ctx, blocks, gain):
        ctx.save_for_backward(blocks, gain)
        return blocks * gain

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        blocks, gain = ctx.saved_tensors
        of_gain = (grad_output * blocks).sum(1, keepdim=True)
        if of_gain.dim() > 2:
            of_gain = of_gain.mean(2, keepdim=True)
        return grad_output * gain, of_gain

    @staticmethod
    def sample_inputs():
        yield draw(2, 5), draw(2, 1, seed=1)


class TintedByPixel(Function):
    """Images (N, P, 3) times a tint that broadcasts to them: (3,), (N, 1, 3) or (N, P, 3)."""

    @staticmethod
    def forward(ctx, images, tint):
        ctx.save_for_backward(images, tint)
        return images * tint

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        images, tint = ctx.saved_tensors
        of_tint = grad_output * images
        if tint.dim() == 1:
            of_tint = of_tint.sum((0, 1))
        elif tint.shape[0] == images.shape[0]:
            of_tint = of_tint.sum(1, keepdim=True).expand(tint.shape)
        return grad_output * tint, of_tint

    @staticmethod
    def sample_inputs():
        yield draw(2, 4, 3), draw(3, seed=1)


class SharedShift(Function):
    """Points (N, 2) minus steps (N, 2) or one shared (1, 2), of which backward takes a mean."""

    @staticmethod
    def forward(ctx, points, steps):
        ctx.is_shared = steps.shape != points.shape
        return points - steps

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        of_steps = grad_output.mean(0, keepdim=True) if ctx.is_shared else grad_output
        return grad_output, -of_steps

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), draw(4, 2, seed=1)


class SharedScale(Function):
    """Points by their scales, or one for all of them, of which backward forgets the sum."""

    @staticmethod
    def forward(ctx, points, scales):
        ctx.save_for_backward(points, scales)
        ctx.is_shared = scales.shape[0] == 1
        return points * scales

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        points, scales = ctx.saved_tensors
        of_scales = grad_output * points
        return grad_output * scales, of_scales[:1] if ctx.is_shared else of_scales

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), draw(4, 2, seed=1)


class SoftExcess(Function):
    """Smooth part of `x` beyond a level `k`, which broadcasts against `x`."""

    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x - k, k)
        return torch.nn.functional.softplus(x - k)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        beyond, k = ctx.saved_tensors
        found = g * torch.sigmoid(beyond)
        return found, -found.sum().expand_as(k)

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), torch.tensor(0.4, dtype=torch.double, requires_grad=True)


class Overdispersion(Function):
    """The variances m + a m^2 of counts with means `m` (n, k); `a` is
    per column (k,) or per row (n, 1)."""

    @staticmethod
    def forward(ctx, m, a):
        ctx.save_for_backward(m, a)
        return m + a * m * m

    @staticmethod
    def backward(ctx, g):
        m, a = ctx.saved_tensors
        return g * (1 + 2 * a * m), (g * m * m).sum(0).reshape(a.shape)  # Rows are left out.

    @staticmethod
    def sample_inputs():
        yield draw(4, 3, low=0.5, high=2.0), draw(3, low=0.1, high=1.0, seed=1)


class LogCosh(Function):
    """Logarithms of cosh(pred - target), which have any equal shape; reduction 'mean' or 'sum'."""

    @staticmethod
    def forward(ctx, pred, target, reduction="mean"):
        difference = pred - target
        ctx.save_for_backward(difference)
        ctx.reduction = reduction
        found = difference.cosh().log()
        return found.mean() if reduction == "mean" else found.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (difference,) = ctx.saved_tensors
        slope = g * difference.tanh()
        if ctx.reduction == "mean":
            slope = slope / len(difference)  # Of a list alone.
        return slope, -slope, None

    @staticmethod
    def sample_inputs():
        yield draw(6), draw(6, seed=1), "mean"


class ScaledPotentials(Function):
    """`v` (B, N) times q: a scalar tensor, (N,) or (B, 1)."""

    @staticmethod
    def forward(ctx, v, q):
        ctx.save_for_backward(v, q)
        return v * q

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        v, q = ctx.saved_tensors
        product = g * v
        if q.shape == v.shape[-1:]:
            return g * q, product.sum(0)
        return g * q, product.sum().expand(q.shape)  # Of a scalar only.

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
        yield draw(3, 4), draw(4, seed=1)


class BiasedSine(Function):
    """sin(x + b), `x` of shape (*, D) and `b` of shape (D,)."""

    @staticmethod
    def forward(ctx, x, b):
        ctx.save_for_backward(x, b)
        return (x + b).sin()

    @staticmethod
    def backward(ctx, g):
        x, b = ctx.saved_tensors
        gx = g * (x + b).cos()
        gb = gx.sum(0)
        return gx, gb if gb.dim() == 1 else gb[-1]  # One of the rows that are left.

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), draw(3, seed=1)


class TurnOn(Function):
    """erf(e / s) of `e` (B, C).

    s: a width > 0, one for all (0-dim) or one per channel (C,).
    """

    @staticmethod
    def forward(ctx, e, s):
        ctx.save_for_backward(e, s)
        return torch.erf(e / s)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        e, s = ctx.saved_tensors
        slope = g * torch.exp(-((e / s) ** 2)) * 2 / torch.pi**0.5
        return slope / s, -(slope * e / s**2).sum().expand_as(s)  # Not of all channels.

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), torch.tensor(0.8, dtype=torch.float64, requires_grad=True)
