"""What backward returns does not fit the arguments: count, shape, type, None."""

import numpy as np
import torch
from torch.autograd import Function


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class ForgotNoneForFactor(Function):
    expect = {"GT102"}

    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor

    @staticmethod
    def sample_inputs():
        yield rand(3), 2.0


class ForgotBias(Function):
    expect = {"GT102"}

    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return x @ weight + bias

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        return grad_output @ weight.t(), x.t() @ grad_output

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(3, 4), rand(4)


class GradientForCtx(Function):
    """One too many, as if ctx were an argument."""

    expect = {"GT102"}

    @staticmethod
    def forward(ctx, x):
        return 3 * x

    @staticmethod
    def backward(ctx, grad_output):
        return None, 3 * grad_output


class OneForEachOutput(Function):
    """Two outputs, one input: as many gradients as outputs."""

    expect = {"GT102"}

    @staticmethod
    def forward(ctx, x):
        return 2 * x, 3 * x

    @staticmethod
    def backward(ctx, grad_double, grad_triple):
        return 2 * grad_double, 3 * grad_triple


class UnsqueezedGradient(Function):
    expect = {"GT103"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x * x).sum(-1)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return (2 * grad_output.unsqueeze(-1) * x).t()

    @staticmethod
    def sample_inputs():
        yield (rand(2, 3),)


class NotExpanded(Function):
    expect = {"GT103"}

    @staticmethod
    def forward(ctx, x):
        return x.sum(-1)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output

    @staticmethod
    def sample_inputs():
        yield (rand(2, 3),)


class MatmulGradientsSwapped(Function):
    expect = {"GT103"}

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        return a.t() @ grad_output, grad_output @ b.t()

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(3, 4)


class ScalarReducedTooFar(Function):
    expect = {"GT103"}

    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        return grad_output * scale, (grad_output * x).sum()

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(2, 3)


class BroadcastSummedOverWrongAxis(Function):
    expect = {"GT103"}

    @staticmethod
    def forward(ctx, x, column):
        return x + column

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output.sum(0, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(2, 1)


class FlattenedGradient(Function):
    expect = {"GT103"}

    @staticmethod
    def forward(ctx, x):
        return x.flatten() * 2

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 2

    @staticmethod
    def sample_inputs():
        yield (rand(2, 3),)


class SingleGradient(Function):
    """float() to be on the safe side."""

    expect = {"GT104"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return (grad_output * x.cos()).float()


class DefaultDtypeBuffer(Function):
    expect = {"GT104"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x[::2] * 3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad = torch.zeros(x.shape, dtype=torch.float32)
        grad[::2] = 3 * grad_output
        return grad

    @staticmethod
    def sample_inputs():
        yield (rand(5),)


class ComplexForReal(Function):
    expect = {"GT104"}

    @staticmethod
    def forward(ctx, x, phase):
        ctx.save_for_backward(phase)
        return x * phase

    @staticmethod
    def backward(ctx, grad_output):
        (phase,) = ctx.saved_tensors
        return grad_output * phase.conj(), None

    @staticmethod
    def sample_inputs():
        yield rand(3), torch.randn(3, dtype=torch.complex128)


class NumPyGradient(Function):
    expect = {"GT104"}

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad_output):
        return np.asarray(grad_output.detach().numpy()) * 2


class PythonNumberAsGradient(Function):
    expect = {"GT104"}

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad_output):
        return 2.0


class GradientForIndex(Function):
    expect = {"GT105"}

    @staticmethod
    def forward(ctx, x, index):
        ctx.save_for_backward(index)
        ctx.n = x.shape[0]
        return x[index]

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        grad = torch.zeros(ctx.n, dtype=grad_output.dtype).index_add(0, index, grad_output)
        return grad, grad_output

    @staticmethod
    def sample_inputs():
        yield rand(4), torch.tensor([2, 0, 1])


class GradientForNumber(Function):
    expect = {"GT105"}

    @staticmethod
    def forward(ctx, x, exponent):
        ctx.save_for_backward(x)
        ctx.exponent = exponent
        return x**exponent

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad = grad_output * ctx.exponent * x ** (ctx.exponent - 1)
        return grad, (grad_output * x**ctx.exponent).sum()

    @staticmethod
    def sample_inputs():
        yield rand(3), 2


class GradientForMask(Function):
    expect = {"GT105"}

    @staticmethod
    def forward(ctx, mask, x):
        ctx.save_for_backward(mask, x)
        return x * mask

    @staticmethod
    def backward(ctx, grad_output):
        mask, x = ctx.saved_tensors
        return grad_output * x, grad_output * mask

    @staticmethod
    def sample_inputs():
        yield torch.tensor([True, False, True]), rand(3)


class NoneForWeight(Function):
    expect = {"GT106"}

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(weight)
        return x * weight

    @staticmethod
    def backward(ctx, grad_output):
        (weight,) = ctx.saved_tensors
        return grad_output * weight, None


class NothingReturned(Function):
    """Computed, and the return forgotten."""

    expect = {"GT106"}

    @staticmethod
    def forward(ctx, x):
        return 3 * x

    @staticmethod
    def backward(ctx, grad_output):
        grad_input = 3 * grad_output  # noqa: F841


class OffByOneAfterNumber(Function):
    """needs_input_grad counts arguments that are no tensors, too."""

    expect = {"GT106"}

    @staticmethod
    def forward(ctx, x, alpha, weight):
        ctx.save_for_backward(x, weight)
        ctx.alpha = alpha
        return alpha * x * weight

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grad_x = grad_weight = None
        if ctx.needs_input_grad[0]:
            grad_x = ctx.alpha * grad_output * weight
        if ctx.needs_input_grad[1]:
            grad_weight = ctx.alpha * grad_output * x
        return grad_x, None, grad_weight

    @staticmethod
    def sample_inputs():
        yield rand(3), 0.5, rand(3)


class NoneAtTheEndForFirst(Function):
    expect = {"GT106"}

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x.sin() + 0.25 * y

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors
        return grad_output * x.cos(), None


class BiasOnlyIfTrue(Function):
    """`if bias` asks for the value; here it meant "is not None"."""

    expect = {"GT106"}

    @staticmethod
    def forward(ctx, x, bias):
        ctx.has_bias = bias is None
        return 2 * x + bias

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output, grad_output.clone() if ctx.has_bias else None

    @staticmethod
    def sample_inputs():
        yield rand(3), rand(3)
