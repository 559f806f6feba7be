"""Correct Functions whose axes depend on offsets, orders or the type of other arguments."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape: int, seed: int = 0) -> Tensor:
    made = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return made.requires_grad_()


class PackedLogSoftmax(Function):
    """x: (total,), offsets: (B+1,) non-decreasing with offsets[0] = 0 and offsets[-1] <= total."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, offsets: Tensor) -> Tensor:
        ends = offsets.tolist()
        parts = [torch.log_softmax(x[a:b], 0) for a, b in zip(ends, ends[1:]) if b > a]
        y = torch.cat([*parts, torch.zeros_like(x[ends[-1] :])])
        ctx.save_for_backward(y, offsets)
        return y

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        y, offsets = ctx.saved_tensors
        n = int(offsets[-1])
        segment = torch.repeat_interleave(torch.arange(len(offsets) - 1), offsets.diff())
        total = g.new_zeros(len(offsets) - 1).index_add(0, segment, g[:n])
        inside = g[:n] - y[:n].exp() * total[segment]
        return torch.cat([inside, torch.zeros_like(g[n:])]), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(8), torch.tensor([0, 3, 3, 7])


class ComplexPoles(Function):
    """The real part of a sum over complex poles (N,) and real u (T,), which drives them."""

    @staticmethod
    def forward(ctx: Any, poles: Tensor, u: Tensor) -> Tensor:
        state, states = torch.zeros_like(poles), []
        for t in range(u.shape[0]):
            state = poles * state + u[t]
            states.append(state)
        ctx.save_for_backward(poles, u, torch.stack(states))
        return torch.stack(states).sum(-1).real

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        poles, u, states = ctx.saved_tensors
        d, gp, gu = torch.zeros_like(poles), torch.zeros_like(poles), torch.zeros_like(u)
        for t in range(u.shape[0] - 1, -1, -1):
            d = d * poles.conj() + g[t]
            gu[t] = d.sum().real
            if t > 0:
                gp += d * states[t - 1].conj()
        return gp, gu

    @staticmethod
    def sample_inputs() -> Any:
        poles = torch.tensor([0.3 + 0.4j, -0.2 + 0.1j, 0.5 - 0.3j], dtype=torch.complex128)
        yield poles.requires_grad_(), draw(4)


class LengthOfPacked(Function):
    """x (B, T, D), lengths (B,) int64 in 0..T -> (sum of lengths, D)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, lengths: Tensor) -> Tensor:
        B, T, _ = x.shape
        assert lengths.shape == (B,)
        assert bool(((lengths >= 0) & (lengths <= T)).all())
        keep = torch.arange(T, device=x.device) < lengths[:, None]
        (where,) = keep.reshape(-1).nonzero(as_tuple=True)
        ctx.save_for_backward(where)
        ctx.shape = x.shape
        return x.flatten(0, 1)[where]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (where,) = ctx.saved_tensors
        B, T, D = ctx.shape
        return g.new_zeros(B * T, D).index_copy(0, where, g).view(B, T, D), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(3, 4, 2), torch.tensor([2, 4, 0])


class DistinctPlaces(Function):
    """Rows of x (N, D) written to distinct places (N,) of n."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, places: Tensor, n: int) -> Tensor:
        ctx.save_for_backward(places)
        return x.new_zeros(n, x.shape[1]).index_copy(0, places, x)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        (places,) = ctx.saved_tensors
        return g[places], None, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(3, 2), torch.tensor([4, 0, 2]), 6
