"""Tensors kept for backward where autograd does not look, and digits that are not kept."""

import torch
from torch.autograd import Function

D = torch.float64


def r(*shape):
    return torch.randn(*shape, dtype=D, requires_grad=True)


class InputInClosure(Function):
    """Kept inside a functools.partial / closure rather than as an attribute."""

    expect = {"GT505"}
    at = "forward"

    @staticmethod
    def forward(ctx, x):
        ctx.grad_fn_ = lambda g: g * 2 * x
        return x * x

    @staticmethod
    def backward(ctx, g):
        return ctx.grad_fn_(g)


class InputInDictOnCtx(Function):
    expect = {"GT505"}
    at = "forward"

    @staticmethod
    def forward(ctx, x, w):
        ctx.cache = {"x": x, "w": w}
        return x * w

    @staticmethod
    def backward(ctx, g):
        c = ctx.cache
        return g * c["w"], g * c["x"]

    @staticmethod
    def sample_inputs():
        yield r(3), r(3)


class CtxSelfCycle(Function):
    """A closure on ctx refers to ctx."""

    expect = {"GT510"}
    at = "forward"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.pull = lambda g: g * ctx.saved_tensors[0].cos()
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        return ctx.pull(g)


class JvpInFloat32(Function):
    expect = {"GT302"}
    at = "jvp"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x.tanh()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (1 - x.tanh() ** 2)

    @staticmethod
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        return (t.float() * (1 - x.float().tanh() ** 2)).double()


class FlashLSESavedInFloat32(Function):
    """The log-sum-exp is stored in float32 to save memory."""

    expect = {"GT601"}

    @staticmethod
    def forward(ctx, s):
        lse = torch.logsumexp(s, -1, keepdim=True)
        ctx.save_for_backward(s, lse.float())
        return torch.exp(s - lse)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        s, lse = ctx.saved_tensors
        p = torch.exp(s - lse)
        return p * (g - (g * p).sum(-1, keepdim=True))

    @staticmethod
    def sample_inputs():
        yield (r(3, 4),)
