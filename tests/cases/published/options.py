"""Functions with flags, numbers and counts, of which forward itself says little."""

import math

import torch
from torch.autograd import Function


class GatedUnit(Function):
    @staticmethod
    def forward(ctx, x, store_compact, keep_on_host):
        kept = x.to(torch.float16) if store_compact else x
        if keep_on_host:
            kept = kept.cpu()
        ctx.save_for_backward(kept)
        ctx.store_compact = store_compact
        value, gate = x.chunk(2, dim=-1)
        return value * torch.sigmoid(gate)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        if ctx.store_compact:
            x = x.to(grad_output.dtype)
        value, gate = x.chunk(2, dim=-1)
        s = torch.sigmoid(gate)
        return torch.cat((grad_output * s, grad_output * value * s * (1 - s)), -1), None, None


class GatedUnitForgetsValue(Function):
    @staticmethod
    def forward(ctx, x, store_compact):
        ctx.save_for_backward(x.to(torch.float16) if store_compact else x)
        ctx.store_compact = store_compact
        value, gate = x.chunk(2, dim=-1)
        return value * torch.sigmoid(gate)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        value, gate = x.chunk(2, dim=-1)
        s = torch.sigmoid(gate)
        return torch.cat((grad_output * s, grad_output * s * (1 - s)), -1), None


class NormalCDF(Function):
    @staticmethod
    def forward(ctx, x, sigma):
        ctx.save_for_backward(x, torch.tensor(sigma))
        return 0.5 * torch.erf(x / (sigma * math.sqrt(2))) + 0.5

    @staticmethod
    def backward(ctx, grad_output):
        x, sigma = ctx.saved_tensors
        density = torch.exp(-0.5 * (x / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))
        return grad_output * density, None


class RateOverSteps(Function):
    @staticmethod
    def forward(ctx, frames, steps=8, level=1.0):
        ctx.steps = steps
        ctx.save_for_backward(frames, torch.as_tensor(level))
        return frames.mean(0) * level

    @staticmethod
    def backward(ctx, grad_output):
        frames, level = ctx.saved_tensors
        each = grad_output * level / ctx.steps
        of_frames = torch.stack([each for _ in range(ctx.steps)])
        return of_frames, None, (grad_output * frames.mean(0)).sum()


class PassedOn(Function):
    """More arguments may be passed, which nothing uses."""

    @staticmethod
    def forward(ctx, x, *args, **kwargs):
        return x + 1.0

    @staticmethod
    def backward(ctx, *grad_output):
        return grad_output


class DivisibleBlocks(Function):
    """Sums of blocks, whose default size is larger than any small tensor."""

    @staticmethod
    def forward(ctx, x, scale=1.0, block_size=64):
        rows = x.shape[0]
        if rows % block_size:
            raise ValueError(f"{rows} rows are not divisible by the block size {block_size}")
        ctx.block_size, ctx.scale = block_size, scale
        return scale * x.reshape(rows // block_size, block_size, *x.shape[1:]).sum(1)

    @staticmethod
    def backward(ctx, grad_output):
        return ctx.scale * grad_output.repeat_interleave(ctx.block_size, 0), None, None


class MomentUpdate(Function):
    @staticmethod
    def forward(ctx, *args):
        update, moment, (decay, eps) = args
        ctx.decay = decay
        return decay * moment + (1 - decay) * update + eps

    @staticmethod
    def backward(ctx, grad_output):
        return (1 - ctx.decay) * grad_output, ctx.decay * grad_output, None


class KnotValues(Function):
    """One knot is a special case, in which the values are not used."""

    @staticmethod
    def forward(ctx, x, values, num_knots):
        ctx.num_knots = num_knots
        ctx.save_for_backward(x, values)
        if num_knots == 1:
            return x * 2.0
        return x * values.sum() + num_knots

    @staticmethod
    def backward(ctx, grad_output):
        x, values = ctx.saved_tensors
        if ctx.num_knots == 1:
            return grad_output * 2.0, torch.zeros_like(values), None
        return grad_output * values.sum(), (grad_output * x).sum().expand_as(values), None


def _in_blocks(hidden):
    count = hidden.shape[-1]
    if count % 8:
        raise ValueError(f"hidden dim must be divisible by 8, got hidden={count}")
    return hidden.unflatten(-1, (-1, 8)).sum(-2)


class GatedInBlocks(Function):
    """The halves of a row have to be divisible, which a helper says of them."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        up, gate = x.chunk(2, dim=-1)
        return _in_blocks(up * gate)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        up, gate = x.chunk(2, dim=-1)
        grad = grad_output.repeat(1, up.shape[-1] // 8)
        return torch.cat([grad * gate, grad * up], dim=-1)
