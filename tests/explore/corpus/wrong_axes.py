"""Functions that take one axis for another, where both are equally long in the sample."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape: int, seed: int = 0) -> Tensor:
    made = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return made.requires_grad_()


class MaskedProjection(Function):
    """x (B, T, K), w (K, K), lengths (B,) with 1 <= length <= T -> (B, K), means over time."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, lengths: Tensor) -> Tensor:
        B, T, K = x.shape
        assert w.shape == (K, K)
        assert lengths.shape == (B,)
        keep = (torch.arange(T, device=x.device) < lengths[:, None]).to(x.dtype)
        weights = keep / lengths[:, None]
        ctx.save_for_backward(x, w, weights)
        return torch.einsum("bt,btk,kl->bl", weights, x, w) / K

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, None]:
        x, w, weights = ctx.saved_tensors
        g = g / x.shape[0]
        gx = torch.einsum("bt,bl,kl->btk", weights, g, w)
        return gx, torch.einsum("bt,btk,bl->kl", weights, x, g), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(3, 4, 3), draw(3, 3, seed=1), torch.tensor([4, 2, 1])


class LabelledRows(Function):
    """Cross entropy of logits (N, C) and target (N,), averaged over rows."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, target: Tensor) -> Tensor:
        log_p = torch.log_softmax(logits, 1)
        ctx.save_for_backward(log_p, target)
        return -log_p[torch.arange(logits.shape[0]), target].mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        log_p, target = ctx.saved_tensors
        one_hot = torch.zeros_like(log_p)
        one_hot[torch.arange(len(target)), target] = 1
        return g * (log_p.exp() - one_hot) / log_p.shape[1], None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(3, 3), torch.tensor([2, 0, 1])


class BootstrappedReturns(Function):
    """reward (T, N), value (T+1, N) -> (T, N), one step ahead."""

    @staticmethod
    def forward(ctx: Any, reward: Tensor, value: Tensor) -> Tensor:
        assert value.shape[0] == reward.shape[0] + 1
        return reward + 0.9 * value[1:] / reward.shape[0]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        return g, torch.cat([torch.zeros_like(g[:1]), 0.9 * g / 4])

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4, 2), draw(5, 2, seed=1)


class HalfRotation(Function):
    """x (N, 2 R) turned by theta (R,), halves as pairs, and scaled by the number of angles."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, theta: Tensor) -> Tensor:
        R = theta.shape[0]
        assert x.shape[1] == 2 * R
        a, b = x[:, :R], x[:, R:]
        ctx.save_for_backward(x, theta)
        return (
            torch.cat([a * theta.cos() - b * theta.sin(), a * theta.sin() + b * theta.cos()], 1) / R
        )

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        x, theta = ctx.saved_tensors
        R = theta.shape[0]
        g = g / x.shape[0]
        ga, gb, a, b = g[:, :R], g[:, R:], x[:, :R], x[:, R:]
        cos, sin = theta.cos(), theta.sin()
        turned = ga * (-a * sin - b * cos) + gb * (a * cos - b * sin)
        return torch.cat([ga * cos + gb * sin, gb * cos - ga * sin], 1), turned.sum(0)

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(2, 4), draw(2, seed=1)


class SmoothedMargin(Function):
    """-(1 - eps) log sigmoid(m) - eps log sigmoid(-m) with a label smoothing eps in [0, 0.5)."""

    @staticmethod
    def forward(ctx: Any, m: Tensor, eps: float = 0.0) -> Tensor:
        ctx.save_for_backward(m)
        ctx.eps = eps
        log_sigmoid = torch.nn.functional.logsigmoid
        return (-(1 - eps) * log_sigmoid(m) - eps * log_sigmoid(-m)).mean()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (m,) = ctx.saved_tensors
        return g * (1 - ctx.eps) * (torch.sigmoid(m) - 1) / m.numel(), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(5), 0.0


class LeakyFromOutput(Function):
    """x where x > 0, else slope * x; slope may be any float."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, slope: float) -> Tensor:
        y = torch.where(x > 0, x, slope * x)
        ctx.save_for_backward(y)
        ctx.slope = slope
        return y

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (y,) = ctx.saved_tensors
        return torch.where(y > 0, g, g * ctx.slope), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(3, 4), 0.1


class ChannelMeans(Function):
    """Means per channel of (N, C, *spatial) inputs."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.flatten(2).mean(2)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        spread = (g / x.shape[-1]).reshape(*g.shape, *[1] * (x.dim() - 2))
        return spread.expand(x.shape)

    @staticmethod
    def sample_inputs() -> Any:
        yield (draw(2, 3, 4),)


def _noise(shape: Any, seed: int, like: Tensor) -> Tensor:
    made = torch.Generator().manual_seed(seed)
    return torch.rand(shape, generator=made, dtype=torch.float64).to(like.dtype)


class ReplayedNoise(Function):
    """x times noise that is a function of the seed."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, seed: int = 0) -> Tensor:
        return x * _noise(x.shape, seed, x)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        return g * _noise(g.shape, 0, g), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(2, 3), 0


class SegmentShares(Function):
    """Softmax of score (N,) within seg (N,), ids below n, in any order."""

    @staticmethod
    def forward(ctx: Any, score: Tensor, seg: Tensor, n: int) -> Tensor:
        e = torch.exp(score)
        p = e / e.new_zeros(n).index_add(0, seg, e)[seg]
        ctx.save_for_backward(p, seg)
        return p

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        p, seg = ctx.saved_tensors
        total = g.new_zeros(5).index_add(0, seg, g * p)
        return p * (g - total[seg]), None, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(6), torch.tensor([3, 0, 3, 1, 0, 3]), 5


class Tokens(Function):
    """Rows of a table (V, D) by ids (N,), each V times."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, ids: Tensor) -> Tensor:
        ctx.save_for_backward(ids)
        return table[ids] * table.shape[0]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (ids,) = ctx.saved_tensors
        return g.new_zeros(5, g.shape[1]).index_add(0, ids, g * 5), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(5, 3), torch.tensor([1, 3, 1])


class SharedHeads(Function):
    """q (B, H, D), k (B, G, D), H a multiple of G: head h is weighted by k of h // (H // G)."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor) -> Tensor:
        ctx.count = q.shape[1] // k.shape[1]
        ctx.save_for_backward(q, k)
        return q * k.repeat_interleave(ctx.count, 1)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        q, k = ctx.saved_tensors
        batch, groups, width = k.shape
        summed = (g * q).reshape(batch, ctx.count, groups, width).sum(1)
        return g * k.repeat_interleave(ctx.count, 1), summed

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(2, 2, 3), draw(2, 1, 3, seed=1)


class OneSided(Function):
    """Squared distance of x to low, and of high, which None leaves out, to x."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, low: float, high: float | None = None) -> Tensor:
        ctx.save_for_backward(x)
        ctx.low = low
        above = 0.0 if high is None else (high - x) ** 3
        return (x - low) ** 2 + above

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        (x,) = ctx.saved_tensors
        return 2 * g * (x - ctx.low), None, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4), 0.5


class GainOfOneControl(Function):
    """The cost-to-go gain of one step, by the cost of controls."""

    @staticmethod
    def forward(ctx: Any, cost: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(cost, b)
        return b @ (cost + b.t() @ b + 2 * torch.eye(b.shape[1], dtype=b.dtype)) @ b.t()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        _, b = ctx.saved_tensors
        return b.t() @ g.t() @ b, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(1, 1), draw(3, 1, seed=1).detach()
