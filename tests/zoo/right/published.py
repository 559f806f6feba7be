"""Published algorithms: dynamic programs, reversible layers, roots, decompositions; all right."""

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable

f64 = torch.float64
c128 = torch.complex128


def mk(*s, scale=1.0):
    return (scale * torch.randn(*s, dtype=f64)).requires_grad_()


def lovasz_grad(gt_sorted):
    p = len(gt_sorted)
    gts = gt_sorted.sum()
    intersection = gts - gt_sorted.cumsum(0)
    union = gts + (1 - gt_sorted).cumsum(0)
    jaccard = 1.0 - intersection / union
    if p > 1:
        jaccard[1:p] = jaccard[1:p] - jaccard[0:-1]
    return jaccard


class LovaszHinge(Function):
    @staticmethod
    def forward(ctx, logits, labels):
        signs = 2.0 * labels.to(logits.dtype) - 1.0
        errors = 1.0 - logits * signs
        errors_sorted, perm = torch.sort(errors, dim=0, descending=True)
        gt_sorted = labels[perm].to(logits.dtype)
        grad = lovasz_grad(gt_sorted)
        weight = torch.zeros_like(grad)
        weight[perm] = grad
        weight = -weight * signs * (errors > 0)
        ctx.save_for_backward(weight)
        return torch.dot(F.relu(errors_sorted), grad)

    @staticmethod
    def backward(ctx, g):
        (weight,) = ctx.saved_tensors
        return g * weight, None

    @staticmethod
    def sample_inputs():
        yield (
            torch.randn(12, dtype=torch.double, requires_grad=True),
            torch.tensor([0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1]),
        )


class LabelSmoothing(Function):
    @staticmethod
    def forward(
        ctx, logits, target, smoothing: float, reduction: str = "mean", ignore_index: int = -100
    ):
        num_classes = logits.size(1)
        logp = F.log_softmax(logits, dim=1)
        mask = target.ne(ignore_index)
        safe = target.masked_fill(~mask, 0)
        dist = torch.full_like(logits, smoothing / (num_classes - 1))
        dist.scatter_(1, safe.unsqueeze(1), 1.0 - smoothing)
        dist = dist * mask.unsqueeze(1).to(dist.dtype)
        loss = -(dist * logp).sum(1)
        ctx.save_for_backward(logits, dist)
        ctx.reduction = reduction
        ctx.count = int(mask.sum())
        if reduction == "mean":
            return loss.sum() / ctx.count
        if reduction == "sum":
            return loss.sum()
        return loss

    @staticmethod
    def backward(ctx, grad_output):
        logits, dist = ctx.saved_tensors
        p = F.softmax(logits, dim=1)
        g = p * dist.sum(1, keepdim=True) - dist
        if ctx.reduction == "mean":
            g = g * (grad_output / ctx.count)
        elif ctx.reduction == "sum":
            g = g * grad_output
        else:
            g = g * grad_output.unsqueeze(1)
        return g, None, None, None, None

    @staticmethod
    def sample_inputs():
        for r in ("sum", "none"):
            yield (
                torch.randn(4, 5, dtype=torch.double, requires_grad=True),
                torch.tensor([1, 4, -100, 0]),
                0.1,
                r,
            )


class ConvolutionByColumns(Function):
    @staticmethod
    def forward(ctx, x, weight, padding):
        N, _, H, W = x.shape
        out, _, kh, kw = weight.shape
        cols = F.unfold(x, (kh, kw), padding=padding)
        columns = weight.view(out, -1) @ cols
        ctx.save_for_backward(x, weight)
        ctx.padding = padding
        return columns.view(N, out, H + 2 * padding - kh + 1, W + 2 * padding - kw + 1)

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        out, _, kh, kw = weight.shape
        g = g.flatten(2)
        cols = F.unfold(x, (kh, kw), padding=ctx.padding)
        gw = (g @ cols.transpose(1, 2)).sum(0).view_as(weight)
        gcols = weight.view(out, -1).t() @ g
        gx = F.fold(gcols, x.shape[2:], (kh, kw), padding=ctx.padding)
        return gx, gw, None

    @staticmethod
    def sample_inputs():
        yield mk(2, 2, 4, 3), mk(2, 2, 3, 2), 1


class GridSample1d(Function):
    """Linear interpolation; differentiable in signal and in positions, away from the knots."""

    @staticmethod
    def forward(ctx, signal, pos):
        i = pos.floor().long().clamp(0, signal.shape[0] - 2)
        t = pos - i
        ctx.save_for_backward(signal, pos)
        return signal[i] * (1 - t) + signal[i + 1] * t

    @staticmethod
    def backward(ctx, g):
        signal, pos = ctx.saved_tensors
        i = pos.detach().floor().long().clamp(0, signal.shape[0] - 2)
        t = pos - i
        gs = torch.zeros_like(signal).index_add(0, i, g * (1 - t)).index_add(0, i + 1, g * t)
        return gs, g * (signal[i + 1] - signal[i])

    @staticmethod
    def sample_inputs():
        yield (
            torch.randn(6, dtype=f64, requires_grad=True),
            torch.tensor([0.3, 4.9, 2.5, 2.6, 1.001, 3.999], dtype=f64, requires_grad=True),
        )


class Viterbi(Function):
    """The best path's score; gradient is the indicator of the path."""

    @staticmethod
    def forward(ctx, emit, trans):
        s, back = emit[0], []
        for t in range(1, emit.shape[0]):
            best, arg = (s[:, None] + trans).max(0)
            back.append(arg)
            s = best + emit[t]
        score, last = s.max(0)
        path = [int(last)]
        for arg in reversed(back):
            path.insert(0, int(arg[path[0]]))
        ctx.path = tuple(path)
        ctx.shapes = emit.shape, trans.shape
        return score

    @staticmethod
    def backward(ctx, g):
        ge = torch.zeros(ctx.shapes[0], dtype=g.dtype)
        gt = torch.zeros(ctx.shapes[1], dtype=g.dtype)
        for t, k in enumerate(ctx.path):
            ge[t, k] = ge[t, k] + g
            if t:
                gt[ctx.path[t - 1], k] = gt[ctx.path[t - 1], k] + g
        return ge, gt

    @staticmethod
    def sample_inputs():
        yield mk(4, 3), mk(3, 3)


class LinearChainCrf(Function):
    @staticmethod
    def forward(ctx, emit, trans):
        alpha = emit[0]
        al = [alpha]
        for t in range(1, emit.shape[0]):
            alpha = torch.logsumexp(alpha[:, None] + trans, 0) + emit[t]
            al.append(alpha)
        z = torch.logsumexp(alpha, 0)
        ctx.save_for_backward(emit, trans)
        return z

    @staticmethod
    def backward(ctx, g):
        emit, trans = ctx.saved_tensors
        T = emit.shape[0]
        al = [emit[0]]
        for t in range(1, T):
            al.append(torch.logsumexp(al[-1][:, None] + trans, 0) + emit[t])
        be = [torch.zeros_like(emit[0])]
        for t in range(T - 1, 0, -1):
            be.insert(0, torch.logsumexp(trans + (emit[t] + be[0])[None], 1))
        z = torch.logsumexp(al[-1], 0)
        ge = torch.stack([(a + b - z).exp() for a, b in zip(al, be)])
        gt = sum(
            (al[t - 1][:, None] + trans + (emit[t] + be[t])[None] - z).exp() for t in range(1, T)
        )
        return g * ge, g * gt

    @staticmethod
    def sample_inputs():
        yield mk(4, 3), mk(3, 3)


class AssociativeScan(Function):
    """h_t = a_t h_{t-1} + b_t, the linear recurrence of state space models."""

    @staticmethod
    def scan(a, b):
        h, out = torch.zeros_like(b[0]), []
        for t in range(len(b)):
            h = a[t] * h + b[t]
            out.append(h)
        return torch.stack(out)

    @staticmethod
    def forward(ctx, a, b):
        h = AssociativeScan.scan(a, b)
        ctx.save_for_backward(a, h)
        return h

    @staticmethod
    def backward(ctx, g):
        a, h = ctx.saved_tensors
        shifted = torch.cat([a[1:], torch.zeros_like(a[:1])])
        gb = AssociativeScan.scan(shifted.flip(0), g.flip(0)).flip(0)
        prev = torch.cat([torch.zeros_like(h[:1]), h[:-1]])
        return gb * prev, gb

    @staticmethod
    def sample_inputs():
        yield torch.rand(5, 2, dtype=f64, requires_grad=True), mk(5, 2)


class SoftDtw(Function):
    @staticmethod
    def forward(ctx, D, gamma=0.5):
        n, m = D.shape
        R = torch.full((n + 2, m + 2), float("inf"), dtype=D.dtype)
        R[0, 0] = 0
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                z = -torch.stack([R[i - 1, j - 1], R[i - 1, j], R[i, j - 1]]) / gamma
                R[i, j] = D[i - 1, j - 1] - gamma * torch.logsumexp(z, 0)
        ctx.save_for_backward(D, R)
        ctx.gamma = gamma
        return R[n, m].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        D, R = ctx.saved_tensors
        n, m = D.shape
        gamma = ctx.gamma
        R = R.clone()
        Dp = torch.zeros(n + 2, m + 2, dtype=D.dtype)
        Dp[1:-1, 1:-1] = D
        E = torch.zeros_like(R)
        R[:, -1] = float("-inf")
        R[-1, :] = float("-inf")
        R[-1, -1] = R[-2, -2]
        E[-1, -1] = 1
        for j in range(m, 0, -1):
            for i in range(n, 0, -1):
                a = torch.exp((R[i + 1, j] - R[i, j] - Dp[i + 1, j]) / gamma)
                b = torch.exp((R[i, j + 1] - R[i, j] - Dp[i, j + 1]) / gamma)
                c = torch.exp((R[i + 1, j + 1] - R[i, j] - Dp[i + 1, j + 1]) / gamma)
                E[i, j] = E[i + 1, j] * a + E[i, j + 1] * b + E[i + 1, j + 1] * c
        return g * E[1:-1, 1:-1], None

    @staticmethod
    def sample_inputs():
        yield (torch.rand(3, 2, dtype=f64, requires_grad=True),)


class ReversibleCoupling(Function):
    """RevNet block; keeps outputs only and inverts them in backward."""

    @staticmethod
    def forward(ctx, x1, x2, w1, w2):
        y1 = x1 + torch.tanh(x2 @ w1)
        y2 = x2 + torch.tanh(y1 @ w2)
        ctx.save_for_backward(y1, y2, w1, w2)
        return y1, y2

    @staticmethod
    @once_differentiable
    def backward(ctx, g1, g2):
        y1, y2, w1, w2 = ctx.saved_tensors
        with torch.enable_grad():
            y1 = y1.detach().requires_grad_()
            w2 = w2.detach().requires_grad_()
            t2 = torch.tanh(y1 @ w2)
        x2 = y2 - t2.detach()
        a, gw2 = torch.autograd.grad(t2, (y1, w2), g2)
        g1 = g1 + a
        with torch.enable_grad():
            x2 = x2.detach().requires_grad_()
            w1 = w1.detach().requires_grad_()
            t1 = torch.tanh(x2 @ w1)
        b, gw1 = torch.autograd.grad(t1, (x2, w1), g1)
        return g1, g2 + b, gw1, gw2

    @staticmethod
    def sample_inputs():
        yield mk(2, 3), mk(2, 3), mk(3, 3), mk(3, 3)


class LeapfrogReversible(Function):
    """Symplectic integrator; backward reconstructs the states by running in reverse."""

    @staticmethod
    def forward(ctx, q, p, n=5, h=0.1):
        for _ in range(n):
            p = p - h / 2 * torch.sin(q)
            q = q + h * p
            p = p - h / 2 * torch.sin(q)
        ctx.save_for_backward(q, p)
        ctx.n, ctx.h = n, h
        return q, p

    @staticmethod
    def backward(ctx, gq, gp):
        q, p = ctx.saved_tensors
        h = ctx.h
        for _ in range(ctx.n):
            p = p + h / 2 * torch.sin(q)
            gq = gq - h / 2 * torch.cos(q) * gp
            gp = gp + h * gq
            q = q - h * p
            p = p + h / 2 * torch.sin(q)
            gq = gq - h / 2 * torch.cos(q) * gp
        return gq, gp, None, None


class BisectionRoot(Function):
    """Root of x³ + x = a by bisection down to 1e-10."""

    @staticmethod
    def forward(ctx, a):
        lo = torch.full_like(a, -20.0)
        hi = torch.full_like(a, 20.0)
        while float((hi - lo).max()) > 1e-10:
            mid = (lo + hi) / 2
            up = mid**3 + mid > a
            hi = torch.where(up, mid, hi)
            lo = torch.where(up, lo, mid)
        x = (lo + hi) / 2
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g / (3 * x * x + 1)

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.3, -2.0], dtype=f64, requires_grad=True),)
