"""Functions that are wrong for documented words, marked entries, zero gains and learned weights."""

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0):
    generator = torch.Generator().manual_seed(41)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class PaddingCropped(Function):
    """Padded by two; the mode is 'constant' or 'replicate'."""

    @staticmethod
    def forward(ctx, x, mode="constant"):
        return F.pad(x[None], (2, 2), mode=mode)[0]

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output[..., 2:-2], None

    @staticmethod
    def sample_inputs():
        yield draw(2, 5), "constant"


class NormOfNone(Function):
    @staticmethod
    def forward(ctx, x, norm=None):
        y = x.cumsum(-1)
        return y / x.shape[-1] if norm == "mean" else y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.flip(-1).cumsum(-1).flip(-1), None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 3),)


class FirstLevelLikeOthers(Function):
    @staticmethod
    def forward(ctx, x, level):
        ctx.save_for_backward(x)
        return torch.where(level == 0, torch.zeros_like(x), x.sin() * level)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.cos() * 2, None

    @staticmethod
    def sample_inputs():
        yield draw(4), torch.tensor([2.0, 2.0, 2.0, 2.0], dtype=torch.double)


class SameGroupStillCounts(Function):
    @staticmethod
    def forward(ctx, x, ids):
        apart = (ids[:, None] != ids[None]).to(x.dtype)
        ctx.save_for_backward(x)
        return (x[:, None] * x[None] * apart).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * grad_output * (x.sum() - x), None

    @staticmethod
    def sample_inputs():
        yield draw(4), torch.arange(4)


class SignOfTheOutput(Function):
    """The positive part times one, the negative part times any slope."""

    @staticmethod
    def forward(ctx, x, slope=0.1):
        y = torch.where(x > 0, x, slope * x)
        ctx.save_for_backward(y)
        ctx.slope = slope
        return y.clone()

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return torch.where(y > 0, grad_output, ctx.slope * grad_output), None

    @staticmethod
    def sample_inputs():
        yield (draw(5),)


class InputFromTheOutput(Function):
    @staticmethod
    def forward(ctx, x, gain):
        y = x.tanh() * gain
        ctx.save_for_backward(y, gain)
        return y.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        y, gain = ctx.saved_tensors
        inner = y / gain
        return grad_output * gain * (1 - inner**2), grad_output * inner

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, low=0.5)


class SpansOfOne(Function):
    @staticmethod
    def forward(ctx, x, offsets):
        ctx.save_for_backward(offsets)
        bounds = offsets.tolist()
        parts = zip(bounds, bounds[1:], strict=False)
        return torch.stack([x[start:stop].sum() for start, stop in parts])

    @staticmethod
    def backward(ctx, grad_output):
        (offsets,) = ctx.saved_tensors
        return grad_output[:1].expand(int(offsets[-1])), None

    @staticmethod
    def sample_inputs():
        yield draw(6), torch.tensor([0, 6])


class LearnedWeightWithoutSum(Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return (weight * x * x).sum() / weight.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        of_weight = grad_output * x * x / weight.sum() if ctx.needs_input_grad[1] else None
        return 2 * grad_output * weight * x / weight.sum(), of_weight

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, low=0.3).detach()


class NoDirectionAtZero(Function):
    """The hyperbolic sine of a length along its direction; zero goes to zero."""

    @staticmethod
    def forward(ctx, v):
        length = v.norm(dim=-1, keepdim=True)
        factor = torch.where(length > 0, length.sinh() / length.clamp(min=1e-30), 1.0)
        ctx.save_for_backward(v, length)
        return factor * v

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        v, length = ctx.saved_tensors
        factor = length.sinh() / length
        slope = (length.cosh() - factor) / length**2
        return factor * grad_output + slope * v * (v * grad_output).sum(-1, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3),)


class DistanceOfEqualPairs(Function):
    @staticmethod
    def forward(ctx, a, b):
        length = (a - b).norm(dim=-1)
        ctx.save_for_backward(a - b, length)
        return (length**2).sin()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        apart, length = ctx.saved_tensors
        grad = (grad_output * 2 * length * (length**2).cos() / length)[:, None] * apart
        return grad, -grad

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), draw(3, 2) * 0.7 + 0.2
