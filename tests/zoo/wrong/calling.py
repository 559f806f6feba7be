"""How a Function is called, batched and differentiated again."""

import torch
from torch.autograd import Function

D = torch.float64


def r(*shape):
    return torch.randn(*shape, dtype=D, requires_grad=True)


class WeightLeftToItsDefault(Function):
    """Too few when the default is passed."""

    expect = {"GT102"}

    @staticmethod
    def forward(ctx, a, b, alpha: float = 0.5):
        ctx.alpha = alpha
        return torch.lerp(a, b, alpha)

    @staticmethod
    def backward(ctx, g):
        return g * (1 - ctx.alpha), g * ctx.alpha


class VmapGradientSumsBatch(Function):
    """The own vmap is right, backward through it sums over the batch axis as well."""

    expect = {"GT403"}

    @staticmethod
    def forward(x, s):
        return x * s

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        return g * s, (g * x).sum().expand(s.shape)

    @staticmethod
    def vmap(info, in_dims, x, s):
        x = x.movedim(in_dims[0], 0) if in_dims[0] is not None else x.unsqueeze(0)
        s = s.movedim(in_dims[1], 0) if in_dims[1] is not None else s.expand(info.batch_size)
        return VmapGradientSumsBatch.apply(x, s.reshape(-1, 1)), 0

    @staticmethod
    def sample_inputs():
        yield r(3), torch.tensor(0.7, dtype=D, requires_grad=True)


class GeneratedVmapWithItem(Function):
    expect = {"GT402"}
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if g.abs().sum().item() == 0:
            return torch.zeros_like(x)
        return 2 * x * g

    @staticmethod
    def sample_inputs():
        yield (r(3),)


class SecondRightOnlyAtZeroCase(Function):
    """Saved intermediate whose derivative vanishes at the case's point (x = 0)."""

    expect = {"GT506"}
    at = "forward"

    @staticmethod
    def forward(ctx, x):
        c = x.cos()
        ctx.save_for_backward(c)
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        (c,) = ctx.saved_tensors
        return g * c

    @staticmethod
    def sample_inputs():
        yield (torch.zeros(3, dtype=D, requires_grad=True),)


class KwargNoneMissing(Function):
    """setup_context style with a keyword default: apply binds them, so three are owed."""

    expect = {"GT102"}

    @staticmethod
    def forward(x, scale=2.0, shift=0.0):
        return x * scale + shift

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.scale, _ = inputs

    @staticmethod
    def backward(ctx, g):
        return g * ctx.scale


class GradForCtxToo(Function):
    """A None for ctx at the front."""

    expect = {"GT102"}

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return None, g * w, g * x

    @staticmethod
    def sample_inputs():
        yield r(3), r(3)
