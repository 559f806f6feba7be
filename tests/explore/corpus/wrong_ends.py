"""Functions that are wrong at an end: of a range, of a table, of a sequence."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape: int, seed: int = 0) -> Tensor:
    made = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return made.requires_grad_()


def share(*shape: int, seed: int = 0) -> Tensor:
    made = torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (0.1 + 0.7 * made).requires_grad_()


class TokensBySlot(Function):
    """Tokens (N, D) by slot (S,), whatever number of slots a token fills."""

    @staticmethod
    def forward(ctx: Any, tokens: Tensor, slot: Tensor) -> Tensor:
        ctx.save_for_backward(tokens, slot)
        return tokens[slot]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        tokens, slot = ctx.saved_tensors
        return torch.zeros_like(tokens).index_put((slot,), g), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4, 2), torch.tensor([2, 0, 3, 1])


class MaskedEntry(Function):
    """x (N,) without the entry at place, which may count from the end."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, place: int) -> Tensor:
        ctx.place, ctx.count = place, x.shape[0]
        y = x.clone()
        y[place] = 0.0
        return y

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        return g * (torch.arange(ctx.count) != ctx.place), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(5), 1


class DecayFromState(Function):
    """k (T, D), v (T, E), a (T,), optional state s0 (D, E) -> the last state."""

    @staticmethod
    def forward(ctx: Any, k: Tensor, v: Tensor, a: Tensor, s0: Tensor | None = None) -> Tensor:
        ctx.is_given = s0 is not None
        state = s0 if ctx.is_given else k.new_zeros(k.shape[1], v.shape[1])
        states = []
        for t in range(k.shape[0]):
            states.append(state)
            state = a[t] * state + torch.outer(k[t], v[t])
        ctx.save_for_backward(k, v, a, torch.stack(states))
        return state

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Any:
        k, v, a, states = ctx.saved_tensors
        gk, gv, ga = torch.zeros_like(k), torch.zeros_like(v), torch.zeros_like(a)
        for t in range(k.shape[0] - 1, -1, -1):
            gk[t], gv[t] = g @ v[t], g.t() @ k[t]
            ga[t] = (g * states[t]).sum() if t > 0 else 0.0
            g = a[t] * g
        return gk, gv, ga, g if ctx.is_given else None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4, 3), draw(4, 2, seed=1), share(4), None


class MarginOfAngle(Function):
    """cos (N,) in (-1, 1) with a margin m on the angle, and its extension past pi - m."""

    @staticmethod
    def forward(ctx: Any, cos: Tensor, m: float) -> Tensor:
        if not bool((cos.detach().abs() < 1).all()):
            raise ValueError("no cosines")
        ctx.save_for_backward(cos)
        ctx.m = m
        moved = cos * math.cos(m) - torch.sqrt(1 - cos * cos) * math.sin(m)
        return torch.where(cos > math.cos(math.pi - m), moved, cos - m * math.sin(m))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (cos,) = ctx.saved_tensors
        return g * (math.cos(ctx.m) + math.sin(ctx.m) * cos / torch.sqrt(1 - cos * cos)), None

    @staticmethod
    def sample_inputs() -> Any:
        yield (0.5 * draw(5).detach().clamp(-1, 1)).requires_grad_(), 0.3


class RootOfPairs(Function):
    """The square root of the positive definite matrix 0.5 * (A + A^T)."""

    @staticmethod
    def forward(ctx: Any, A: Tensor) -> Tensor:
        w, U = torch.linalg.eigh(0.5 * (A + A.mT))
        if not bool((w > 0).all()):
            raise ValueError("not positive definite")
        ctx.save_for_backward(w, U)
        return (U * w.sqrt()) @ U.mT

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, G: Tensor) -> Tensor:
        w, U = ctx.saved_tensors
        gap = w[:, None] - w[None, :]
        close = gap.abs() < 1e-9
        slope = (w.sqrt()[:, None] - w.sqrt()[None, :]) / torch.where(close, 1.0, gap)
        K = torch.where(close, 0.0, slope) + torch.diag(0.5 / w.sqrt())
        return U @ (K * (U.mT @ (0.5 * (G + G.mT)) @ U)) @ U.mT

    @staticmethod
    def sample_inputs() -> Any:
        b = draw(4, 4).detach()
        yield ((b @ b.t() + torch.eye(4, dtype=torch.float64)).requires_grad_(),)


class WeightsAlongRay(Function):
    """Opacity alpha (R, S) in [0, 1] -> weights (R, S)."""

    @staticmethod
    def forward(ctx: Any, alpha: Tensor) -> Tensor:
        before = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha[:, :-1]], 1), 1)
        ctx.save_for_backward(alpha, before)
        return before * alpha

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Tensor:
        alpha, before = ctx.saved_tensors
        weighed = before * alpha * g
        behind = weighed.flip(1).cumsum(1).flip(1) - weighed
        return before * g - behind / (1 - alpha).clamp(min=1e-10)

    @staticmethod
    def sample_inputs() -> Any:
        yield (share(2, 4),)


class CellTotals(Function):
    """Totals of x (N, D) by cell (N,) of n; points of a negative cell count nowhere."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, cell: Tensor, n: int) -> Tensor:
        ctx.save_for_backward(cell)
        inside = (cell >= 0).to(x.dtype)
        return x.new_zeros(n, x.shape[1]).index_add(0, cell.clamp(min=0), x * inside[:, None])

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        (cell,) = ctx.saved_tensors
        return g[cell], None, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(5, 2), torch.tensor([0, 2, 2, 3, 0]), 4
