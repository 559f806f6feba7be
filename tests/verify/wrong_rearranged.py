"""Wrong Functions whose backward has the right parts in the wrong arrangement."""

import itertools

import torch
from torch.autograd import Function


def draw(*shape, seed=73):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.double, generator=generator).requires_grad_()


class DimNotKept(Function):
    says = "right with `(g * x).sum(1, keepdim=True)` in place of `(g * x).sum(1)` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x / x.exp().sum(1, keepdim=True)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        total = x.exp().sum(1, keepdim=True)
        share = (g * x).sum(1)  # <-
        return g / total - share * x.exp() / total**2

    @staticmethod
    def sample_inputs():
        yield (draw(3, 3),)


class MeanOfTheWholeRow(Function):
    says = "right with `inside - inside.sum(-1, keepdim=True) / on.sum(-1, keepdim=True)`"

    @staticmethod
    def forward(ctx, x):
        order = x.sort(-1, descending=True)[0]
        count = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype)
        total = order.cumsum(-1) - 1
        size = (1 + count * order > total + 1).sum(-1, keepdim=True)
        out = (x - total.gather(-1, size - 1) / size).clamp(min=0)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, g):
        (out,) = ctx.saved_tensors
        on = (out > 0).to(g.dtype)
        inside = g * on
        return on * (inside - inside.mean(-1, keepdim=True))

    @staticmethod
    def sample_inputs():
        yield (draw(3, 5),)


class PermutationNotInverted(Function):
    says = "backward is right with `order.argsort()` in place of `order` (line LINE)"

    @staticmethod
    def forward(ctx, x, order):
        ctx.save_for_backward(order)
        return x[:, order].exp().log()

    @staticmethod
    def backward(ctx, g):
        (order,) = ctx.saved_tensors
        return g[:, order], None  # <-

    @staticmethod
    def sample_inputs():
        yield draw(2, 5), torch.tensor([2, 0, 3, 4, 1])


class BinsCountedTwice(Function):
    says = "right with the inner entries of `g` along its last dim halved (line LINE)"

    @staticmethod
    def forward(ctx, x):
        ctx.length = x.shape[-1]
        return torch.fft.rfft(x)

    @staticmethod
    def backward(ctx, g):
        return torch.fft.irfft(g, n=ctx.length) * ctx.length  # <-

    @staticmethod
    def sample_inputs():
        yield (draw(2, 8),)


class WeightAfterTheMean(Function):
    says = "right with `weight` multiplying `g`, not `scale * (h - mean - unit * along)` (line"

    @staticmethod
    def forward(ctx, x, weight):
        scale = x.var(-1, unbiased=False, keepdim=True).rsqrt()
        unit = (x - x.mean(-1, keepdim=True)) * scale
        ctx.save_for_backward(unit, scale, weight)
        return unit * weight

    @staticmethod
    def backward(ctx, g):
        unit, scale, weight = ctx.saved_tensors
        h = g.clone()
        mean, along = h.mean(-1, keepdim=True), (h * unit).mean(-1, keepdim=True)
        return scale * (h - mean - unit * along) * weight, (g * unit).sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), draw(4, seed=1)


class NeighbourOfAnotherRow(Function):
    says = (
        "backward is right with `x[i + 1, j + 1].sin()` in place of `x[i + 1, j].sin()` (line LINE)"
    )

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x[:-1, :-1] * x[1:, 1:].sin()).sum()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        grad = torch.zeros_like(x)
        for i in range(x.shape[0] - 1):
            for j in range(x.shape[1] - 1):
                grad[i, j] += x[i + 1, j].sin()  # <-
                grad[i + 1, j + 1] += x[i, j] * x[i + 1, j + 1].cos()
        return g * grad

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4),)


class TargetsTakenForShares(Function):
    says = "right with `x.softmax(-1) * y.sum(-1, keepdim=True)` in place of `x.softmax(-1)`"

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return -(y * x.log_softmax(-1)).sum(-1)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        p = x.softmax(-1)
        return g.unsqueeze(-1) * (p - y), -g.unsqueeze(-1) * x.log_softmax(-1)

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), draw(2, 3, seed=1).detach().abs().requires_grad_()


class CoefficientRounded(Function):
    says = "backward is right with `3 * 0.044715 * x` in place of `0.134 * x` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.tanh(0.797 * (x + 0.044715 * x**3))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        y = torch.tanh(0.797 * (x + 0.044715 * x**3))
        slope = 1 + 0.134 * x * x  # <-
        return g * (1 - y * y) * 0.797 * slope

    @staticmethod
    def sample_inputs():
        yield (draw(4),)


class LastBlockLeftAsItIs(Function):
    says = "backward is right with `ctx.starts[1:]` in place of `ctx.starts[1:-1]` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        sizes = [1 + int(v > 0) for v in x.tolist()]
        ctx.starts = [0, sizes[0], 3, x.numel()]
        return torch.cat([part.mean().expand(len(part)) for part in _blocks(x, ctx.starts)])

    @staticmethod
    def backward(ctx, g):
        grad, ends = g.clone(), ctx.starts[1:-1]  # <-
        for start, end in zip(ctx.starts, ends, strict=False):
            grad[start:end] = g[start:end].mean()
        return grad

    @staticmethod
    def sample_inputs():
        yield (draw(6),)


def _blocks(x, starts):
    return [x[start:end] for start, end in itertools.pairwise(starts)]


class FirstTurnLeftOut(Function):
    says = "backward is right with the condition `t` always true (line LINE)"

    @staticmethod
    def forward(ctx, a, start):
        states = [start]
        for t in range(len(a)):
            states.append(a[t] * states[-1])
        ctx.save_for_backward(a, torch.stack(states))
        return torch.stack(states[1:])

    @staticmethod
    def backward(ctx, g):
        a, states = ctx.saved_tensors
        carry, of_a = torch.zeros_like(g[0]), torch.empty_like(a)
        for t in reversed(range(len(a))):
            carry = carry + g[t]
            of_a[t] = carry * states[t]
            if t:  # <-
                carry = carry * a[t]
        return of_a, carry

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), draw(2, seed=1)


class EigenvaluesThatAreTheSame(Function):
    says = "right with `torch.where(k == 0, (1 / w).unsqueeze(-1), k)` in place of `k + torch.diag("

    @staticmethod
    def forward(ctx, a):
        w, v = torch.linalg.eigh(0.5 * (a + a.mT))
        ctx.save_for_backward(w, v)
        return (v * w.log()) @ v.mT

    @staticmethod
    def backward(ctx, g):
        w, v = ctx.saved_tensors
        gap, of_log = w[:, None] - w, w.log()[:, None] - w.log()
        near = gap.abs() < 1e-9
        k = torch.where(near, torch.zeros_like(gap), of_log / torch.where(near, 1.0, gap))
        k = k + torch.diag(1 / w)
        return v @ (k * (v.mT @ (0.5 * (g + g.mT)) @ v)) @ v.mT

    @staticmethod
    def sample_inputs():
        yield (torch.diag(torch.tensor([2.0, 2.0, 0.5], dtype=torch.double)).requires_grad_(),)


class BoundOfTheScaleIgnored(Function):
    says = (
        "the gradient of `t` is not zero where `t.exp().clamp(max=100.0)` (line LINE) passes none"
    )

    @staticmethod
    def forward(ctx, x, t):
        scale = t.exp().clamp(max=100.0)  # <-
        ctx.save_for_backward(x, scale)
        return scale * x.sin()

    @staticmethod
    def backward(ctx, g):
        x, scale = ctx.saved_tensors
        return g * scale * x.cos(), (g * scale * x.sin()).sum()

    @staticmethod
    def sample_inputs():
        yield draw(4), torch.tensor(5.0, dtype=torch.double, requires_grad=True)
