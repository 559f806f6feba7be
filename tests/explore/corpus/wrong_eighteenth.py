"""Functions that know a number or a rank of their sample by heart, or forget a state."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0, seed=171):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class DefaultEpsilon(Function):
    """Rows divided by their root mean square."""

    @staticmethod
    def forward(ctx, x, eps=1e-6):
        ctx.save_for_backward(x)
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
        inner = (g * x).mean(-1, keepdim=True)
        return g * scale - x * inner * scale**3, None

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4, seed=172),)


class DefaultIgnoredLabel(Function):
    """The cross entropy of the rows whose label is not ignored."""

    @staticmethod
    def forward(ctx, logits, target, ignore_index=-100):
        kept = target != ignore_index
        log_p = torch.log_softmax(logits, 1)
        ctx.save_for_backward(log_p, target)
        picked = log_p.gather(1, torch.where(kept, target, 0)[:, None])[:, 0]
        return -(picked * kept).sum() / kept.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        log_p, target = ctx.saved_tensors
        kept = target != -100
        label = torch.where(kept, target, 0)[:, None]
        hot = torch.zeros_like(log_p).scatter(1, label, 1.0)
        return g * (log_p.exp() - hot) * kept[:, None] / kept.sum(), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3, seed=173), torch.tensor([0, 2, -100, 1])


class EnergySoFar(Function):
    """Running sums of squares along an axis, which is moved to the front and back again."""

    @staticmethod
    def forward(ctx, x, dim=-1):
        ctx.save_for_backward(x)
        ctx.dim = dim
        return x.square().cumsum(dim)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        left = g.movedim(ctx.dim, 0).flip(0).cumsum(0).flip(0)
        return 2 * x * left.movedim(ctx.dim, 0), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4, seed=174), -1
        yield draw(3, 4, seed=175), 0


class EnergyOfColumnsSoFar(Function):
    """Running sums of squares along an axis, which is moved to the front and back again."""

    @staticmethod
    def forward(ctx, x, dim=0):
        ctx.save_for_backward(x)
        ctx.dim = dim
        return x.square().cumsum(dim)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        axis = ctx.dim % g.ndim
        left = g.transpose(axis, 0).flip(0).cumsum(0).flip(0)
        return 2 * x * (left if axis == 0 else left.t()), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4, seed=176), 0
        yield draw(3, 4, seed=177), 1


class DecayedMemory(Function):
    """A memory of outer products that decays, and what it holds in the end."""

    @staticmethod
    def forward(ctx, k, v, decay, s0=None):
        state = k.new_zeros(v.shape[1], k.shape[1])
        if s0 is not None:
            state = state + s0
        for key, value in zip(k, v):
            state = decay * state + torch.outer(value, key)
        ctx.save_for_backward(k, v)
        ctx.decay, ctx.has_state = decay, s0 is not None
        return state

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        k, v = ctx.saved_tensors
        of_keys, of_values, of_state = [], [], g
        for key, value in zip(k.flip(0), v.flip(0)):
            of_keys.insert(0, value @ of_state)
            of_values.insert(0, of_state @ key)
            of_state = ctx.decay * of_state
        return torch.stack(of_keys), torch.stack(of_values), None, g if ctx.has_state else None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2, seed=181), draw(4, 3, seed=182), 0.7


class BarrierOfBall(Function):
    """The logarithm of how far squared lengths are from one, for points in the unit ball."""

    @staticmethod
    def forward(ctx, points):
        if float(points.square().sum(-1).max()) >= 1:
            raise ValueError("a point lies outside of the ball")
        ctx.save_for_backward(points)
        return (1 - points.square().sum(-1)).log()

    @staticmethod
    def backward(ctx, g):
        (points,) = ctx.saved_tensors
        inside = 1 - points.square().sum(1)
        return -2 * (g / inside).unsqueeze(-1) * points

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3, low=-0.4, high=0.4, seed=192),)
