"""Right Functions with helpers, flags, state and masks; each assumes something."""

import functools
import math

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class LstmGates(Function):
    """Four gates side by side."""

    @staticmethod
    def forward(ctx, gates, c):
        i, f, o, z = gates.chunk(4, -1)
        i, f, o, z = i.sigmoid(), f.sigmoid(), o.sigmoid(), z.tanh()
        new = f * c + i * z
        ctx.save_for_backward(i, f, o, z, c, new)
        return o * new.tanh()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        i, f, o, z, c, new = ctx.saved_tensors
        t = new.tanh()
        d = g * o * (1 - t * t)
        parts = [d * z * i * (1 - i), d * c * f * (1 - f), g * t * o * (1 - o), d * i * (1 - z * z)]
        return torch.cat(parts, -1), d * f

    @staticmethod
    def sample_inputs():
        yield rand(2, 8), rand(2, 2)


class PixelShuffle(Function):
    """Channels are a multiple of the squared factor."""

    @staticmethod
    def forward(ctx, x, r=2):
        c, h, w = x.shape
        ctx.r = r
        y = x.reshape(c // r**2, r, r, h, w).permute(0, 3, 1, 4, 2)
        return y.reshape(c // r**2, h * r, w * r)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        r = ctx.r
        c, h, w = g.shape
        y = g.reshape(c, h // r, r, w // r, r).permute(0, 2, 4, 1, 3)
        return y.reshape(c * r**2, h // r, w // r), None

    @staticmethod
    def sample_inputs():
        yield (rand(4, 2, 3),)


class AveragePool(Function):
    """What is beyond the last full window is dropped."""

    @staticmethod
    def forward(ctx, x, k=2):
        n = x.shape[-1] // k
        ctx.shape, ctx.k = x.shape, k
        return x[..., : n * k].reshape(*x.shape[:-1], n, k).mean(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        k = ctx.k
        out = torch.zeros(ctx.shape, dtype=g.dtype)
        spread = (g / k).unsqueeze(-1).expand(*g.shape, k).reshape(*g.shape[:-1], -1)
        out[..., : spread.shape[-1]] = spread
        return out, None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 6),)


class Embedding(Function):
    @staticmethod
    def forward(ctx, table, index, padding_idx=-1):
        ctx.save_for_backward(index)
        ctx.rows, ctx.padding = table.shape[0], padding_idx
        return table[index]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (index,) = ctx.saved_tensors
        out = torch.zeros(ctx.rows, g.shape[-1], dtype=g.dtype)
        return out.index_add(0, index.reshape(-1), g.reshape(-1, g.shape[-1])), None, None

    @staticmethod
    def sample_inputs():
        yield rand(5, 3), torch.tensor([[0, 2], [4, 2]])


class PermutedRows(Function):
    """The order is a permutation."""

    @staticmethod
    def forward(ctx, x, order):
        ctx.save_for_backward(torch.argsort(order))
        return x[order]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (back,) = ctx.saved_tensors
        return g[back], None

    @staticmethod
    def sample_inputs():
        yield rand(4, 2), torch.tensor([2, 0, 3, 1])


class ScatteredOnce(Function):
    """Each place is written once."""

    @staticmethod
    def forward(ctx, x, at, size):
        ctx.save_for_backward(at)
        return torch.zeros(size, dtype=x.dtype).index_copy(0, at, x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (at,) = ctx.saved_tensors
        return g[at], None, None

    @staticmethod
    def sample_inputs():
        yield rand(3), torch.tensor([4, 0, 2]), 6


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


class BceWithLogits(Function):
    @staticmethod
    def forward(ctx, x, target, pos_weight=1.0):
        ctx.save_for_backward(x, target)
        ctx.w = pos_weight
        return (F.softplus(-x) * target * pos_weight + F.softplus(x) * (1 - target)).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, t = ctx.saved_tensors
        s = torch.sigmoid(x)
        d = -(1 - s) * t * ctx.w + s * (1 - t)
        return g * d / x.numel(), None, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), torch.tensor([[0.0, 1, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0]]).double()


class KlOfSoftened(Function):
    @staticmethod
    def forward(ctx, student, teacher, t=2.0):
        logp, q = torch.log_softmax(student / t, -1), torch.softmax(teacher / t, -1)
        ctx.save_for_backward(logp, q)
        ctx.t = t
        return (q * (q.log() - logp)).sum() * t * t / student.shape[0]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        logp, q = ctx.saved_tensors
        return g * (logp.exp() - q) * ctx.t / logp.shape[0], None, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(3, 4).detach()


class DropoutByGivenMask(Function):
    @staticmethod
    def forward(ctx, x, keep, p=0.5):
        ctx.save_for_backward(keep)
        ctx.p = p
        return x * keep / (1 - p)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (keep,) = ctx.saved_tensors
        return g * keep / (1 - ctx.p), None, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), torch.rand(3, 4) > 0.5


class TridiagonalSolve(Function):
    """A dominant diagonal."""

    @staticmethod
    def forward(ctx, d, b):
        n = d.shape[0]
        a = torch.diag(d) + torch.diag(torch.ones(n - 1, dtype=d.dtype), 1)
        x = torch.linalg.solve(a, b)
        ctx.save_for_backward(a, x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, x = ctx.saved_tensors
        u = torch.linalg.solve(a.T, g)
        return -u * x, u

    @staticmethod
    def sample_inputs():
        yield (torch.rand(4, dtype=torch.float64) + 3).requires_grad_(), rand(4)


class Sinkhorn(Function):
    """The last normalization is differentiated through the plan at convergence."""

    @staticmethod
    def forward(ctx, x):
        p = torch.exp(x)
        for _ in range(3):
            p = p / p.sum(-1, keepdim=True)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g - (g * p).sum(-1, keepdim=True))

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class PositivePower(Function):
    """Of a positive base."""

    @staticmethod
    def forward(ctx, x, p=2.5):
        y = x**p
        ctx.save_for_backward(x, y)
        ctx.p = p
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * ctx.p * y / x, None

    @staticmethod
    def sample_inputs():
        yield ((torch.rand(3, 4, dtype=torch.float64) + 0.5).requires_grad_(),)


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


class SwiGlu(Function):
    @staticmethod
    def forward(ctx, x, w, v, bias=None):
        a, b = x @ w, x @ v
        s = torch.sigmoid(a)
        ctx.save_for_backward(x, w, v, a, b, s)
        ctx.has_bias = bias is not None
        y = a * s * b
        return y if bias is None else y + bias

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, w, v, a, b, s = ctx.saved_tensors
        da = g * b * (s + a * s * (1 - s))
        db = g * a * s
        gb = g.sum(0) if ctx.has_bias else None
        return da @ w.T + db @ v.T, x.T @ da, x.T @ db, gb

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(4, 2), rand(4, 2)


class CumulativeMax(Function):
    @staticmethod
    def forward(ctx, x):
        y, at = x.cummax(-1)
        ctx.save_for_backward(at)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (at,) = ctx.saved_tensors
        return torch.zeros_like(g).scatter_add(-1, at, g)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class TripletHinge(Function):
    @staticmethod
    def forward(ctx, a, p, n, margin=1.0):
        gap = ((a - p) ** 2).sum(-1) - ((a - n) ** 2).sum(-1) + margin
        ctx.save_for_backward(a, p, n, gap)
        return gap.clamp(min=0).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, p, n, gap = ctx.saved_tensors
        w = (g * (gap > 0) / gap.shape[0]).unsqueeze(-1)
        return w * 2 * (n - p), -w * 2 * (a - p), w * 2 * (a - n), None

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), rand(4, 3), rand(4, 3)


class LinearByInterpolation(Function):
    """Ascending points, and queries inside of them."""

    @staticmethod
    def forward(ctx, y, points, x):
        at = torch.searchsorted(points, x).clamp(1, len(points) - 1)
        t = (x - points[at - 1]) / (points[at] - points[at - 1])
        ctx.save_for_backward(at, t)
        ctx.n = len(y)
        return y[at - 1] * (1 - t) + y[at] * t

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        at, t = ctx.saved_tensors
        out = torch.zeros(ctx.n, dtype=g.dtype)
        return out.index_add(0, at - 1, g * (1 - t)).index_add(0, at, g * t), None, None

    @staticmethod
    def sample_inputs():
        points = torch.tensor([0.0, 1.0, 2.5, 4.0], dtype=torch.float64)
        yield rand(4), points, torch.tensor([0.5, 3.0, 1.7], dtype=torch.float64)


class Outer(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a[:, None] * b

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g @ b, g.T @ a

    @staticmethod
    def sample_inputs():
        yield rand(3), rand(3)


class BiasedAdd(Function):
    """A bias for each column, which broadcasting stretches over any."""

    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g, g.sum(0)

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(4)


class SquareBiasedAdd(Function):
    """The same, of a square batch."""

    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g, g.sum(0)

    @staticmethod
    def sample_inputs():
        yield rand(4, 4), rand(4)


class Int8Packed(Function):
    """Codes fit in eight bits; the scale alone is learnt."""

    @staticmethod
    def forward(ctx, scale, codes):
        w = codes.to(scale.dtype)
        ctx.save_for_backward(w)
        return scale[:, None] * w

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (w,) = ctx.saved_tensors
        return (g * w).sum(1), None

    @staticmethod
    def sample_inputs():
        yield rand(3), torch.tensor([[1, -2], [127, -128], [0, 5]], dtype=torch.int8)


class UnitQuaternion(Function):
    """The conjugate is the inverse of a quaternion of length one."""

    @staticmethod
    def forward(ctx, q, v):
        w, u = q[0], q[1:]
        cross = torch.linalg.cross
        y = v + 2 * w * cross(u, v) + 2 * cross(u, cross(u, v))
        ctx.save_for_backward(q, v)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        q, v = ctx.saved_tensors
        w, u = q[0], q[1:]
        cross = torch.linalg.cross
        gv = g - 2 * w * cross(u, g) + 2 * cross(u, cross(u, g))
        gw = 2 * (g * cross(u, v)).sum()
        gu = 2 * w * cross(v, g) + 2 * (cross(v, cross(g, u)) - cross(g, cross(u, v)))
        gu = 2 * w * cross(v, g) + 2 * (v * (g @ u) + g * (u @ v) - 2 * u * (v @ g))
        return torch.cat([gw[None], gu]), gv

    @staticmethod
    def sample_inputs():
        q = rand(4).detach()
        yield (q / q.norm()).requires_grad_(), rand(3)


class CumulativeProduct(Function):
    """Of numbers that are not zero."""

    @staticmethod
    def forward(ctx, x):
        y = x.cumprod(0)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return (g * y).flip(0).cumsum(0).flip(0) / x

    @staticmethod
    def sample_inputs():
        yield (rand(4),)
