"""Functions that are right for each width, stride, shift or padding.

Streamed takes x (B, C, T), taps (C, K) and state (B, C, (K - 1) * dilation).
"""

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class Windows(Function):
    """Products of `x` (t, d) with the rows of `y`, of as many, at most `reach` before or behind."""

    @staticmethod
    def forward(ctx, x, y, reach: int):
        t, d = x.shape
        wide = torch.nn.functional.pad(y, (0, 0, reach, reach)).contiguous()
        seen = torch.as_strided(wide, (t, 2 * reach + 1, d), (d, d, 1))
        ctx.save_for_backward(x, seen)
        ctx.reach = reach
        return torch.einsum("td,twd->tw", x, seen)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, seen = ctx.saved_tensors
        t, width = g.shape
        wide = x.new_zeros(t + width - 1, x.shape[1])
        for w in range(width):
            wide[w : w + t] += g[:, w, None] * x
        return torch.einsum("tw,twd->td", g, seen), wide[ctx.reach : ctx.reach + t], None

    @staticmethod
    def sample_inputs():
        rng = torch.Generator().manual_seed(13)
        x = torch.randn(4, 2, dtype=torch.float64, generator=rng, requires_grad=True)
        yield x, torch.randn(4, 2, dtype=torch.float64, generator=rng, requires_grad=True), 1


class StridedConvolution(Function):
    @staticmethod
    def forward(ctx, x, kernel, stride=1, padding=(0, 0)):
        ctx.save_for_backward(x, kernel)
        ctx.stride, ctx.padding = stride, padding
        padded = F.pad(x, padding)
        return F.conv1d(padded[None, None], kernel[None, None], stride=stride)[0, 0]

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, kernel = ctx.saved_tensors
        left, right = ctx.padding
        grad = x.new_zeros(len(x) + left + right)
        padded = F.pad(x, ctx.padding)
        of_kernel = torch.zeros_like(kernel)
        for at, value in enumerate(grad_output):
            start = at * ctx.stride
            grad[start : start + len(kernel)] += value * kernel
            of_kernel += value * padded[start : start + len(kernel)]
        return grad[left : left + len(x)], of_kernel, None, None

    @staticmethod
    def sample_inputs():
        yield draw(7), draw(3), 1, (1, 1)


class Padded(Function):
    @staticmethod
    def forward(ctx, x, padding=(1, 1)):
        ctx.padding = padding
        return F.pad(x, padding)

    @staticmethod
    def backward(ctx, grad_output):
        left, right = ctx.padding
        return grad_output[..., left : grad_output.shape[-1] - right], None

    @staticmethod
    def sample_inputs():
        yield (draw(3, 5),)


class WindowsOfStride(Function):
    """Sums of windows of any kernel and stride."""

    @staticmethod
    def forward(ctx, x, kernel=2, stride=None):
        step = kernel if stride is None else stride
        ctx.kernel, ctx.step, ctx.length = kernel, step, x.shape[-1]
        return x.unfold(-1, kernel, step).sum(-1)

    @staticmethod
    def backward(ctx, grad_output):
        grad = grad_output.new_zeros(*grad_output.shape[:-1], ctx.length)
        for at in range(grad_output.shape[-1]):
            start = at * ctx.step
            grad[..., start : start + ctx.kernel] += grad_output[..., at : at + 1]
        return grad, None, None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 8),)


class AveragePool(Function):
    """What is beyond the last full window is dropped."""

    @staticmethod
    def forward(ctx, x, k=2):
        n = x.shape[-1] // k
        ctx.shape, ctx.k = x.shape, k
        return x[..., : n * k].reshape(*x.shape[:-1], n, k).mean(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        k = ctx.k
        out = torch.zeros(ctx.shape, dtype=g.dtype)
        spread = (g / k).unsqueeze(-1).expand(*g.shape, k).reshape(*g.shape[:-1], -1)
        out[..., : spread.shape[-1]] = spread
        return out, None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 6),)


class Streamed(Function):
    @staticmethod
    def forward(ctx, x, taps, state, dilation):
        number, length = taps.shape[1], x.shape[-1]
        whole = torch.cat((state, x), -1)
        ctx.save_for_backward(x, taps, state)
        ctx.dilation = dilation
        parts = (whole[..., k * dilation : k * dilation + length] for k in range(number))
        return sum(taps[:, k, None] * part for k, part in enumerate(parts))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, taps, state = ctx.saved_tensors
        number, length, dilation = taps.shape[1], x.shape[-1], ctx.dilation
        whole = torch.cat((state, x), -1)
        left = (number - 1) * dilation
        grad = torch.zeros_like(whole)
        of_taps = []
        for k in range(number):
            part = whole[..., k * dilation : k * dilation + length]
            of_taps.append((grad_output * part).sum((0, 2)))
            grad = grad + F.pad(taps[:, k, None] * grad_output, (k * dilation, left - k * dilation))
        return grad[..., left:], torch.stack(of_taps, 1), grad[..., :left], None

    @staticmethod
    def sample_inputs():
        yield draw(2, 2, 5), draw(2, 3), draw(2, 2, 4), 2


class Smeared(Function):
    """A moving average, whose adjoint takes the mirrored weights that the caller has made."""

    @staticmethod
    def forward(ctx, x, weights, mirror):
        ctx.save_for_backward(mirror)
        return F.conv1d(x[:, None], weights[None, None], padding=len(weights) // 2)[:, 0]

    @staticmethod
    def backward(ctx, grad):
        (mirror,) = ctx.saved_tensors
        back = F.conv1d(grad[:, None], mirror[None, None], padding=len(mirror) // 2)
        return back[:, 0], None, None

    @staticmethod
    def sample_inputs():
        weights = torch.tensor([0.1, 0.3, 0.6], dtype=torch.double)
        yield rand(2, 6), weights, weights.flip(0)
