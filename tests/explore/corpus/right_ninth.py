"""Right Functions of documented words, marked entries, offsets, weights, and degenerate points."""

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0):
    generator = torch.Generator().manual_seed(43)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class PaddingFolded(Function):
    """Padded by two; the mode is 'constant' or 'replicate'."""

    @staticmethod
    def forward(ctx, x, mode="constant"):
        ctx.mode = mode
        return F.pad(x[None], (2, 2), mode=mode)[0]

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        grad = grad_output[..., 2:-2].clone()
        if ctx.mode == "replicate":
            grad[..., 0] += grad_output[..., :2].sum(-1)
            grad[..., -1] += grad_output[..., -2:].sum(-1)
        return grad, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 5), "constant"


class ThresholdOfPositive(Function):
    """The Huber loss for delta > 0, or the absolute value for a delta of 0."""

    @staticmethod
    def forward(ctx, x, delta=1.0):
        size = x.abs()
        ctx.save_for_backward(x)
        ctx.delta = delta
        if delta == 0:
            return size
        return torch.where(size < delta, x * x / (2 * delta), size - delta / 2)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        slope = x.sign() if ctx.delta == 0 else (x / ctx.delta).clamp(-1, 1)
        return grad_output * slope, None

    @staticmethod
    def sample_inputs():
        yield (draw(6),)


class DistanceToPoints(Function):
    """Distances from points to others, which are none of them."""

    @staticmethod
    def forward(ctx, a, b):
        apart = a - b
        length = apart.norm(dim=-1)
        ctx.save_for_backward(apart / length[:, None])
        return length

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (direction,) = ctx.saved_tensors
        grad = grad_output[:, None] * direction
        return grad, -grad

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), draw(3, 2) * 0.7 + 0.2


class NormalizedWeights(Function):
    @staticmethod
    def forward(ctx, x, weight):
        total = weight.sum()
        mean = (weight * x * x).sum() / total
        ctx.save_for_backward(x, weight, total, mean)
        return mean.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, weight, total, mean = ctx.saved_tensors
        of_weight = grad_output * (x * x - mean) / total if ctx.needs_input_grad[1] else None
        return 2 * grad_output * weight * x / total, of_weight

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, low=0.3).detach()


class SpansSummed(Function):
    @staticmethod
    def forward(ctx, x, offsets):
        ctx.save_for_backward(offsets)
        bounds = offsets.tolist()
        parts = zip(bounds, bounds[1:], strict=False)
        return torch.stack([x[start:stop].sum() for start, stop in parts])

    @staticmethod
    def backward(ctx, grad_output):
        (offsets,) = ctx.saved_tensors
        return grad_output.repeat_interleave(offsets.diff()), None

    @staticmethod
    def sample_inputs():
        yield draw(6), torch.tensor([0, 6])


class PairsOfOtherGroups(Function):
    @staticmethod
    def forward(ctx, x, ids):
        apart = (ids[:, None] != ids[None]).to(x.dtype)
        ctx.save_for_backward(x, apart)
        return (x[:, None] * x[None] * apart).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, apart = ctx.saved_tensors
        return 2 * grad_output * (apart @ x), None

    @staticmethod
    def sample_inputs():
        yield draw(4), torch.arange(4)
