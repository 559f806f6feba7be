"""What a call leaves where another call finds it."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

D = torch.float64
_last = None
_shape = None
_pool = {}


def r(*shape):
    return torch.randn(*shape, dtype=D, requires_grad=True)


class FactorOnTheClass(Function):
    """A plain number kept on the class."""

    expect = {"GT111"}

    @staticmethod
    def forward(ctx, x, factor):
        FactorOnTheClass.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, g):
        return g * FactorOnTheClass.factor, None

    @staticmethod
    def sample_inputs():
        yield r(3), 2.0


class ShapeInGlobal(Function):
    expect = {"GT111"}

    @staticmethod
    def forward(ctx, x):
        global _shape
        _shape = x.shape
        return x.reshape(-1) * 2

    @staticmethod
    def backward(ctx, g):
        return 2 * g.reshape(_shape)  # <-

    @staticmethod
    def sample_inputs():
        yield (r(3, 2),)


class MaskOnTheClass(Function):
    expect = {"GT111"}

    @staticmethod
    def forward(ctx, x):
        MaskOnTheClass.mask = x > 0
        return torch.where(MaskOnTheClass.mask, x, 0.1 * x)

    @staticmethod
    def backward(ctx, g):
        return torch.where(MaskOnTheClass.mask, g, 0.1 * g)


class ArgmaxOnTheClass(Function):
    expect = {"GT111"}

    @staticmethod
    def forward(ctx, x):
        ArgmaxOnTheClass.i = int(x.argmax())
        ctx.n = x.numel()
        return x.max()

    @staticmethod
    def backward(ctx, g):
        out = g.new_zeros(ctx.n)
        out[ArgmaxOnTheClass.i] = g
        return out

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.5, 4.0, -1.0], dtype=D, requires_grad=True),)


class IndicesOnTheClass(Function):
    """The lookup's indices are kept on the class."""

    expect = {"GT111"}

    @staticmethod
    def forward(ctx, weight, idx):
        IndicesOnTheClass.idx = idx
        ctx.rows = weight.shape[0]
        return weight[idx]

    @staticmethod
    def backward(ctx, g):
        return g.new_zeros(ctx.rows, g.shape[1]).index_add(0, IndicesOnTheClass.idx, g), None

    @staticmethod
    def sample_inputs():
        yield r(5, 2), torch.tensor([4, 0, 1])


class DropoutMaskSavedOnClass(Function):
    expect = {"GT111"}

    @staticmethod
    def forward(ctx, x):
        DropoutMaskSavedOnClass.mask = (torch.rand_like(x) > 0.5).to(x.dtype)
        return x * DropoutMaskSavedOnClass.mask

    @staticmethod
    def backward(ctx, g):
        return g * DropoutMaskSavedOnClass.mask


class CacheByShape(Function):
    """A workspace by shape holds the mask of the latest call."""

    expect = {"GT111"}

    @staticmethod
    def forward(ctx, x):
        m = _pool.setdefault(tuple(x.shape), torch.zeros_like(x))
        m.copy_((x > 0).to(x.dtype))
        ctx.shape = tuple(x.shape)
        return x * m

    @staticmethod
    def backward(ctx, g):
        return g * _pool[ctx.shape]


class GradientBufferReused(Function):
    """The gradient is written into one buffer of the class and returned."""

    expect = {"GT111"}
    buffer = torch.zeros(4, dtype=D)

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        torch.mul(g, 2 * x, out=GradientBufferReused.buffer)
        return GradientBufferReused.buffer

    @staticmethod
    def sample_inputs():
        yield (r(4),)


class SetInBackwardUsedInForward(Function):
    """Gradient clipping statistics feed the next forward."""

    expect = {"GT111"}
    gain = 1.0

    @staticmethod
    def forward(ctx, x):
        ctx.gain = SetInBackwardUsedInForward.gain
        return x * ctx.gain

    @staticmethod
    def backward(ctx, g):
        SetInBackwardUsedInForward.gain *= 1.01
        return g * ctx.gain


class LastInputGlobal(Function):
    """backward reads the module's last ctx."""

    expect = {"GT111"}

    @staticmethod
    def forward(ctx, x):
        global _last
        _last = x.detach().clone()
        return x.exp()

    @staticmethod
    def backward(ctx, g):
        return g * _last.exp()


class DefaultArgumentCache(Function):
    """A mutable default argument as cache."""

    expect = {"GT111"}

    @staticmethod
    def forward(ctx, x, cache={}):  # noqa: B006 - the mistake
        cache["y"] = torch.tanh(x.detach())
        ctx.cache = cache
        return torch.tanh(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * (1 - ctx.cache["y"] ** 2), None


class SavedFlagInBackwardFirst(Function):
    """Frees what it saved on the first backward."""

    expect = {"GT110"}

    @staticmethod
    def forward(ctx, x):
        ctx.mask = (x > 0).to(x.dtype)
        return x * ctx.mask

    @staticmethod
    def backward(ctx, g):
        m = ctx.mask
        del ctx.mask
        return g * m


class SlopeOfFirstCall(Function):
    """The slope is computed once for each shape, and never again."""

    expect = {"GT111"}
    slopes = {}

    @staticmethod
    def forward(ctx, x):
        ctx.key = tuple(x.shape)
        SlopeOfFirstCall.slopes.setdefault(ctx.key, x.detach().exp())
        return x.exp()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * SlopeOfFirstCall.slopes[ctx.key]

    @staticmethod
    def sample_inputs():
        yield (r(4),)
