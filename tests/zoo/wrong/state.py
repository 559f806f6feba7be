"""State that outlives a call, and randomness where there should be none."""

import torch
from torch.autograd import Function

_cache = {}
_buffer = torch.zeros(3, dtype=torch.float64)


def three():
    return torch.randn(3, dtype=torch.float64, requires_grad=True)


class NoiseInBackward(Function):
    expect = {"GT110"}

    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output + 1e-3 * torch.randn_like(grad_output)


class DropoutDrawnAgain(Function):
    """Backward draws a mask of its own."""

    expect = {"GT110"}

    @staticmethod
    def forward(ctx, x, p):
        ctx.p = p
        return x * 0.5

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * (torch.rand_like(grad_output) > ctx.p), None

    @staticmethod
    def sample_inputs():
        yield torch.randn(16, dtype=torch.float64, requires_grad=True), 0.5


class SavedOnTheClass(Function):
    expect = {"GT111"}

    @staticmethod
    def forward(ctx, x):
        SavedOnTheClass.x = x.detach().clone()
        return x * x * x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        x = SavedOnTheClass.x
        return grad_output * 3 * x * x


class SavedInTheModule(Function):
    expect = {"GT111"}

    @staticmethod
    def forward(ctx, x):
        _cache["y"] = x.detach().exp()
        return x.exp()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        return grad_output * _cache["y"]


class SharedWorkspace(Function):
    expect = {"GT111"}

    @staticmethod
    def forward(ctx, x):
        _buffer.copy_(x.detach())
        ctx.workspace = _buffer
        return x.sin()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        return grad_output * ctx.workspace.cos()

    @staticmethod
    def sample_inputs():
        yield (three(),)


class ScaleGrowsWithEveryCall(Function):
    """A warm-up counter on the class."""

    expect = {"GT110"}
    calls = 0

    @staticmethod
    def forward(ctx, x):
        return 1.0 * x

    @staticmethod
    def backward(ctx, grad_output):
        ScaleGrowsWithEveryCall.calls += 1
        return grad_output * min(1.0, ScaleGrowsWithEveryCall.calls / 100000)


class StackOfCalls(Function):
    """Pushed in forward and popped in backward: the last call comes first."""

    expect = {"GT111"}
    stack = []

    @staticmethod
    def forward(ctx, x):
        StackOfCalls.stack.append(x.detach().clone())
        return x.sin()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        x = StackOfCalls.stack[-1]
        return grad_output * x.cos()


class OutputBufferReused(Function):
    """The second call writes into the output of the first."""

    expect = {"GT111"}
    out = None

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        if OutputBufferReused.out is None or OutputBufferReused.out.shape != x.shape:
            OutputBufferReused.out = torch.empty(x.shape, dtype=x.dtype)
        OutputBufferReused.out.copy_(x.detach() * 3)
        return OutputBufferReused.out.view(x.shape)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 3

    @staticmethod
    def sample_inputs():
        yield (three(),)


class AccumulatesInAttribute(Function):
    """Every backward adds to what the ones before it left."""

    expect = {"GT110"}
    total = 0.0

    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        AccumulatesInAttribute.total = AccumulatesInAttribute.total + 2 * grad_output.detach()
        return AccumulatesInAttribute.total

    @staticmethod
    def sample_inputs():
        yield (three(),)
