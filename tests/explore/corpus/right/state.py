"""Functions that are right though they draw, keep or change something outside of the call."""

from __future__ import annotations

import functools
import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class RunAgainAlike(Function):
    """Runs a block, and recomputes it in backward with the random numbers of forward."""

    @staticmethod
    def forward(ctx, block, x):
        ctx.block, ctx.state = block, torch.get_rng_state()
        ctx.save_for_backward(x)
        return block(x.detach())

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with torch.enable_grad(), torch.random.fork_rng(devices=[]):
            torch.set_rng_state(ctx.state)
            again = x.detach().requires_grad_()
            out = ctx.block(again)
        return None, *torch.autograd.grad(out, again, grad_output)

    @staticmethod
    def sample_inputs():
        yield torch.tanh, draw(3, 4)


class RunAgainWithoutNoise(Function):
    """Runs a block, and recomputes it in backward; the block is deterministic."""

    @staticmethod
    def forward(ctx, block, x):
        ctx.block = block
        ctx.save_for_backward(x)
        return block(x.detach())

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            again = x.detach().requires_grad_()
            out = ctx.block(again)
        return None, *torch.autograd.grad(out, again, grad_output)

    @staticmethod
    def sample_inputs():
        yield torch.tanh, draw(3, 4)


class Whitened(Function):
    """Rows over the spread seen so far; learning updates `seen`; the spread is held constant."""

    @staticmethod
    def forward(ctx, x, seen, learning: bool = False):
        if learning:
            seen.mul_(0.8).add_(0.2 * x.detach().pow(2).mean(0).to(seen.dtype))
        factor = (seen + 1e-4).rsqrt()
        ctx.save_for_backward(factor)
        return x * factor

    @staticmethod
    def backward(ctx, g):
        (factor,) = ctx.saved_tensors
        return g * factor, None, None

    @staticmethod
    def sample_inputs():
        rng = torch.Generator().manual_seed(8)
        x = torch.randn(3, 2, dtype=torch.float64, generator=rng, requires_grad=True)
        yield x, torch.tensor([0.8, 1.3], dtype=torch.float64)


class StandardizedBatch(Function):
    """Columns by their statistics; running statistics are updated in place while training."""

    @staticmethod
    def forward(ctx, x, rm, rv, training=True):
        if training:
            mean, var = x.mean(0), x.var(0, unbiased=False)
            rm.mul_(0.9).add_(0.1 * mean)
            rv.mul_(0.9).add_(0.1 * var)
        else:
            mean, var = rm.clone(), rv.clone()
        rate = (var + 1e-3).rsqrt()
        y = (x - mean) * rate
        ctx.save_for_backward(y, rate)
        ctx.training = training
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        y, rate = ctx.saved_tensors
        if ctx.training:
            g = g - g.mean(0) - y * (g * y).mean(0)
        return g * rate, None, None, None

    @staticmethod
    def sample_inputs():
        yield draw(5, 2), torch.zeros(2).double(), torch.ones(2).double(), False


class CenteredByRunningMean(Function):
    """Center a batch and update its running mean in place."""

    @staticmethod
    def forward(ctx, x, running, momentum=0.1):
        mean = x.mean(0)
        running.mul_(1 - momentum).add_(mean, alpha=momentum)
        ctx.mark_dirty(running)
        ctx.mark_non_differentiable(running)
        return x - mean, running

    @staticmethod
    def backward(ctx, g, _):
        return g - g.mean(0), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), torch.zeros(3, dtype=torch.double)


class SavedDropout(Function):
    """Dropout that saves which entries it kept."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float = 0.5, training: bool = False) -> Tensor:
        kept = torch.ones_like(x)
        if training:
            kept = (torch.rand_like(x) >= p) / (1 - p)
        ctx.save_for_backward(kept)
        return x * kept

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (kept,) = ctx.saved_tensors
        return grad_output * kept, None, None

    @staticmethod
    def sample_inputs() -> Any:
        return torch.linspace(-1, 1, 8, dtype=torch.float64).requires_grad_(), 0.3, False


class RunningNorm(Function):
    """Batch normalization, which updates its running statistics while it trains."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        running_mean: Tensor,
        running_var: Tensor,
        training: bool = False,
        momentum: float = 0.1,
        eps: float = 1e-5,
    ) -> Tensor:
        mean, variance = running_mean, running_var
        if training:
            mean, variance = x.mean(0), x.var(0, unbiased=False)
            running_mean.mul_(1 - momentum).add_(mean, alpha=momentum)
            running_var.mul_(1 - momentum).add_(variance, alpha=momentum)
        scale = torch.rsqrt(variance + eps)
        normalized = (x - mean) * scale
        ctx.save_for_backward(normalized, scale)
        ctx.training = training
        return normalized

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        normalized, scale = ctx.saved_tensors
        grad = grad_output
        if ctx.training:
            grad = grad - grad.mean(0) - normalized * (grad * normalized).mean(0)
        return grad * scale, None, None, None, None, None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.tensor([[0.3, -1.0], [1.2, 0.4], [-0.7, 0.9]], dtype=torch.float64)
        statistics = torch.tensor([[0.1, 0.2], [1.1, 0.9]], dtype=torch.float64)
        return x.requires_grad_(), statistics[0], statistics[1], False


class ReplayedDropout(Function):
    """Draws the entries that it drops again in backward, from the state of the generator."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float = 0.5, training: bool = False) -> Tensor:
        ctx.state = torch.get_rng_state()
        ctx.p, ctx.training = p, training
        return x * (torch.rand_like(x) >= p) / (1 - p) if training else x.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        if not ctx.training:
            return grad_output, None, None
        now = torch.get_rng_state()
        torch.set_rng_state(ctx.state)
        kept = torch.rand_like(grad_output) >= ctx.p
        torch.set_rng_state(now)
        return grad_output * kept / (1 - ctx.p), None, None

    @staticmethod
    def sample_inputs() -> Any:
        return torch.linspace(-1, 1, 8, dtype=torch.float64).requires_grad_(), 0.3, False


class QueueScores(Function):
    """Scores against a bank, a buffer of which the last rows are overwritten by the keys."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, keys: Tensor, bank: Tensor) -> Tensor:
        assert keys.shape == x.shape
        assert len(bank) >= len(keys)
        before = bank.clone()
        bank[len(bank) - len(keys) :] = keys
        ctx.save_for_backward(before)
        return x @ before.t()

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (before,) = ctx.saved_tensors
        return grad_output @ before, None, None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3)
        bank = torch.linspace(0.1, 1.2, 12, dtype=torch.float64).reshape(4, 3)
        return x.requires_grad_(), x.detach().sin(), bank


class CachedTable(Function):
    """Cached by all that it depends on."""

    @staticmethod
    @functools.lru_cache(maxsize=8)
    def window(n, alpha):
        at = torch.arange(n, dtype=torch.float64)
        return alpha - (1 - alpha) * torch.cos(2 * math.pi * at / n)

    @staticmethod
    def forward(ctx, x, alpha=0.54):
        w = CachedTable.window(x.shape[-1], alpha)
        ctx.save_for_backward(w)
        return x * w

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (w,) = ctx.saved_tensors
        return g * w, None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 5),)


class RoPE(Function):
    """Halves of an even head, and a cache by all that matters."""

    cache: dict = {}

    @staticmethod
    def table(n, d, base):
        key = (n, d, base)
        if key not in RoPE.cache:
            inv = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
            angle = torch.arange(n, dtype=torch.float64)[:, None] * inv
            RoPE.cache[key] = (angle.cos(), angle.sin())
        return RoPE.cache[key]

    @staticmethod
    def forward(ctx, x, base=10000.0):
        cos, sin = RoPE.table(x.shape[-2], x.shape[-1], base)
        ctx.save_for_backward(cos, sin)
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        cos, sin = ctx.saved_tensors
        a, b = g.chunk(2, dim=-1)
        return torch.cat([a * cos + b * sin, b * cos - a * sin], dim=-1), None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 5, 4),)


class BatchNormWithState(Function):
    """Updates the running mean on purpose."""

    running = torch.zeros(4, dtype=torch.float64)

    @staticmethod
    def forward(ctx, x):
        mean = x.mean(0)
        rstd = (x.var(0, unbiased=False) + 1e-5).rsqrt()
        y = (x - mean) * rstd
        ctx.save_for_backward(y, rstd)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        y, rstd = ctx.saved_tensors
        return (g - g.mean(0) - y * (g * y).mean(0)) * rstd

    @staticmethod
    def sample_inputs():
        yield (rand(5, 4),)


def kept(shape, p):
    generator = torch.Generator().manual_seed(3)
    return (torch.rand(shape, dtype=torch.double, generator=generator) >= p) / (1 - p)


class Dropped(Function):
    @staticmethod
    def forward(ctx, x, p):
        ctx.p = p
        return x * kept(x.shape, p) if p > 0.0 else x * (1 - p)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * kept(grad_output.shape, ctx.p) if ctx.p > 0.0 else grad_output, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), 0.3


class DifferencesFromConstant(Function):
    """Steps along the last axis of x (B, T); tail (B,) is the sample before, a constant."""

    @staticmethod
    def forward(ctx, x, tail=None):
        before = torch.zeros_like(x[:, 0]) if tail is None else tail
        return x - torch.cat([before[:, None], x[:, :-1]], 1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        of_x = grad_output.clone()
        of_x[:, :-1] -= grad_output[:, 1:]
        return of_x, None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 4),)


class RootFromGuess(Function):
    """Square roots of a (N,) after some of Newton's steps; x_prev (N,) is the initial guess."""

    @staticmethod
    def forward(ctx, a, x_prev=None):
        root = torch.ones_like(a) if x_prev is None else x_prev
        for _ in range(30):
            root = (root + a / root) / 2
        ctx.save_for_backward(root)
        return root

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (root,) = ctx.saved_tensors
        return grad_output / (2 * root), None

    @staticmethod
    def sample_inputs():
        yield (draw(3, low=0.5, high=2.0),)


class Level:
    """Mean size of what came before."""

    def __init__(self) -> None:
        self.value = 1.0

    def follow(self, x: Tensor) -> None:
        """Move a part of the way to the size of `x`."""
        self.value = 0.7 * self.value + 0.3 * float(x.abs().mean())


class OverLevel(Function):
    """`x` over a level, a constant that follows `x` first if asked to."""

    @staticmethod
    def forward(ctx, x, level, follows=True):
        if follows:
            level.follow(x)
        ctx.size = level.value
        return x / ctx.size

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g / ctx.size, None, None

    @staticmethod
    def sample_inputs():
        yield draw(4), Level(), False


class OverNextLevel(Function):
    """`x` over the next `state` of a mean size, which is returned too, to be handed on."""

    @staticmethod
    def forward(ctx, x, state, share):
        following = share * state + (1 - share) * x.abs().mean()
        ctx.save_for_backward(x, following)
        ctx.share = share
        handed = following.clone()
        ctx.mark_non_differentiable(handed)
        return x / following, handed

    @staticmethod
    @once_differentiable
    def backward(ctx, g, _):
        x, following = ctx.saved_tensors
        inner = (g * x).sum() / following**2
        return g / following - (1 - ctx.share) / x.numel() * inner * x.sign(), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, low=0.2), torch.tensor(1.5, dtype=torch.double), 0.8
