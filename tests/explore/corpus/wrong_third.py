"""Still more Functions that are right at their samples and wrong beside them."""

import math

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class LogitsNotScaled(Function):
    @staticmethod
    def forward(ctx, x, y, label_smoothing=0.0):
        logp = torch.log_softmax(x, -1)
        ctx.save_for_backward(logp, y)
        nll = -logp.gather(1, y[:, None]).mean()
        return (1 - label_smoothing) * nll - label_smoothing * logp.mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        logp, y = ctx.saved_tensors
        return g * (logp.exp() - F.one_hot(y, logp.shape[1])) / logp.shape[0], None, None

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), torch.tensor([0, 2, 1, 1])


class DivisorOfBatch(Function):
    """The batch of the sample is the divisor."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return ((x - y) ** 2).sum() / x.shape[0]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        d = g * 2 * (x - y) / 4
        return d, -d

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), rand(4, 3)


class PowerOfTwoOnly(Function):
    """A butterfly that is right for one length."""

    @staticmethod
    def forward(ctx, x):
        return x - x.mean(-1, keepdim=True)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g - g.sum(-1, keepdim=True) / 4

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class EvenKernel(Function):
    """The padding is that of an odd kernel."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        k = w.shape[0]
        p = F.pad(x, (k // 2, k // 2))
        n = p.shape[-1] - k + 1
        return sum(w[i] * p[..., i : i + n] for i in range(k))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        k, n = w.shape[0], g.shape[-1]
        gp = torch.zeros(*x.shape[:-1], x.shape[-1] + k // 2 * 2, dtype=x.dtype)
        for i in range(k):
            gp[..., i : i + n] += w[i] * g
        p = F.pad(x, (k // 2, k // 2))
        gw = torch.stack([(p[..., i : i + n] * g).sum() for i in range(k)])
        return gp[..., 1 : 1 + x.shape[-1]], gw

    @staticmethod
    def sample_inputs():
        yield rand(2, 6), rand(3)


class MomentumIgnored(Function):
    @staticmethod
    def forward(ctx, x, state, momentum=0.5):
        return momentum * state + (1 - momentum) * x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g / 2, g / 2, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(3, 4)


class KeepdimLost(Function):
    """Keeps the dimension or not; scaled only if kept."""

    @staticmethod
    def forward(ctx, x, keepdim=False):
        ctx.keepdim, ctx.shape = keepdim, x.shape
        return x.mean(-1, keepdim=keepdim)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        if ctx.keepdim:
            return g.expand(ctx.shape), None
        return (g / ctx.shape[-1]).unsqueeze(-1).expand(ctx.shape), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class SoftClipInside(Function):
    limit = 8.0

    @staticmethod
    def forward(ctx, x):
        return x.clamp(-SoftClipInside.limit, SoftClipInside.limit)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class NormalizedTwice(Function):
    """The variance is taken for the unbiased one, which it is by default."""

    @staticmethod
    def forward(ctx, x, unbiased=True):
        ctx.save_for_backward(x)
        ctx.unbiased = unbiased
        return x.var(-1, unbiased=unbiased)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        n = x.shape[-1]
        return g.unsqueeze(-1) * 2 * (x - x.mean(-1, keepdim=True)) / (n - 1), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class MedianOfTies(Function):
    """All entries that equal the minimum get its gradient."""

    @staticmethod
    def forward(ctx, x):
        y = x.amin(0)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return torch.where(x == y, g, torch.zeros_like(g))

    @staticmethod
    def sample_inputs():
        yield (rand(4, 3),)


class OffsetUnused(Function):
    """The diagonal is always the main one in backward."""

    @staticmethod
    def forward(ctx, x, offset=0):
        ctx.shape = x.shape
        return x.diagonal(offset)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        out = torch.zeros(ctx.shape, dtype=g.dtype)
        for i in range(len(g)):
            out[i, i] = g[i]
        return out, None

    @staticmethod
    def sample_inputs():
        yield (rand(4, 4),)


class GeluOfOneKind(Function):
    @staticmethod
    def forward(ctx, x, approximate="none"):
        ctx.save_for_backward(x)
        if approximate == "tanh":
            inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
            return 0.5 * x * (1 + torch.tanh(inner))
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        cdf = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
        pdf = torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
        return g * (cdf + x * pdf), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class SquareKernelTransposed(Function):
    """The bilinear form of a square weight."""

    @staticmethod
    def forward(ctx, x, w, y):
        ctx.save_for_backward(x, w, y)
        return x @ w @ y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, w, y = ctx.saved_tensors
        return g * (w @ y), g * torch.outer(x, y), g * (w @ x)

    @staticmethod
    def sample_inputs():
        a = rand(3, 3).detach()
        yield rand(3), (a + a.T).requires_grad_(), rand(3)


class TableByWidthOfModule(Function):
    """The window is cached by its length, whatever its kind."""

    @staticmethod
    def forward(ctx, x, sigma=2.0):
        n = x.shape[-1]
        if n not in WINDOWS:
            at = torch.arange(n, dtype=x.dtype) - n / 2
            WINDOWS[n] = torch.exp(-0.5 * (at / sigma) ** 2)
        ctx.save_for_backward(WINDOWS[n])
        return x * WINDOWS[n]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (w,) = ctx.saved_tensors
        return g * w, None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 5),)


WINDOWS = {}


class BlockOfSixteen(Function):
    """Rows after the first block get the scale of the first."""

    @staticmethod
    def forward(ctx, x):
        block = 16
        scale = torch.arange(1.0, 2 + len(x) // block, dtype=x.dtype)
        ctx.save_for_backward(scale)
        return torch.cat([p * s for p, s in zip(x.split(block), scale)])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (scale,) = ctx.saved_tensors
        return g * scale[0]

    @staticmethod
    def sample_inputs():
        yield (rand(8, 2),)
