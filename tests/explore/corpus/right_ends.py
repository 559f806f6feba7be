"""Correct Functions that rely on orders, on places from the front, or on an open range."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function


def draw(*shape: int, seed: int = 0) -> Tensor:
    made = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return made.requires_grad_()


class Shuffled(Function):
    """Rows of x (N, D) in the order of a permutation (N,)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, at: Tensor) -> Tensor:
        ctx.save_for_backward(at)
        return x[at]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (at,) = ctx.saved_tensors
        return g.new_zeros(g.shape).index_put((at,), g), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4, 2), torch.tensor([2, 0, 3, 1])


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


class EntryAt(Function):
    """The entry of x (N,) at a place that counts from the front or from the end."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, place: int) -> Tensor:
        ctx.place, ctx.count = place, x.shape[0]
        return x[place].clone()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        made = g.new_zeros(ctx.count)
        made[ctx.place] = 1.0
        return made * g, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(5), 1
