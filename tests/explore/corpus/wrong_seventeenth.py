"""Functions that are wrong for other lengths, ranks, flags and indices than those of the sample."""

import torch
from torch.autograd import Function


def draw(*shape, low=-1.0, high=1.0, seed=151):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class LatestQueries(Function):
    """Causal weights of queries, which are the latest of as many keys or more."""

    @staticmethod
    def forward(ctx, q, k, v):
        assert k.shape[0] >= q.shape[0]
        scores = q @ k.mT
        later = torch.ones_like(scores, dtype=torch.bool).triu(1 + k.shape[0] - q.shape[0])
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        ctx.save_for_backward(q, k, v)
        return weights @ v

    @staticmethod
    def backward(ctx, g):
        q, k, v = ctx.saved_tensors
        scores = q @ k.mT
        later = torch.ones_like(scores, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        of_weights = g @ v.mT
        of_scores = weights * (of_weights - (weights * of_weights).sum(-1, keepdim=True))
        return of_scores @ k, of_scores.mT @ q, weights.mT @ g

    @staticmethod
    def sample_inputs():
        yield draw(3, 2, seed=152), draw(3, 2, seed=153), draw(3, 2, seed=154)


class TableByDistance(Function):
    """Entries of a table, of which negative distances count from the end."""

    @staticmethod
    def forward(ctx, table, distances):
        ctx.save_for_backward(distances)
        ctx.length = len(table)
        return table[distances]

    @staticmethod
    def backward(ctx, g):
        (distances,) = ctx.saved_tensors
        is_read = distances.reshape(-1, 1) == torch.arange(ctx.length)
        return g.reshape(-1) @ is_read.to(g.dtype), None

    @staticmethod
    def sample_inputs():
        yield draw(5, seed=155), torch.tensor([[0, 1, 2], [1, 0, 1]])


class LastWrite(Function):
    """A memory with rows written to it, of which a later one replaces an earlier one."""

    @staticmethod
    def forward(ctx, memory, rows, slots):
        ctx.save_for_backward(slots)
        out = memory.clone()
        for row, slot in zip(rows, slots.tolist()):
            out[slot] = row
        return out

    @staticmethod
    def backward(ctx, g):
        (slots,) = ctx.saved_tensors
        return g.index_fill(0, slots, 0.0), g[slots], None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2, seed=156), draw(2, 2, seed=157), torch.tensor([3, 1])


class OptionalShift(Function):
    """A scaled and shifted tensor, of which both may be left out."""

    @staticmethod
    def forward(ctx, x, scale=None, shift=None):
        ctx.save_for_backward(x, scale, shift)
        y = x.clone() if scale is None else x * scale
        return y if shift is None else y + shift

    @staticmethod
    def backward(ctx, g):
        x, scale, shift = ctx.saved_tensors
        gradients = [g if scale is None else g * scale]
        if scale is not None:
            gradients.append(g * x)
        if shift is not None:
            gradients.append(g)
        return tuple(gradients + [None] * (3 - len(gradients)))

    @staticmethod
    def sample_inputs():
        yield draw(4, seed=158), draw(4, seed=159), draw(4, seed=160)


class SignedPower(Function):
    """A power of the size, with the sign."""

    @staticmethod
    def forward(ctx, x, power):
        ctx.save_for_backward(x)
        ctx.power = power
        return x.sign() * x.abs().pow(power)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.power * x.abs().pow(ctx.power) / x.abs(), None

    @staticmethod
    def sample_inputs():
        yield draw(4, seed=161), 1.5


class RateOrLogarithm(Function):
    """The loss of a Poisson rate, given by its logarithm or not."""

    @staticmethod
    def forward(ctx, rate, count, is_log=True):
        if not is_log and (rate < 0).any():
            raise ValueError("a rate is not negative")
        ctx.save_for_backward(rate, count)
        ctx.is_log = is_log
        return rate.exp() - count * rate if is_log else rate - count * rate.log()

    @staticmethod
    def backward(ctx, g):
        rate, count = ctx.saved_tensors
        return g * (rate.exp() - count if ctx.is_log else 1 - count * rate), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, seed=162), torch.tensor([0.0, 2.0, 1.0, 3.0], dtype=torch.double)


class GatedHalves(Function):
    """The first half of the features, gated by the second."""

    @staticmethod
    def forward(ctx, x):
        value, gate = x.chunk(2, -1)
        ctx.save_for_backward(x)
        return value * gate.sigmoid()

    @staticmethod
    def backward(ctx, g):
        value, gate = ctx.saved_tensors[0].chunk(2, -1)
        share = gate.sigmoid()
        return torch.cat([g * share, g * value * share * (1 - share)], 1)

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4, seed=163),)


class NeededShare(Function):
    """A mix of two tensors, whose share has a gradient only where it is needed."""

    @staticmethod
    def forward(ctx, x, y, share):
        ctx.save_for_backward(x, y, share)
        return share * x + (1 - share) * y

    @staticmethod
    def backward(ctx, g):
        x, y, share = ctx.saved_tensors
        of_share = (g * (x + y)).sum(0) if ctx.needs_input_grad[2] else None
        return g * share, g * (1 - share), of_share

    @staticmethod
    def sample_inputs():
        yield draw(3, 2, seed=164), draw(3, 2, seed=165), draw(2, low=0.2, high=0.8).detach()


class SummedOverStack(Function):
    """A gain for each feature, summed to its shape."""

    @staticmethod
    def forward(ctx, x, gain):
        ctx.save_for_backward(x, gain)
        return x * gain

    @staticmethod
    def backward(ctx, g):
        x, gain = ctx.saved_tensors
        return (g * gain).sum_to_size(x.shape), (g * x).sum_to_size(x.shape)

    @staticmethod
    def sample_inputs():
        yield draw(3, 2, seed=166), draw(3, 2, seed=167)
