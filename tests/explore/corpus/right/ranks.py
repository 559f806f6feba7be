"""Functions that are right for the numbers of axes that they are made for, and in broadcasting."""

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


def normal(*shape):
    return torch.randn(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(4))


class CorrelatedByFft(Function):
    """Circular correlation of rows with one vector."""

    @staticmethod
    def forward(ctx, rows, vector):
        ctx.save_for_backward(rows, vector)
        product = torch.fft.rfft(rows).conj() * torch.fft.rfft(vector)
        return torch.fft.irfft(product, n=rows.shape[1])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        rows, vector = ctx.saved_tensors
        n, spectrum = rows.shape[1], torch.fft.rfft(g)
        of_rows = torch.fft.irfft(spectrum.conj() * torch.fft.rfft(vector), n=n)
        of_vector = torch.fft.irfft(spectrum * torch.fft.rfft(rows), n=n)
        return of_rows, of_vector.sum_to_size(vector.shape)

    @staticmethod
    def sample_inputs():
        yield draw(3, 5), draw(5, seed=1)


class NormalizedBeyond(Function):
    """Divides by the norm over all axes but the first ``kept``, of which a batch adds one."""

    @staticmethod
    def forward(x, kept):
        axes = tuple(range(kept, x.dim()))
        return x / x.pow(2).sum(axes, keepdim=True).sqrt()

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.kept = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        axes = tuple(range(ctx.kept, x.dim()))
        norm = x.pow(2).sum(axes, keepdim=True).sqrt()
        return g / norm - x * (g * x).sum(axes, keepdim=True) / norm**3, None

    @staticmethod
    def vmap(info, in_dims, x, kept):
        return NormalizedBeyond.apply(x.movedim(in_dims[0], 0), kept + 1), 0

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), 0


class LayersOverTheLast(Function):
    """Layers from front to back over the last dim, in front of a background of one colour."""

    @staticmethod
    def forward(ctx, share, colour, background):
        seen = torch.zeros_like(share[..., 0]) + background
        behind = []
        for i in reversed(range(share.shape[-1])):
            behind.append(seen)
            seen = share[..., i] * colour[..., i] + (1 - share[..., i]) * seen
        ctx.save_for_backward(share, colour, background, torch.stack(behind[::-1], -1))
        return seen

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        share, colour, background, behind = ctx.saved_tensors
        of_share, of_colour = torch.empty_like(share), torch.empty_like(colour)
        for i in range(share.shape[-1]):
            of_share[..., i] = g * (colour[..., i] - behind[..., i])
            of_colour[..., i] = g * share[..., i]
            g = g * (1 - share[..., i])
        return of_share, of_colour, g.sum_to_size(background.shape)

    @staticmethod
    def sample_inputs():
        background = torch.tensor(0.5, dtype=torch.double, requires_grad=True)
        yield draw(2, 3, low=0.1, high=0.9), draw(2, 3, seed=1), background


class EnergyOfSprings(Function):
    """Energy of springs between points, with one stiffness or one for each spring."""

    @staticmethod
    def forward(ctx, x, stiffness, ends, rest: float):
        along = x[ends[:, 0]] - x[ends[:, 1]]
        length = along.norm(dim=-1)
        ctx.save_for_backward(along, length, stiffness, ends)
        ctx.rest, ctx.count = rest, len(x)
        return 0.5 * (stiffness * (length - rest) ** 2).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        along, length, stiffness, ends = ctx.saved_tensors
        force = (g * stiffness * (length - ctx.rest) / length).unsqueeze(-1) * along
        of_x = along.new_zeros(ctx.count, along.shape[1])
        of_x = of_x.index_add(0, ends[:, 0], force).index_add(0, ends[:, 1], -force)
        of_stiffness = (0.5 * g * (length - ctx.rest) ** 2).sum_to_size(stiffness.shape)
        return of_x, of_stiffness, None, None

    @staticmethod
    def sample_inputs():
        ends = torch.tensor([[0, 1], [1, 2], [0, 2]])
        yield draw(3, 3), draw(3, low=0.5, high=2, seed=1), ends, 0.4


class WeightedSpectrum(Function):
    """Sum of squares of rfft(x) along the last axis, weighted by `weights` for each frequency."""

    @staticmethod
    def forward(ctx, x, weights):
        found = torch.fft.rfft(x)
        size = found.real**2 + found.imag**2
        ctx.save_for_backward(found, size, weights)
        ctx.n = x.shape[-1]
        return (weights * size).sum(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        found, size, weights = ctx.saved_tensors
        inner = weights * found
        inner = torch.cat([2 * inner[..., :1], inner[..., 1:]], -1)
        if ctx.n % 2 == 0:
            inner = torch.cat([inner[..., :-1], 2 * inner[..., -1:]], -1)
        of_x = g[..., None] * ctx.n * torch.fft.irfft(inner, n=ctx.n)
        return of_x, (g[..., None] * size).reshape(-1, weights.numel()).sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(2, 7), draw(4, seed=1)
        yield draw(6), draw(4, seed=1)


class MeanOfMarked(Function):
    """Mean square of x (N, K) where marked (N, K) is true."""

    @staticmethod
    def forward(ctx, x, marked):
        ctx.save_for_backward(x, marked)
        return x.square().masked_select(marked).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, marked = ctx.saved_tensors
        return 2 * g * torch.where(marked, x, 0.0) / marked.sum(), None

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), torch.tensor([[True, False, True], [True, True, False]])


class StepsOfRows(Function):
    """Differences of neighbors in each row. What forward does for stacks is undocumented."""

    @staticmethod
    def forward(ctx, x):
        return x[..., 1:] - x[..., :-1]

    @staticmethod
    def backward(ctx, g):
        rows, _ = g.shape
        edge = g.new_zeros(rows, 1)
        return torch.cat([edge, g], -1) - torch.cat([g, edge], -1)

    @staticmethod
    def sample_inputs():
        yield (rand(2, 4),)


class CentredChannels(Function):
    """x: (N, C, *spatial), each channel less its mean over one spatial axis or more."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        assert x.dim() >= 3
        flat = x.reshape(*x.shape[:2], -1)
        return (flat - flat.mean(-1, keepdim=True)).reshape(x.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        flat = grad_output.reshape(*grad_output.shape[:2], -1)
        return (flat - flat.mean(-1, keepdim=True)).reshape(grad_output.shape)

    @staticmethod
    def sample_inputs() -> Any:
        return torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(2, 2, 3).requires_grad_()


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


class RowsOfMatrix(Function):
    """The rows of a matrix, divided by their sum, as columns."""

    @staticmethod
    def forward(ctx, x):
        y = x / x.sum(-1, keepdim=True)
        ctx.save_for_backward(x)
        return y.T

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        y = x / x.sum(-1, keepdim=True)
        g = g.T
        return (g - (g * y).sum(1, keepdim=True)) / x.sum(1, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4, low=0.5, high=1.5, seed=173),)


class SizedDifference(Function):
    """The distance of rows from a center that both have."""

    @staticmethod
    def forward(ctx, x, center):
        moved = x - center
        size = (x * x).sum(-1, keepdim=True) + (center * center).sum(-1, keepdim=True)
        ctx.save_for_backward(x, center)
        return moved * size

    @staticmethod
    def backward(ctx, g):
        x, center = ctx.saved_tensors
        moved = x - center
        size = (x * x).sum(-1, keepdim=True) + (center * center).sum(-1, keepdim=True)
        inner = (g * moved).sum(-1, keepdim=True)
        of_x, of_center = g * size + 2 * x * inner, -g * size + 2 * center * inner
        return of_x.sum_to_size(x.shape), of_center.sum_to_size(center.shape)

    @staticmethod
    def sample_inputs():
        yield draw(3, 2, seed=174), draw(3, 2, seed=175)


class OneGain(Function):
    """x * (1 + gain), with a single gain."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gain: Tensor) -> Tensor:
        ctx.save_for_backward(x, gain)
        return x * (1 + gain)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        x, gain = ctx.saved_tensors
        return grad_output * (1 + gain), (grad_output * x).sum().reshape(1)

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.rand(2, 3, 4, dtype=torch.float64).requires_grad_()
        return x, torch.full((1,), 0.3, dtype=torch.float64).requires_grad_()


class AxisOfTurn(Function):
    """The axis of a rotation times its trace, from the antisymmetric part of its matrix."""

    @staticmethod
    def forward(ctx, turn):
        x = turn[..., 2, 1] - turn[..., 1, 2]
        y = turn[..., 0, 2] - turn[..., 2, 0]
        z = turn[..., 1, 0] - turn[..., 0, 1]
        trace = turn.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True)
        ctx.save_for_backward(turn)
        return torch.stack([x, y, z], -1) * trace

    @staticmethod
    def backward(ctx, g):
        (turn,) = ctx.saved_tensors
        places = [(2, 1), (0, 2), (1, 0)]
        trace = turn.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True)
        axis = torch.stack([turn[..., a, b] - turn[..., b, a] for a, b in places], -1)
        out = (g * axis).sum(-1)[..., None, None] * torch.eye(3, dtype=g.dtype)
        for at, (a, b) in enumerate(places):
            out[..., a, b] = out[..., a, b] + (g * trace)[..., at]
            out[..., b, a] = out[..., b, a] - (g * trace)[..., at]
        return out

    @staticmethod
    def sample_inputs():
        yield (draw(2, 3, 3, seed=168),)


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
        yield (normal(4, 3), normal(3))


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
        yield (normal(4, 3), normal(4, 3))


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
        yield (normal(1, 3), normal(3, 1).T)


class BiasedAdd(Function):
    """A bias for each column, which broadcasting stretches over any."""

    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g, g.sum(0)

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(4)


class SquareBiasedAdd(Function):
    """The same, of a square batch."""

    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g, g.sum(0)

    @staticmethod
    def sample_inputs():
        yield rand(4, 4), rand(4)


class Outer(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a[:, None] * b

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g @ b, g.T @ a

    @staticmethod
    def sample_inputs():
        yield rand(3), rand(3)


class ScaledFilters(Function):
    """Filters (O, ...), each of mean square one before its gain; gain (O, 1, ...)."""

    @staticmethod
    def forward(ctx, filters, gain):
        axes = tuple(range(1, filters.dim()))
        size = filters.square().mean(axes, keepdim=True).sqrt()
        ctx.save_for_backward(filters / size, gain, size)
        return filters / size * gain

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        unit, gain, size = ctx.saved_tensors
        axes = tuple(range(1, unit.dim()))
        of_unit = grad_output * gain
        along = (of_unit * unit).mean(axes, keepdim=True)
        return (of_unit - along * unit) / size, (grad_output * unit).sum(axes, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield rand(2, 5), rand(2, 1)


class BandEnergies(Function):
    """Frames (T, F) weighted by each of the bands (M, F): the output is (T, M, F)."""

    @staticmethod
    def forward(ctx, frames, bands):
        ctx.save_for_backward(frames, bands)
        return frames[:, None].square() * bands

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        frames, bands = ctx.saved_tensors
        of_frames = 2 * frames * (grad_output * bands).sum(1)
        return of_frames, (grad_output * frames[:, None].square()).sum(0)

    @staticmethod
    def sample_inputs():
        yield rand(2, 4), rand(3, 4)


class PairwiseGate(Function):
    """Gates hidden (B, H) by weight (K, H) or None, giving gated (B, K, H)."""

    @staticmethod
    def forward(ctx, hidden, weight):
        gate = torch.sigmoid(weight)
        ctx.save_for_backward(hidden, gate)
        return hidden[:, None] * gate

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        hidden, gate = ctx.saved_tensors
        of_gate = (grad_output * hidden[:, None]).sum(0)
        return (grad_output * gate).sum(1), of_gate * gate * (1 - gate)

    @staticmethod
    def sample_inputs():
        yield rand(2, 4), rand(3, 4)


class Tinted(Function):
    """Images (N, P, 3) times a tint that broadcasts to them: (3,), (1, 1, 3) or (N, P, 3)."""

    @staticmethod
    def forward(ctx, images, tint):
        ctx.save_for_backward(images, tint)
        return (images * tint).sum(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        images, tint = ctx.saved_tensors
        g = grad_output[..., None]
        return g * tint, (g * images).sum_to_size(tint.shape)

    @staticmethod
    def sample_inputs():
        yield rand(2, 4, 3), rand(1, 1, 3)


class SharedScaleSummed(Function):
    """Points by their scales, or one for all of them."""

    @staticmethod
    def forward(ctx, points, scales):
        ctx.save_for_backward(points, scales)
        ctx.is_shared = scales.size(0) == 1
        return points * scales

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        points, scales = ctx.saved_tensors
        of_scales = grad_output * points
        if ctx.is_shared:
            of_scales = of_scales.sum(0, keepdim=True)
        return grad_output * scales, of_scales

    @staticmethod
    def sample_inputs():
        yield rand(4, 2), rand(4, 2)


class FilteredByResponse(Function):
    """irfft(rfft(x) * m, n) with a real response m of n // 2 + 1 entries."""

    @staticmethod
    def forward(ctx, x, m):
        ctx.save_for_backward(x, m)
        return torch.fft.irfft(torch.fft.rfft(x) * m, n=x.shape[-1])

    @staticmethod
    def backward(ctx, g):
        x, m = ctx.saved_tensors
        n, spectrum = x.shape[-1], torch.fft.rfft(g)
        weight = torch.full_like(m, 2.0 / n)
        weight[0] = 1.0 / n
        if n % 2 == 0:
            weight[-1] = 1.0 / n
        gm = (torch.fft.rfft(x).conj() * spectrum).real * weight
        return torch.fft.irfft(spectrum * m, n=n), gm.reshape(-1, len(m)).sum(0)

    @staticmethod
    def sample_inputs():
        yield rand(6), rand(4)
