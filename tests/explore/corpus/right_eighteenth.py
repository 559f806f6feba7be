"""Right Functions with a guard, an ignored label, an axis, other lengths or a state."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0, seed=171):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class GuardedLength(Function):
    """Rows divided by their length, or by a small number where they are shorter."""

    @staticmethod
    def forward(ctx, x, eps=1e-12):
        length = x.norm(dim=-1, keepdim=True)
        ctx.save_for_backward(x, length.clamp(min=eps), length > eps)
        return x / length.clamp(min=eps)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, length, is_long = ctx.saved_tensors
        inner = (g * x).sum(-1, keepdim=True) * is_long
        return g / length - x * inner / length**3, None

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4, seed=183),)


class RootByNewton(Function):
    """The root, improved until the steps are small."""

    @staticmethod
    def forward(ctx, x, eps=1e-12):
        root = torch.ones_like(x)
        for _ in range(50):
            step = 0.5 * (x / root - root)
            root = root + step
            if step.abs().max() < eps:
                break
        ctx.save_for_backward(root)
        return root

    @staticmethod
    def backward(ctx, g):
        (root,) = ctx.saved_tensors
        return g / (2 * root), None

    @staticmethod
    def sample_inputs():
        yield (draw(4, low=0.5, high=3.0, seed=184),)


class IgnoredLabel(Function):
    """The cross entropy of the rows whose label is not ignored."""

    @staticmethod
    def forward(ctx, logits, target, ignore_index=-100):
        kept = target != ignore_index
        label = torch.where(kept, target, 0)[:, None]
        log_p = torch.log_softmax(logits, 1)
        ctx.save_for_backward(log_p, label, kept)
        return -(log_p.gather(1, label)[:, 0] * kept).sum() / kept.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        log_p, label, kept = ctx.saved_tensors
        hot = torch.zeros_like(log_p).scatter(1, label, 1.0)
        return g * (log_p.exp() - hot) * kept[:, None] / kept.sum(), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3, seed=185), torch.tensor([0, 2, -100, 1])


class SquaresOfMatrix(Function):
    """Running totals of the squares along an axis of a matrix."""

    @staticmethod
    def forward(ctx, x, dim=0):
        ctx.save_for_backward(x)
        ctx.dim = dim
        return x.square().sum(dim).cumsum(0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        left = g.flip(0).cumsum(0).flip(0)
        return 2 * x * (left if ctx.dim in (0, -2) else left[:, None]), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4, seed=186), 0
        yield draw(3, 4, seed=187), 1


class PairsOfRows(Function):
    """Products of rows, for as many rows as both have."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return torch.stack([one @ other for one, other in zip(x, y)])

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g[:, None] * y, g[:, None] * x

    @staticmethod
    def sample_inputs():
        yield draw(3, 2, seed=188), draw(3, 2, seed=189)


class PairsOfSmallRows(Function):
    """The same for numbers that are not large."""

    @staticmethod
    def forward(ctx, x, y):
        if float(x.abs().max()) > 100:
            raise ValueError("numbers are too large")
        ctx.save_for_backward(x, y)
        return torch.stack([one @ other for one, other in zip(x, y)])

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g[:, None] * y, g[:, None] * x

    @staticmethod
    def sample_inputs():
        yield draw(3, 2, seed=193), draw(3, 2, seed=194)


class KeptMemory(Function):
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
        found = of_state if ctx.has_state else None
        return torch.stack(of_keys), torch.stack(of_values), None, found

    @staticmethod
    def sample_inputs():
        yield draw(4, 2, seed=190), draw(4, 3, seed=191), 0.7
