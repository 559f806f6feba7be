"""Right Functions with assumptions that nothing but their samples tells of."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class GatesInHalves(Function):
    """The last extent must be even."""

    @staticmethod
    def forward(ctx, x):
        n = x.shape[-1] // 2
        a, b = x[..., :n], x[..., n : 2 * n]
        ctx.save_for_backward(a, b)
        return a * torch.sigmoid(b)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        s = torch.sigmoid(b)
        return torch.cat([g * s, g * a * s * (1 - s)], dim=-1)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class InverseOfOrthogonal(Function):
    """The inverse of an orthogonal matrix is its transpose."""

    @staticmethod
    def forward(ctx, q, x):
        y = torch.linalg.solve(q, x)
        ctx.save_for_backward(q, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        q, y = ctx.saved_tensors
        gx = q @ g
        return -gx @ y.T, gx

    @staticmethod
    def sample_inputs():
        q = torch.linalg.qr(rand(3, 3).detach())[0]
        yield q.requires_grad_(), rand(3, 2)


class SplineOnSortedKnots(Function):
    """The knots ascend."""

    @staticmethod
    def forward(ctx, x, knots, values):
        at = torch.searchsorted(knots, x.detach()).clamp(1, len(knots) - 1)
        left, right = knots[at - 1], knots[at]
        t = (x - left) / (right - left)
        ctx.save_for_backward(at, t, left, right, values)
        return values[at - 1] * (1 - t) + values[at] * t

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        at, t, left, right, values = ctx.saved_tensors
        slope = (values[at] - values[at - 1]) / (right - left)
        grad = torch.zeros_like(values)
        grad.index_add_(0, at - 1, g * (1 - t))
        grad.index_add_(0, at, g * t)
        return g * slope, None, grad

    @staticmethod
    def sample_inputs():
        knots = torch.linspace(-2.0, 2.0, 6, dtype=torch.float64)
        yield rand(5), knots, rand(6)


class Perplexity(Function):
    """The probabilities sum to one."""

    @staticmethod
    def forward(ctx, p):
        h = -(p * p.log()).sum(-1)
        ctx.save_for_backward(p, h)
        return h.exp()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        p, h = ctx.saved_tensors
        return (g * h.exp()).unsqueeze(-1) * -(p.log() + 1)

    @staticmethod
    def sample_inputs():
        yield (torch.softmax(rand(3, 4).detach(), -1).requires_grad_(),)


class CrossEntropyIgnoring(Function):
    """Labels are classes, or the one to ignore."""

    @staticmethod
    def forward(ctx, x, y, ignore_index=-100):
        keep = y != ignore_index
        logp = torch.log_softmax(x, -1)
        ctx.save_for_backward(logp, y, keep)
        picked = logp.gather(1, y.clamp(min=0).unsqueeze(1)).squeeze(1)
        return -(picked * keep).sum() / keep.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        logp, y, keep = ctx.saved_tensors
        grad = logp.exp()
        grad = grad - torch.nn.functional.one_hot(y.clamp(min=0), logp.shape[1]).to(grad.dtype)
        return g * grad * keep.unsqueeze(1) / keep.sum(), None, None

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), torch.tensor([0, 2, -100, 1])


class StraightThroughIfHard(Function):
    """A hard sample is meant to have the gradient of the soft one."""

    @staticmethod
    def forward(ctx, x, rounded=False):
        soft = torch.sigmoid(x)
        ctx.save_for_backward(soft)
        return (soft > 0.5).to(x.dtype) if rounded else soft

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (soft,) = ctx.saved_tensors
        return g * soft * (1 - soft), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)
