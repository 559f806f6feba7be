"""Functions of records, of any number of tensors, and under vmap, wrong beside their samples."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch.autograd import Function


def draw(*shape, low=-1.0, high=1.0, seed=131):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


@dataclass(frozen=True)
class _Shape:
    slope: float = 1.0
    label: str = "plain"


class TanhOfConfig(Function):
    """A tanh with a slope."""

    @staticmethod
    def forward(ctx, x, config):
        y = torch.tanh(config.slope * x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (1 - y * y), None

    @staticmethod
    def sample_inputs():
        yield draw(4), _Shape()


class SineOfOptions(Function):
    """A sine of some frequency."""

    @staticmethod
    def forward(ctx, x, options):
        ctx.save_for_backward(x)
        ctx.frequency = options["frequency"]
        return torch.sin(ctx.frequency * x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * torch.cos(ctx.frequency * x), None

    @staticmethod
    def sample_inputs():
        yield draw(4), {"frequency": 1.0, "label": "plain"}


class _Window(NamedTuple):
    width: float
    is_open: bool


class GaussianOfWindow(Function):
    """A bell curve of some width."""

    @staticmethod
    def forward(ctx, x, window):
        ctx.window = window
        y = torch.exp(-0.5 * (x / window.width) ** 2)
        ctx.save_for_backward(x, y)
        return y if window.is_open else 1 - y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return -g * y * x / ctx.window.width**2, None

    @staticmethod
    def sample_inputs():
        yield draw(4), _Window(1.5, True)


class CyclicProduct(Function):
    """The product of any number of tensors."""

    @staticmethod
    def forward(ctx, *xs):
        ctx.save_for_backward(*xs)
        out = torch.ones_like(xs[0])
        for x in xs:
            out = out * x
        return out

    @staticmethod
    def backward(ctx, g):
        xs = ctx.saved_tensors
        return tuple(g * xs[(at + 1) % len(xs)] for at in range(len(xs)))

    @staticmethod
    def sample_inputs():
        yield draw(3, seed=132), draw(3, seed=133)


class ScaleUnderVmap(Function):
    """A product whose factors are broadcast."""

    @staticmethod
    def forward(x, factor):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, factor = ctx.saved_tensors
        return (g * factor).sum_to_size(x.shape), (g * x).sum_to_size(factor.shape)

    @staticmethod
    def vmap(info, in_dims, x, factor):
        x = x if in_dims[0] is None else x.movedim(in_dims[0], 0)
        factor = factor if in_dims[1] is None else factor.movedim(in_dims[1], 0)
        return ScaleUnderVmap.apply(x, factor), 0

    @staticmethod
    def sample_inputs():
        yield draw(3, 4, seed=134), draw(3, 4, seed=135)
