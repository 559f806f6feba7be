"""Right Functions of records, of any number of tensors, of lists, and under vmap."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch.autograd import Function


def draw(*shape, low=-1.0, high=1.0, seed=131):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


@dataclass(frozen=True)
class _Checked:
    slope: float = 1.0
    is_hard: bool = False
    eps: float = 1e-6
    widths: tuple[int, ...] = (2, 2)

    def __post_init__(self):
        if self.slope != 1.0:
            raise ValueError("only a slope of one")


class TanhOfCheckedConfig(Function):
    """A tanh with a slope that must be one."""

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
        yield draw(4), _Checked()


class SumOfPairs(Function):
    """Products of the first half of some tensors with the second half."""

    @staticmethod
    def forward(ctx, *xs):
        if len(xs) % 2:
            raise ValueError("needs pairs")
        ctx.save_for_backward(*xs)
        half = len(xs) // 2
        return sum((x * y).sum() for x, y in zip(xs[:half], xs[half:], strict=True))

    @staticmethod
    def backward(ctx, g):
        xs = ctx.saved_tensors
        half = len(xs) // 2
        return tuple(g * xs[(at + half) % len(xs)] for at in range(len(xs)))

    @staticmethod
    def sample_inputs():
        yield draw(3, seed=132), draw(3, seed=133)


class WeightedParts(Function):
    """A sum of constant parts, each with its weight."""

    @staticmethod
    def forward(ctx, weights, parts):
        ctx.parts = parts
        return sum(w * part for w, part in zip(weights, parts))

    @staticmethod
    def backward(ctx, g):
        return torch.stack([(g * part).sum() for part in ctx.parts]), None

    @staticmethod
    def sample_inputs():
        yield draw(2), [draw(3, seed=136).detach(), draw(3, seed=137).detach()]


class _Sides(NamedTuple):
    left: int
    right: int


class PaddedEnergy(Function):
    """The energy of a padded signal."""

    @staticmethod
    def forward(ctx, x, sides):
        ctx.save_for_backward(x)
        ctx.sides = sides
        return torch.nn.functional.pad(x, (sides.left, sides.right)) ** 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        inner = g[ctx.sides.left : g.shape[0] - ctx.sides.right]
        return 2 * inner * x, None

    @staticmethod
    def sample_inputs():
        yield draw(4), _Sides(1, 2)


class ProductOfEquals(Function):
    """A product of two tensors of one shape."""

    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    @staticmethod
    def vmap(info, in_dims, x, y):
        x = x.unsqueeze(0) if in_dims[0] is None else x.movedim(in_dims[0], 0)
        y = y.unsqueeze(0) if in_dims[1] is None else y.movedim(in_dims[1], 0)
        return ProductOfEquals.apply(*torch.broadcast_tensors(x, y)), 0

    @staticmethod
    def sample_inputs():
        yield draw(3, 4, seed=134), draw(3, 4, seed=135)
