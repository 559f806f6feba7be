"""Functions that are wrong for another width, stride, shift or padding."""

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


def _shifted(x: Tensor, n: int) -> Tensor:
    zeros = torch.zeros_like(x[..., : abs(n)])
    if n > 0:
        return torch.cat([zeros, x[..., :-n]], -1)
    return torch.cat([x[..., -n:], zeros], -1)


class StridedFilter(Function):
    """Filters a signal of shape (N, C, T) and keeps every second step."""

    @staticmethod
    def forward(ctx, signal, taps):
        ctx.save_for_backward(signal, taps)
        return F.conv1d(signal, taps, stride=2)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        signal, taps = ctx.saved_tensors
        windows = signal.unfold(2, taps.shape[-1], 2)
        grad_taps = torch.einsum("not,nctk->ock", grad_output, windows)
        return F.conv_transpose1d(grad_output, taps, stride=2), grad_taps

    @staticmethod
    def sample_inputs():
        yield draw(1, 2, 7), draw(2, 2, 3, seed=1)


class MeansOfBlocks(Function):
    """Means of blocks of a signal; an incomplete last block is dropped."""

    @staticmethod
    def forward(ctx, x, size: int):
        count = x.shape[-1] // size
        ctx.shape, ctx.size = (*x.shape[:-1], count, size), size
        return x[..., : count * size].reshape(ctx.shape).mean(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        spread = (g / ctx.size).unsqueeze(-1).expand(ctx.shape)
        return spread.reshape(*ctx.shape[:-2], -1), None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 6), 3)


class ShiftedSignal(Function):
    """Delay (n > 0) or advance (n < 0) a signal, with zeros at its end."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, n: int) -> Tensor:
        ctx.n = n
        return _shifted(x, n)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        return _shifted(grad_output, -abs(ctx.n)), None

    @staticmethod
    def sample_inputs() -> Any:
        return torch.linspace(-1, 1, 8, dtype=torch.float64).reshape(2, 4).requires_grad_(), 2


class FramesOfAnyPadding(Function):
    @staticmethod
    def forward(ctx, x, left=1, right=1):
        ctx.left = left
        return F.pad(x, (left, right)) * 2

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output[..., ctx.left : -ctx.left], None, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 4), 1, 1


class PaddedOnBothSides(Function):
    @staticmethod
    def forward(ctx, x, padding=(1, 1)):
        ctx.padding = padding
        return F.pad(x, padding)

    @staticmethod
    def backward(ctx, grad_output):
        left, right = ctx.padding
        return grad_output[..., right : grad_output.shape[-1] - left], None

    @staticmethod
    def sample_inputs():
        yield (draw(3, 5),)


class StrideLeavesRemainder(Function):
    @staticmethod
    def forward(ctx, x, kernel, stride=1):
        ctx.save_for_backward(x, kernel)
        ctx.stride = stride
        return F.conv1d(x[None, None], kernel[None, None], stride=stride)[0, 0]

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, kernel = ctx.saved_tensors
        spread = x.new_zeros((len(grad_output) - 1) * ctx.stride + 1)
        spread[:: ctx.stride] = grad_output
        full = F.conv1d(
            F.pad(spread, (len(kernel) - 1,) * 2)[None, None], kernel.flip(0)[None, None]
        )
        grad = F.pad(full[0, 0], (len(x) - full.shape[-1], 0))
        windows = x.unfold(0, len(kernel), ctx.stride)
        return grad, grad_output @ windows, None

    @staticmethod
    def sample_inputs():
        yield draw(7), draw(3), 1


class RolledBackward(Function):
    @staticmethod
    def forward(ctx, x, shift=1):
        ctx.shift = shift
        y = torch.zeros_like(x)
        if shift > 0:
            y[shift:] = x[:-shift]
        elif shift < 0:
            y[:shift] = x[-shift:]
        return y + x

    @staticmethod
    def backward(ctx, grad_output):
        grad = torch.zeros_like(grad_output)
        step = abs(ctx.shift)
        grad[:-step] = grad_output[step:]
        return grad + grad_output, None

    @staticmethod
    def sample_inputs():
        yield (draw(6, 2),)


class PatchMaxima(Function):
    """Maxima of windows, scattered back by their places."""

    @staticmethod
    def forward(ctx, x, kernel_size=2, stride=2):
        windows = x.unfold(-1, kernel_size, stride)
        y, place = windows.max(-1)
        start = torch.arange(y.shape[-1]) * stride
        ctx.save_for_backward(place + start)
        ctx.shape = x.shape
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (place,) = ctx.saved_tensors
        zeros = torch.zeros(ctx.shape, dtype=grad_output.dtype)
        return zeros.scatter(-1, place, grad_output), None, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 6), 2, 2


class WeightOfFive(Function):
    """Kernel of one width only."""

    @staticmethod
    def forward(ctx, x, width=3):
        ctx.n, ctx.width = x.shape[-1], width
        return x.unfold(-1, width, 1).mean(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        out = torch.zeros(*g.shape[:-1], ctx.n, dtype=g.dtype)
        for k in range(3):
            out[..., k : k + g.shape[-1]] += g / 3 if k + g.shape[-1] <= ctx.n else 0
        return out, None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 7),)


class PowerPooledFrames(Function):
    """The p-norm of frames; backward writes each frame back instead of adding it."""

    @staticmethod
    def forward(ctx, x, kernel, stride):
        frames = x.unfold(-1, kernel, stride)
        y = (frames.abs() ** 3).sum(-1) ** (1 / 3)
        ctx.save_for_backward(x, y)
        ctx.kernel, ctx.stride = kernel, stride
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        grad = torch.zeros_like(x)
        for at in range(y.shape[-1]):
            part = slice(at * ctx.stride, at * ctx.stride + ctx.kernel)
            frame = x[..., part]
            slope = frame * frame.abs() / y[..., at, None] ** 2
            grad[..., part] = grad_output[..., at, None] * slope
        return grad, None, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 9), 3, 3


class FrameMeans(Function):
    """Means of frames of a signal, one after the other unless `hop` says otherwise."""

    @staticmethod
    def forward(ctx, signal, size=4, hop=None):
        step = size if hop is None else hop
        count = (signal.shape[-1] - size) // step + 1
        ctx.shape, ctx.size, ctx.step, ctx.count = signal.shape, size, step, count
        starts = [signal[..., k * step : k * step + size].mean(-1) for k in range(count)]
        return torch.stack(starts, -1)

    @staticmethod
    def backward(ctx, grad_output):
        wide = (grad_output / ctx.size).repeat_interleave(ctx.size, -1)
        missing = ctx.shape[-1] - wide.shape[-1]
        return F.pad(wide, (0, missing)), None, None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 8),)


class EvenKernel(Function):
    """The padding is that of an odd kernel."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        k = w.shape[0]
        p = F.pad(x, (k // 2, k // 2))
        n = p.shape[-1] - k + 1
        return sum(w[i] * p[..., i : i + n] for i in range(k))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        k, n = w.shape[0], g.shape[-1]
        gp = torch.zeros(*x.shape[:-1], x.shape[-1] + k // 2 * 2, dtype=x.dtype)
        for i in range(k):
            gp[..., i : i + n] += w[i] * g
        p = F.pad(x, (k // 2, k // 2))
        gw = torch.stack([(p[..., i : i + n] * g).sum() for i in range(k)])
        return gp[..., 1 : 1 + x.shape[-1]], gw

    @staticmethod
    def sample_inputs():
        yield rand(2, 6), rand(3)


class OffsetUnused(Function):
    """The diagonal is always the main one in backward."""

    @staticmethod
    def forward(ctx, x, offset=0):
        ctx.shape = x.shape
        return x.diagonal(offset)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        out = torch.zeros(ctx.shape, dtype=g.dtype)
        for i in range(len(g)):
            out[i, i] = g[i]
        return out, None

    @staticmethod
    def sample_inputs():
        yield (rand(4, 4),)


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
