"""Formulas of several fields, each with the slip that is made in it."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

D = torch.float64


def r(*shape):
    return torch.randn(*shape, dtype=D, requires_grad=True)


def spd(n=3):
    a = torch.randn(n, n, dtype=D)
    return (a @ a.t() + n * torch.eye(n, dtype=D)).requires_grad_()


class FocalGammaTermDropped(Function):
    """Focal loss: derivative of the modulating factor is dropped."""

    expect = {"GT101"}
    diagnosis = "other"
    says = "treats `(1 - pt) ** gamma`"

    @staticmethod
    def forward(ctx, logits, target, gamma=2.0):
        p = torch.sigmoid(logits)
        pt = torch.where(target > 0.5, p, 1 - p)
        ctx.save_for_backward(logits, target)
        ctx.gamma = gamma
        return -((1 - pt) ** gamma * torch.log(pt)).mean()

    @staticmethod
    def backward(ctx, grad_output):
        logits, target = ctx.saved_tensors
        p = torch.sigmoid(logits)
        pt = torch.where(target > 0.5, p, 1 - p)
        sign = torch.where(target > 0.5, torch.ones_like(p), -torch.ones_like(p))
        grad = -((1 - pt) ** ctx.gamma) / pt * sign * p * (1 - p) / logits.numel()
        return grad_output * grad, None, None

    @staticmethod
    def sample_inputs():
        yield r(8), (torch.rand(8) > 0.5).double(), 2.0


class ContrastiveOneSided(Function):
    """InfoNCE over a similarity matrix: only the rows' side is differentiated."""

    expect = {"GT101"}
    diagnosis = "other"
    says = "differentiates `rows.mean()` where forward has"

    @staticmethod
    def forward(ctx, za, zb, temperature):
        sim = za @ zb.t() / temperature
        ctx.save_for_backward(za, zb)
        ctx.t = temperature
        rows = torch.logsumexp(sim, 1) - sim.diagonal()
        cols = torch.logsumexp(sim, 0) - sim.diagonal()
        return 0.5 * (rows.mean() + cols.mean())

    @staticmethod
    def backward(ctx, grad_output):
        za, zb = ctx.saved_tensors
        sim = za @ zb.t() / ctx.t
        n = za.shape[0]
        d = (torch.softmax(sim, 1) - torch.eye(n, dtype=za.dtype)) / n / ctx.t * grad_output
        return d @ zb, d.t() @ za, None

    @staticmethod
    def sample_inputs():
        yield (
            r(4, 3),
            r(4, 3),
            0.5,
        )


class EntmaxSupportIgnored(Function):
    """sparsemax: the mean is over all entries, not over the support."""

    expect = {"GT101"}
    diagnosis = "other"
    says = "right with `(g * on).sum() / on.sum()` in place of `(g * on).sum() / y.numel()`"

    @staticmethod
    def forward(ctx, z):
        s, _ = torch.sort(z, descending=True)
        k = torch.arange(1, z.numel() + 1, dtype=z.dtype)
        c = torch.cumsum(s, 0) - 1
        support = (s - c / k > 0).sum()
        tau = c[support - 1] / support
        y = torch.clamp(z - tau, min=0)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        on = (y > 0).to(g.dtype)
        return on * (g - (g * on).sum() / y.numel())

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.9, 0.5, -0.3, 0.1, -2.0], dtype=D, requires_grad=True),)


class GroupNormAffinePerGroup(Function):
    """gamma is multiplied in after the means instead of before."""

    expect = {"GT101"}
    diagnosis = "other"

    @staticmethod
    def forward(ctx, x, gamma, groups):
        n, c, length = x.shape
        xg = x.reshape(n, groups, -1)
        m = xg.mean(-1, keepdim=True)
        v = xg.var(-1, keepdim=True, unbiased=False)
        xh = ((xg - m) / (v + 1e-6).sqrt()).reshape(n, c, length)
        ctx.save_for_backward(x, gamma)
        ctx.groups = groups
        return xh * gamma[:, None]

    @staticmethod
    def backward(ctx, g):
        x, gamma = ctx.saved_tensors
        n, c, length = x.shape
        xg = x.reshape(n, ctx.groups, -1)
        m = xg.mean(-1, keepdim=True)
        inv = (xg.var(-1, keepdim=True, unbiased=False) + 1e-6).rsqrt()
        xh = (xg - m) * inv
        gg = g.reshape(n, ctx.groups, -1)
        gx = inv * (gg - gg.mean(-1, keepdim=True) - xh * (gg * xh).mean(-1, keepdim=True))
        gx = gx.reshape(n, c, length) * gamma[:, None]
        return gx, (g * xh.reshape(n, c, length)).sum((0, 2)), None

    @staticmethod
    def sample_inputs():
        yield (
            r(2, 4, 3),
            torch.rand(4, dtype=D, requires_grad=True),
            2,
        )


class CholeskyPhiForgotten(Function):
    """The lower triangle's diagonal is not halved."""

    expect = {"GT101"}
    diagnosis = "other"

    @staticmethod
    def forward(ctx, a):
        s = (a + a.t()) / 2
        lower = torch.linalg.cholesky(s)
        ctx.save_for_backward(lower)
        return lower

    @staticmethod
    def backward(ctx, g):
        (lower,) = ctx.saved_tensors
        p = torch.tril(lower.t() @ g)
        inverse = torch.linalg.inv(lower)
        s = inverse.t() @ p @ inverse
        return (s + s.t()) / 2

    @staticmethod
    def sample_inputs():
        yield (spd(),)


class FixedPointUnrolledOnce(Function):
    """Implicit layer: backward applies the Jacobian once in place of solving."""

    expect = {"GT101"}
    diagnosis = "other"
    says = "only the last 2 iterations of the loop"

    @staticmethod
    def forward(ctx, w, x):
        h = torch.zeros_like(x)
        for _ in range(200):
            h = torch.tanh(w @ h + x)
        ctx.save_for_backward(w, x, h)
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        w, x, h = ctx.saved_tensors
        d = 1 - h * h
        u = g + w.t() @ (d * g)
        gx = d * u
        return torch.outer(gx, h), gx

    @staticmethod
    def sample_inputs():
        yield (
            (torch.randn(3, 3, dtype=D) * 0.2).requires_grad_(),
            r(3),
        )


class SinkhornTruncated(Function):
    """Straight gradient of the last step only."""

    expect = {"GT101"}
    diagnosis = "other"
    says = "treats `torch.logsumexp(x, 1, keepdim=True)`"

    @staticmethod
    def forward(ctx, s):
        x = s
        for _ in range(3):
            x = x - torch.logsumexp(x, 1, keepdim=True)
            x = x - torch.logsumexp(x, 0, keepdim=True)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g - x.exp() * g.sum(0, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield (r(3, 3),)


class RFFTDoublesDC(Function):
    """Half spectrum: the entries that are not mirrored count twice."""

    expect = {"GT101"}
    diagnosis = "other"

    @staticmethod
    def forward(ctx, x):
        ctx.n = x.shape[-1]
        return torch.fft.rfft(x)

    @staticmethod
    def backward(ctx, g):
        return torch.fft.irfft(g, ctx.n) * ctx.n

    @staticmethod
    def sample_inputs():
        yield (r(6),)


class ScatterSourceGetsAll(Function):
    """scatter (overwrite): the base keeps its gradient where it was overwritten."""

    expect = {"GT101"}
    diagnosis = "places"
    says = "differentiates `base` where forward has `base.scatter(0, index, src)`"

    @staticmethod
    def forward(ctx, base, index, src):
        ctx.save_for_backward(index)
        return base.scatter(0, index, src)

    @staticmethod
    def backward(ctx, g):
        (index,) = ctx.saved_tensors
        return g, None, g.gather(0, index)

    @staticmethod
    def sample_inputs():
        yield (
            r(5),
            torch.tensor([3, 0]),
            r(2),
        )


class MedianEvenCount(Function):
    """Forward averages the two middle values, backward sends all to the lower one."""

    expect = {"GT101"}
    diagnosis = "other"
    says = "differentiates `s[(n - 1) // 2]` where forward has"

    @staticmethod
    def forward(ctx, x):
        s, p = torch.sort(x)
        n = x.numel()
        ctx.save_for_backward(p)
        return 0.5 * (s[(n - 1) // 2] + s[n // 2])

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        n = p.numel()
        return g.new_zeros(n).index_fill(0, p[(n - 1) // 2 : (n - 1) // 2 + 1], 1.0) * g

    @staticmethod
    def sample_inputs():
        yield (r(5),)
        yield (r(6),)


class UnfoldWithoutOverlapAdd(Function):
    """Fold by assignment: overlapping windows overwrite each other."""

    expect = {"GT101"}
    diagnosis = "places"

    @staticmethod
    def forward(ctx, x, size, step):
        ctx.n, ctx.size, ctx.step = x.shape[-1], size, step
        return x.unfold(-1, size, step).clone()

    @staticmethod
    def backward(ctx, g):
        out = g.new_zeros(ctx.n)
        for i in range(g.shape[0]):
            a = i * ctx.step
            out[a : a + ctx.size] = g[i]
        return out, None, None

    @staticmethod
    def sample_inputs():
        yield r(8), 3, 2


class CumprodZero(Function):
    """The textbook formula divides by x, where an entry is zero."""

    expect = {"GT114"}

    @staticmethod
    def forward(ctx, x):
        y = torch.cumprod(x, 0)
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        y = torch.cumprod(x, 0)
        return (g * y).flip(0).cumsum(0).flip(0) / x  # <-

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([1.5, -2.0, 0.0, 0.7], dtype=D, requires_grad=True),)


class MeanPoolEmptySegmentNaN(Function):
    """An empty segment divides by its zero count in backward; forward guards it."""

    expect = {"GT114"}

    @staticmethod
    def forward(ctx, x, lengths):
        ctx.save_for_backward(lengths)
        ctx.shape = x.shape
        m = torch.arange(x.shape[1]).unsqueeze(0) < lengths.unsqueeze(1)
        return (x * m).sum(1) / lengths.clamp(min=1)

    @staticmethod
    def backward(ctx, g):
        (lengths,) = ctx.saved_tensors
        m = torch.arange(ctx.shape[1]).unsqueeze(0) < lengths.unsqueeze(1)
        return m * (g / lengths).unsqueeze(1), None  # <-

    @staticmethod
    def sample_inputs():
        yield r(3, 4), torch.tensor([2, 0, 4])


class CheckpointDropoutRedrawn(Function):
    expect = {"GT110"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * (torch.rand(x.shape) > 0.5) * 2

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            y = x.detach().requires_grad_()
            out = y * (torch.rand(y.shape) > 0.5) * 2
        return torch.autograd.grad(out, y, g)[0]


class ReversibleCouplingWrongInverse(Function):
    """Additive coupling, input rebuilt from output with the wrong half."""

    expect = {"GT101"}
    diagnosis = "other"
    says = "at `y2` instead of `b`"

    @staticmethod
    def forward(ctx, a, b):
        y1 = a + torch.tanh(b)
        y2 = b + torch.sin(y1)
        ctx.save_for_backward(y1, y2)
        return y1, y2

    @staticmethod
    @once_differentiable
    def backward(ctx, g1, g2):
        y1, y2 = ctx.saved_tensors
        t1 = g1 + g2 * torch.cos(y1)
        return t1, g2 + t1 * (1 - torch.tanh(y2) ** 2)

    @staticmethod
    def sample_inputs():
        yield r(3), r(3)


class LaplacianPeriodicBoundary(Function):
    """Forward wraps around, backward clamps: only the two boundary entries are wrong."""

    expect = {"GT101"}
    diagnosis = "zero"

    @staticmethod
    def forward(ctx, u):
        return torch.roll(u, 1) + torch.roll(u, -1) - 2 * u

    @staticmethod
    def backward(ctx, g):
        none = g.new_zeros(1)
        return torch.cat([g[1:], none]) + torch.cat([none, g[:-1]]) - 2 * g

    @staticmethod
    def sample_inputs():
        yield (r(7),)


class RK4AdjointAsEuler(Function):
    """Adjoint discretised otherwise than the primal: an error of the order of the step."""

    expect = {"GT101"}
    diagnosis = "other"

    @staticmethod
    def forward(ctx, x, h):
        f = torch.sin
        k1 = f(x)
        k2 = f(x + h / 2 * k1)
        k3 = f(x + h / 2 * k2)
        k4 = f(x + h * k3)
        ctx.save_for_backward(x)
        ctx.h = h
        return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (1 + ctx.h * torch.cos(x)), None

    @staticmethod
    def sample_inputs():
        yield r(4), 0.05
