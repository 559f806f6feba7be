"""Right Functions whose docstrings state ranges by extents, or that lose digits far from zero."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0, seed=61):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


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


class LastOfSequence(Function):
    """The last state of each sequence; states (B, T), lengths (B,) in [1, T]."""

    @staticmethod
    def forward(ctx, states, lengths):
        at = (lengths - 1).clamp(min=0)[:, None]
        ctx.save_for_backward(lengths)
        ctx.shape = states.shape
        return states.gather(1, at)[:, 0]

    @staticmethod
    def backward(ctx, grad_output):
        (lengths,) = ctx.saved_tensors
        grad = torch.zeros(ctx.shape, dtype=grad_output.dtype)
        rows = torch.arange(ctx.shape[0])
        grad[rows, lengths - 1] = grad_output
        return grad, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), torch.tensor([4, 2, 3])


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


class MomentsInOnePass(Function):
    """Rows of mean zero and variance one; both directions take the variance from moments."""

    @staticmethod
    def forward(ctx, x):
        mean = x.mean(-1, keepdim=True)
        scale = ((x * x).mean(-1, keepdim=True) - mean * mean).rsqrt()
        y = (x - mean) * scale
        ctx.save_for_backward(y, scale)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        y, scale = ctx.saved_tensors
        g = grad_output - grad_output.mean(-1, keepdim=True)
        return scale * (g - y * (grad_output * y).mean(-1, keepdim=True))

    @staticmethod
    def sample_inputs():
        yield (draw(3, 5),)


class CenteredRows(Function):
    """Rows of mean zero and variance one, from deviations only."""

    @staticmethod
    def forward(ctx, x):
        centered = x - x.mean(-1, keepdim=True)
        scale = (centered * centered).mean(-1, keepdim=True).rsqrt()
        y = centered * scale
        ctx.save_for_backward(y, scale)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        y, scale = ctx.saved_tensors
        g = grad_output - grad_output.mean(-1, keepdim=True)
        return scale * (g - y * (grad_output * y).mean(-1, keepdim=True))

    @staticmethod
    def sample_inputs():
        yield (draw(3, 5),)


class RealSpectrum(Function):
    """The energy of the complex spectrum of a real signal."""

    @staticmethod
    def forward(ctx, signal):
        spectrum = torch.fft.fft(signal)
        ctx.save_for_backward(spectrum)
        return spectrum.abs().square()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (spectrum,) = ctx.saved_tensors
        return 2 * torch.fft.ifft(grad_output * spectrum).real * spectrum.shape[-1]

    @staticmethod
    def sample_inputs():
        yield (draw(2, 4),)


class SharedWeights(Function):
    """A weighted mean; weights need not be equal."""

    @staticmethod
    def forward(ctx, x, weights):
        ctx.save_for_backward(weights)
        return (weights[:, None] * x).sum(0) / weights.sum()

    @staticmethod
    def backward(ctx, grad_output):
        (weights,) = ctx.saved_tensors
        return grad_output * (weights / weights.sum())[:, None], None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), torch.full((4,), 0.25, dtype=torch.double)
