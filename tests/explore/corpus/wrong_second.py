"""More Functions that are right at their samples and wrong beside them."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class EveryTiedMaximum(Function):
    """Each of several maxima gets the whole gradient."""

    @staticmethod
    def forward(ctx, x):
        y = x.amax(dim=-1, keepdim=True)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return (x == y).to(g.dtype) * g

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class BothOfEqualPair(Function):
    """Where both are equal both get the gradient."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return torch.maximum(a, b)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * (a >= b), g * (b >= a)

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(3, 4)


class SoftplusOverflows(Function):
    """The slope is a quotient of two infinities for large inputs."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.nn.functional.softplus(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        e = torch.exp(x)
        return g * (e**3 + e**2) / (e**3 + 2 * e**2 + e)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class TableByLength(Function):
    """The table is cached by its length, but depends on the base too."""

    cache: dict = {}

    @staticmethod
    def forward(ctx, x, base=100.0):
        n = x.shape[-1]
        if n not in TableByLength.cache:
            at = torch.arange(n, dtype=x.dtype)
            TableByLength.cache[n] = base ** (-at / n)
        table = TableByLength.cache[n]
        ctx.save_for_backward(table)
        return x * table

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (table,) = ctx.saved_tensors
        return g * table, None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class ThresholdForgotten(Function):
    """Backward lets through what forward cuts off at 3."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x > 30.0, torch.full_like(x, 30.0), x * 2)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return 2 * g

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class BiasOverWrongAxis(Function):
    """The gradient of the optional bias is a mean."""

    @staticmethod
    def forward(ctx, x, w, bias=None):
        ctx.save_for_backward(x, w)
        ctx.has_bias = bias is not None
        y = x @ w.T
        return y if bias is None else y + bias

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g @ w, g.T @ x, g.mean(0) if ctx.has_bias else None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(2, 4)


class ScanOfFullBlocks(Function):
    """The carry of the cumulative sum is lost after the first block."""

    @staticmethod
    def forward(ctx, x):
        return torch.cumsum(x, dim=0)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        out = torch.empty_like(g)
        block = 8
        for start in range(0, g.shape[0], block):
            part = g[start : start + block]
            out[start : start + block] = part.flip(0).cumsum(0).flip(0)
        return out

    @staticmethod
    def sample_inputs():
        yield (rand(6, 2),)


class ScaleByCountOfSample(Function):
    """The temperature is taken for one."""

    @staticmethod
    def forward(ctx, x, t=1.0):
        p = torch.softmax(x / t, dim=-1)
        ctx.save_for_backward(p)
        ctx.t = t
        return p

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g - (g * p).sum(-1, keepdim=True)), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class LeakyWithoutSlope(Function):
    """The slope on the left is taken for zero, which it is by default."""

    @staticmethod
    def forward(ctx, x, slope=0.0):
        ctx.save_for_backward(x)
        return torch.where(x > 0, x, slope * x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x > 0), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class CausalOrNot(Function):
    """Backward masks even where forward does not."""

    @staticmethod
    def forward(ctx, q, causal=True):
        s = q @ q.transpose(-1, -2)
        mask = torch.tril(torch.ones_like(s))
        ctx.save_for_backward(q, mask)
        return s * mask if causal else s

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        q, mask = ctx.saved_tensors
        g = g * mask
        return (g + g.transpose(-1, -2)) @ q, None

    @staticmethod
    def sample_inputs():
        yield (rand(4, 3),)


class TraceOfSquare(Function):
    """The number of rows is taken for that of columns."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x * x).sum() / x.shape[0]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x / x.shape[1]

    @staticmethod
    def sample_inputs():
        yield (rand(4, 4),)


class WeightOfFive(Function):
    """Kernel of one width only."""

    @staticmethod
    def forward(ctx, x, width=3):
        ctx.n, ctx.width = x.shape[-1], width
        return x.unfold(-1, width, 1).mean(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        out = torch.zeros(*g.shape[:-1], ctx.n, dtype=g.dtype)
        for k in range(3):
            out[..., k : k + g.shape[-1]] += g / 3 if k + g.shape[-1] <= ctx.n else 0
        return out, None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 7),)


class ClipByNorm(Function):
    """Backward forgets that the norm is limited."""

    @staticmethod
    def forward(ctx, x, limit=5.0):
        norm = x.norm()
        ctx.save_for_backward(x)
        return x * (limit / norm) if norm > limit else x * 1.0

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g, None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 3),)
