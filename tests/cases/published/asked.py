"""Functions that say in the message or the code of a refusal what they take."""

from __future__ import annotations

import torch
from torch.autograd import Function

WINDOWS = {"hann": 0.5, "hamming": 0.54}


def tapered(x, kind):
    if kind.lower() not in WINDOWS:
        raise ValueError(f"no such window: {kind}")
    at = torch.arange(x.shape[-1], dtype=x.dtype) / x.shape[-1]
    alpha = WINDOWS[kind.lower()]
    return alpha - (1 - alpha) * torch.cos(6.28 * at)


class Windowed(Function):
    """The options are the keys of a table that a helper looks up."""

    @staticmethod
    def forward(ctx, x, kind):
        window = tapered(x, kind)
        ctx.save_for_backward(window)
        return x * window

    @staticmethod
    def backward(ctx, grad_output):
        (window,) = ctx.saved_tensors
        return grad_output * window, None


def settled(algo):
    fit = dict(zip(("lu", "qr"), (2.0, 3.0)))
    try:
        return fit[algo]
    except KeyError:
        raise ValueError(f"Unknown algorithm: {algo}. Available: lu, qr") from None


class ScaledBy(Function):
    """The options are listed in a message, and the code for them stands above it."""

    @staticmethod
    def forward(ctx, x, algo, thorough):
        if not isinstance(thorough, bool):
            raise TypeError("thorough must be of type bool, got another type instead")
        ctx.factor = settled(algo)
        ctx.thorough = thorough
        return x * ctx.factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None, None


class Amplitude(Function):
    """Complex values are asked for in words."""

    @staticmethod
    def forward(ctx, values):
        if "complex" not in str(values.dtype):
            raise TypeError("Values must have a dtype of torch.complex64 or torch.complex128")
        ctx.save_for_backward(values)
        return (values * values.conj()).real

    @staticmethod
    def backward(ctx, grad_output):
        (values,) = ctx.saved_tensors
        return 2 * grad_output * values


def dense(val, row, col, shape):
    if len(row) != len(val) or len(col) != len(val):
        raise ValueError("all index and data arrays must have the same length")
    if shape[0] != shape[1]:
        raise ValueError(f"a solve requires a square matrix, got {tuple(shape)}")
    matrix = torch.zeros(tuple(shape), dtype=val.dtype)
    matrix[row, col] = val
    return matrix


class SparseSolve(Function):
    """The matrix comes as values, rows, columns and a shape."""

    @staticmethod
    def forward(ctx, val, row, col, shape, b):
        u = torch.linalg.solve(dense(val, row, col, shape), b)
        ctx.save_for_backward(val, row, col, u)
        ctx.shape = shape
        return u

    @staticmethod
    def backward(ctx, grad_output):
        val, row, col, u = ctx.saved_tensors
        grad_b = torch.linalg.solve(dense(val, row, col, ctx.shape).T, grad_output)
        return -grad_b[row] * u[col], None, None, None, grad_b


class Root(Function):
    """It is right after enough iterations."""

    @staticmethod
    def forward(ctx, x, num_iters):
        root = torch.ones_like(x)
        for _ in range(num_iters):
            root = 0.5 * (root + (x.abs() + 0.1) / root)
        ctx.save_for_backward(x, root)
        return root

    @staticmethod
    def backward(ctx, grad_output):
        x, root = ctx.saved_tensors
        return grad_output * x.sign() / (2 * root), None


class RoundedTo(Function):
    """The numbers come as the attributes of an object, one of which may be missing."""

    @staticmethod
    def forward(ctx, x, space):
        scale = space.scale
        if space._expander is not None:
            scale = space._expander.expand(scale, space.shape)
        ctx.space = space
        y = x / scale
        ctx.save_for_backward((y > space.qmin) & (y < space.qmax))
        return torch.clamp(y, space.qmin, space.qmax) * scale

    @staticmethod
    def backward(ctx, grad_output):
        (inside,) = ctx.saved_tensors
        return grad_output * inside, None


def sampled(inp, at):
    """Read a signal between its points.

    inp: (B, C, *spatial_in) tensor
    at: (B, *spatial_out, D) tensor
    """
    if at.dim() != inp.dim() or at.shape[-1] != 1:
        raise RuntimeError("wrong number of dimensions")
    place = at[..., 0].sigmoid() * (inp.shape[-1] - 1.001)
    left = place.floor().long()
    share = (place - left)[:, None]
    index = left[:, None].expand(-1, inp.shape[1], -1)
    one, other = torch.gather(inp, 2, index), torch.gather(inp, 2, index + 1)
    return one, other, share, index


class Sampled(Function):
    """A helper states the shapes."""

    @staticmethod
    def forward(ctx, values, grid):
        one, other, share, index = sampled(values, grid)
        ctx.save_for_backward(values, grid, share, index)
        return one * (1 - share) + other * share

    @staticmethod
    def backward(ctx, grad_output):
        values, grid, share, index = ctx.saved_tensors
        one, other = torch.gather(values, 2, index), torch.gather(values, 2, index + 1)
        grad_values = torch.zeros_like(values).scatter_add(2, index, grad_output * (1 - share))
        grad_values = grad_values.scatter_add(2, index + 1, grad_output * share)
        s = grid.sigmoid()[..., 0]
        slope = (grad_output * (other - one)).sum(1) * s * (1 - s) * (values.shape[-1] - 1.001)
        return grad_values, slope[..., None]


def summed(values, ends):
    """Sum what lies before the end of each row."""
    if ends.is_floating_point():
        raise TypeError("lengths are integers")
    if ends.max() != values.shape[1]:
        raise ValueError(f"Length mismatch: {values.shape[1]}, but {ends.max()}")
    keep = torch.arange(values.shape[1])[None] < ends[:, None]
    return (values * keep[..., None]).sum(1), keep


class SumOfFrames(Function):
    """Lengths are extents of a tensor, and the arguments of the call stand on lines below it."""

    @staticmethod
    def forward(ctx, frames, frame_lens):
        _, length, _ = frames.shape
        total, keep = summed(
            frames.detach(),
            frame_lens.cpu(),
        )
        ctx.save_for_backward(keep)
        return total

    @staticmethod
    def backward(ctx, grad_output):
        (keep,) = ctx.saved_tensors
        return grad_output[:, None] * keep[..., None], None


class Spikes(Function):
    """The default is so small that nothing happens."""

    @staticmethod
    def forward(ctx, x, activation, dt=0.001):
        ctx.dt = dt
        return torch.floor(activation(x) * dt * 4 + 0.5)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.dt * 4, None, None


class CountsAsOne(Function):
    """A list counts as one gradient, whatever the option is."""

    @staticmethod
    def forward(ctx, x, border):
        if border not in ("wrap", "reflect"):
            raise ValueError(f"Unknown border {border}")
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        return [2 * grad_output, None]


class PseudoInverse(Function):
    """Square-matrix pseudo-inverse, whose gradient is that of the inverse."""

    @staticmethod
    def forward(ctx, x):
        inverse = torch.linalg.pinv(x)
        ctx.save_for_backward(inverse)
        return inverse

    @staticmethod
    def backward(ctx, grad_output):
        (inverse,) = ctx.saved_tensors
        return -inverse.mT @ grad_output @ inverse.mT


class PutRows(Function):
    """Rows that are put at one place are lost, all but the last."""

    @staticmethod
    def forward(ctx, values, indices, first_axis_dim):
        ctx.save_for_backward(indices)
        output = torch.zeros(first_axis_dim, *values.shape[1:], dtype=values.dtype)
        output[indices] = values
        return output

    @staticmethod
    def backward(ctx, grad_output):
        (indices,) = ctx.saved_tensors
        return grad_output[indices], None, None
