"""Right Functions in the style of research code; each assumes something."""

import math

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def positive(*shape):
    return (torch.rand(*shape, dtype=torch.float64) + 0.2).requires_grad_()


class ChunkedScan(Function):
    """A decayed scan, chunk by chunk."""

    @staticmethod
    def forward(ctx, x, decay, chunk=4):
        h = torch.zeros_like(x[0])
        out = []
        for start in range(0, x.shape[0], chunk):
            for row in x[start : start + chunk]:
                h = decay * h + row
                out.append(h)
        y = torch.stack(out)
        ctx.save_for_backward(y, decay)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        y, decay = ctx.saved_tensors
        gx = torch.empty_like(g)
        carry = torch.zeros_like(g[0])
        gd = torch.zeros_like(decay)
        for t in range(g.shape[0] - 1, -1, -1):
            carry = g[t] + carry
            gx[t] = carry
            if t:
                gd = gd + carry * y[t - 1]
            carry = carry * decay
        return gx, gd, None

    @staticmethod
    def sample_inputs():
        yield rand(6, 3), torch.tensor([0.5, 0.9, 0.3], dtype=torch.float64).requires_grad_()


class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x, dim=-1):
        m = x.amax(dim, keepdim=True)
        e = (x - m).exp()
        s = e.sum(dim, keepdim=True)
        ctx.save_for_backward(e / s)
        ctx.dim = dim
        return (s.log() + m).squeeze(dim)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return g.unsqueeze(ctx.dim) * p, None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class MaxShared(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.amax(-1, keepdim=True)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y).to(g.dtype)
        return g * mask / mask.sum(-1, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class MaxOne(Function):
    @staticmethod
    def forward(ctx, x):
        y, at = x.max(-1, keepdim=True)
        ctx.save_for_backward(at)
        ctx.shape = x.shape
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (at,) = ctx.saved_tensors
        return torch.zeros(ctx.shape, dtype=g.dtype).scatter_(-1, at, g)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class HalfAtTies(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return torch.maximum(a, b)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        w = (a > b).to(g.dtype) + 0.5 * (a == b)
        return g * w, g * (1 - w)

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(3, 4)


class Relu(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x > 0)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class ReluAtZeroOne(Function):
    """The other one-sided derivative at zero."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x >= 0)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class SignedAbs(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.abs()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.sign()

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class Clamped(Function):
    @staticmethod
    def forward(ctx, x, low=-1.0, high=1.0):
        ctx.save_for_backward(x)
        ctx.low, ctx.high = low, high
        return x.clamp(low, high)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ((x >= ctx.low) & (x <= ctx.high)), None, None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class TopK(Function):
    @staticmethod
    def forward(ctx, x, k=2):
        y, at = x.topk(k, dim=-1)
        ctx.save_for_backward(at)
        ctx.shape = x.shape
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (at,) = ctx.saved_tensors
        return torch.zeros(ctx.shape, dtype=g.dtype).scatter(-1, at, g), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class SortedValues(Function):
    @staticmethod
    def forward(ctx, x):
        y, at = torch.sort(x, dim=-1)
        ctx.save_for_backward(at)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (at,) = ctx.saved_tensors
        return torch.zeros_like(g).scatter(-1, at, g)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


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


class GroupNorm(Function):
    @staticmethod
    def forward(ctx, x, groups=2, eps=1e-5):
        n, c, w = x.shape
        z = x.reshape(n, groups, -1)
        mean = z.mean(-1, keepdim=True)
        rstd = (z.var(-1, unbiased=False, keepdim=True) + eps).rsqrt()
        y = (z - mean) * rstd
        ctx.save_for_backward(y, rstd)
        return y.reshape(n, c, w)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        y, rstd = ctx.saved_tensors
        gz = g.reshape(y.shape)
        d = gz - gz.mean(-1, keepdim=True) - y * (gz * y).mean(-1, keepdim=True)
        return (d * rstd).reshape(g.shape), None, None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 4, 3),)


class MaskedSoftmax(Function):
    @staticmethod
    def forward(ctx, x, mask):
        p = torch.softmax(x.masked_fill(~mask, float("-inf")), -1)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g - (g * p).sum(-1, keepdim=True)), None

    @staticmethod
    def sample_inputs():
        yield rand(4, 4), torch.tril(torch.ones(4, 4)).bool()


class SegmentSum(Function):
    @staticmethod
    def forward(ctx, x, segment, count):
        ctx.save_for_backward(segment)
        return torch.zeros(count, x.shape[1], dtype=x.dtype).index_add(0, segment, x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (segment,) = ctx.saved_tensors
        return g[segment], None, None

    @staticmethod
    def sample_inputs():
        yield rand(5, 2), torch.tensor([0, 0, 1, 2, 2]), 3


class SegmentMeanByLengths(Function):
    """The lengths add up to the number of rows."""

    @staticmethod
    def forward(ctx, x, lengths):
        ctx.lengths = lengths.tolist()
        return torch.stack([part.mean(0) for part in x.split(ctx.lengths)])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        rows = [row.expand(n, -1) / n for row, n in zip(g, ctx.lengths)]
        return torch.cat(rows), None

    @staticmethod
    def sample_inputs():
        yield rand(5, 2), torch.tensor([2, 1, 2])


class PackedByOffsets(Function):
    """The offsets begin at zero and end at the number of rows."""

    @staticmethod
    def forward(ctx, x, offsets):
        ctx.offsets = offsets.tolist()
        ends = ctx.offsets
        assert ends[-1] == len(x)
        return torch.stack([x[a:b].sum(0) for a, b in zip(ends[:-1], ends[1:])])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        ends = ctx.offsets
        return torch.cat([r.expand(b - a, -1) for r, a, b in zip(g, ends[:-1], ends[1:])]), None

    @staticmethod
    def sample_inputs():
        yield rand(6, 2), torch.tensor([0, 1, 4, 6])


class FocalLoss(Function):
    @staticmethod
    def forward(ctx, x, y, gamma=2.0):
        logp = F.logsigmoid(torch.where(y, x, -x))
        p = logp.exp()
        ctx.save_for_backward(logp, p, y)
        ctx.gamma = gamma
        return -((1 - p) ** gamma * logp).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        logp, p, y = ctx.saved_tensors
        q = 1 - p
        d = ctx.gamma * q ** (ctx.gamma - 1) * p * q * logp - q**ctx.gamma * q
        return g * torch.where(y, d, -d) / p.numel(), None, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), torch.rand(3, 4) > 0.5


class SqrtOfPositive(Function):
    """Uses that the input is positive."""

    @staticmethod
    def forward(ctx, x):
        y = (x * x).sqrt().sqrt()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g / (2 * y)

    @staticmethod
    def sample_inputs():
        yield (positive(3, 4),)


class LeastSquares(Function):
    """More rows than columns, of full rank."""

    @staticmethod
    def forward(ctx, a, b):
        x = torch.linalg.lstsq(a, b).solution if False else torch.linalg.solve(a.T @ a, a.T @ b)
        ctx.save_for_backward(a, b, x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b, x = ctx.saved_tensors
        u = torch.linalg.solve(a.T @ a, g)
        r = b - a @ x
        return r @ u.T - a @ u @ x.T, a @ u

    @staticmethod
    def sample_inputs():
        yield rand(5, 2), rand(5, 1)


class SpdLogDet(Function):
    """Of a symmetric positive definite matrix."""

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return torch.linalg.slogdet(a)[1]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        return g * torch.linalg.inv(a)

    @staticmethod
    def sample_inputs():
        a = rand(3, 3).detach()
        yield ((a @ a.T + torch.eye(3, dtype=torch.float64)).requires_grad_(),)


class FixedPoint(Function):
    """Implicit differentiation, right once the iteration has converged."""

    @staticmethod
    def forward(ctx, w, b):
        z = torch.zeros_like(b)
        for _ in range(60):
            z = torch.tanh(w @ z + b)
        ctx.save_for_backward(w, z)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        w, z = ctx.saved_tensors
        s = 1 - z * z
        eye = torch.eye(len(z), dtype=z.dtype)
        u = torch.linalg.solve((eye - s[:, None] * w).T, g)
        return torch.outer(u * s, z), u * s

    @staticmethod
    def sample_inputs():
        yield (0.2 * rand(3, 3).detach()).requires_grad_(), rand(3)


class CubicRoot(Function):
    """Newton's method for y**3 + y = x, differentiated implicitly."""

    @staticmethod
    def forward(ctx, x):
        y = x / 2
        for _ in range(40):
            y = y - (y**3 + y - x) / (3 * y * y + 1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g / (3 * y * y + 1)

    @staticmethod
    def sample_inputs():
        yield (rand(4),)


class SpectralNorm(Function):
    """Power iteration until it stands."""

    @staticmethod
    def forward(ctx, w):
        v = torch.ones(w.shape[1], dtype=w.dtype)
        for _ in range(300):
            u = w @ v
            u = u / u.norm()
            v = w.T @ u
            v = v / v.norm()
        ctx.save_for_backward(u, v)
        return u @ w @ v

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        u, v = ctx.saved_tensors
        return g * torch.outer(u, v)

    @staticmethod
    def sample_inputs():
        yield (
            torch.tensor(
                [[3.0, 0.2], [0.1, 1.0], [0.3, 0.2]], dtype=torch.float64
            ).requires_grad_(),
        )


class Attention(Function):
    @staticmethod
    def forward(ctx, q, k, v, causal=False):
        s = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if causal:
            s = s.masked_fill(torch.triu(torch.ones_like(s), 1).bool(), float("-inf"))
        p = torch.softmax(s, -1)
        ctx.save_for_backward(q, k, v, p)
        return p @ v

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        q, k, v, p = ctx.saved_tensors
        gp = g @ v.transpose(-1, -2)
        gs = p * (gp - (gp * p).sum(-1, keepdim=True)) / math.sqrt(q.shape[-1])
        return gs @ k, gs.transpose(-1, -2) @ q, p.transpose(-1, -2) @ g, None

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), rand(4, 3), rand(4, 2)


class OnlyMeanAllowed(Function):
    """Backward says what it does not have."""

    @staticmethod
    def forward(ctx, x, reduction="mean"):
        ctx.shape, ctx.reduction = x.shape, reduction
        return x.mean() if reduction == "mean" else x.sum() if reduction == "sum" else x * 1.0

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        if ctx.reduction == "none":
            raise NotImplementedError("reduction none")
        n = math.prod(ctx.shape) if ctx.reduction == "mean" else 1
        return (g / n).expand(ctx.shape), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class GumbelSoftmax(Function):
    """Hard samples have the gradient of soft ones."""

    @staticmethod
    def forward(ctx, x, noise, tau=1.0, one_hot=False):
        p = torch.softmax((x + noise) / tau, -1)
        ctx.save_for_backward(p)
        ctx.tau = tau
        return F.one_hot(p.argmax(-1), p.shape[-1]).to(p.dtype) if one_hot else p

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g - (g * p).sum(-1, keepdim=True)) / ctx.tau, None, None, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), -torch.log(-torch.log(torch.rand(3, 4, dtype=torch.float64)))


class HuberBoth(Function):
    @staticmethod
    def forward(ctx, x, delta=1.0):
        ctx.save_for_backward(x)
        ctx.delta = delta
        a = x.abs()
        return torch.where(a <= delta, 0.5 * x * x, delta * (a - 0.5 * delta)).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.clamp(-ctx.delta, ctx.delta), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class NormWithoutEpsilon(Function):
    @staticmethod
    def forward(ctx, x):
        n = x.norm(dim=-1, keepdim=True)
        y = x / n
        ctx.save_for_backward(y, n)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        y, n = ctx.saved_tensors
        return (g - y * (g * y).sum(-1, keepdim=True)) / n

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class QuantizedAsDeclared(Function):
    """Straight through between the limits; the step is not differentiated."""

    @staticmethod
    def forward(ctx, x, scale, limit=127.0):
        ctx.save_for_backward(x)
        ctx.scale, ctx.limit = scale, limit
        return (x / scale).clamp(-limit, limit) * scale

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ((x / ctx.scale).abs() <= ctx.limit), None, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), 0.05
