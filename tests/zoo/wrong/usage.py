"""Right formulas, used wrongly: ctx, modes, shapes that come later, NumPy, dtypes."""

import numpy as np
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class NumPyMemoryReused(Function):
    """The array of the saved input is changed in place by backward."""

    expect = {"GT504"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        array = x.detach().numpy()
        np.exp(array, out=array)
        return g * torch.from_numpy(array.copy())


class GradOfAutogradReleased(Function):
    """Keeps the inner graph on ctx; a second backward finds it released."""

    expect = {"GT110"}

    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.x = x.detach().clone().requires_grad_()
            ctx.y = ctx.x.sin().sum()
        return ctx.y.detach().clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (grad,) = torch.autograd.grad(ctx.y, ctx.x)
        return g * grad


class StateBetweenLayers(Function):
    """A dict at module level, keyed by shape."""

    expect = {"GT111"}
    cache = {}

    @staticmethod
    def forward(ctx, x):
        y = x.tanh()
        StateBetweenLayers.cache[tuple(x.shape)] = y.detach().clone()
        ctx.key = tuple(x.shape)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        y = StateBetweenLayers.cache[ctx.key]
        return g * (1 - y * y)


class ListOfGradients(Function):
    """The gradients come back nested in a tuple."""

    expect = {"GT102"}

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return ((g * b, g * a),)

    @staticmethod
    def sample_inputs():
        yield rand(3), rand(3)


class KeepdimForgotten(Function):
    """Works for a square input by accident of broadcasting."""

    expect = {"GT101"}
    diagnosis = "other"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x / x.sum(1, keepdim=True)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        total = x.sum(1, keepdim=True)
        return g / total - (g * x).sum(1) / total**2

    @staticmethod
    def sample_inputs():
        yield ((torch.rand(3, 3, dtype=torch.float64) + 0.5).requires_grad_(),)


class MutatesArgumentList(Function):
    """Normalises its weight in place and says nothing."""

    expect = {"GT501"}
    at = "forward"

    @staticmethod
    def forward(ctx, x, weight):
        weight /= weight.norm()
        ctx.save_for_backward(x, weight)
        return x * weight

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        return g * weight, g * x

    @staticmethod
    def sample_inputs():
        yield rand(3), torch.randn(3, dtype=torch.float64)


class DefaultDtypeMask(Function):
    """A float32 buffer is filled and returned for a float64 input."""

    expect = {"GT104"}

    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.sum()

    @staticmethod
    def backward(ctx, g):
        grad = torch.zeros(ctx.shape)
        grad[:] = g
        return grad


class OutputSavedThenScaled(Function):
    """Saves what it then multiplies in place."""

    expect = {"GT101"}
    diagnosis = "factor"

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return 3 * y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class NeedsInputGradOfCtx(Function):
    """Tests the second flag for the first gradient."""

    expect = {"GT109"}

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        if not ctx.needs_input_grad[1]:
            return None, None
        return g * w, g * x

    @staticmethod
    def sample_inputs():
        yield rand(3), rand(3)


class TemperatureOnClass(Function):
    """A schedule that moves with every backward."""

    expect = {"GT110"}
    temperature = 1.0

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        TemperatureOnClass.temperature *= 0.9
        return g * x.cos() * TemperatureOnClass.temperature


class OneSidedBroadcast(Function):
    """Expects the bias to be a row; here it is a column."""

    expect = {"GT103"}

    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    def backward(ctx, g):
        return g, g.sum(0)

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), rand(4, 1)


class SqrtOfZeroDistance(Function):
    """A distance of two equal points."""

    expect = {"GT114"}

    @staticmethod
    def forward(ctx, a, b):
        d = (a - b).square().sum(-1).sqrt()
        ctx.save_for_backward(a, b, d)
        return d

    @staticmethod
    def backward(ctx, g):
        a, b, d = ctx.saved_tensors
        grad = g[:, None] * (a - b) / d[:, None]  # <-
        return grad, -grad

    @staticmethod
    def sample_inputs():
        a = torch.tensor([[1.0, 2.0], [0.5, -1.0]], dtype=torch.float64, requires_grad=True)
        b = torch.tensor([[1.0, 2.0], [1.5, 1.0]], dtype=torch.float64, requires_grad=True)
        yield a, b


class ComplexGainNotConjugated(Function):
    expect = {"GT101"}
    diagnosis = "conjugate"

    @staticmethod
    def forward(ctx, x, gain):
        ctx.save_for_backward(x, gain)
        return x * gain

    @staticmethod
    def backward(ctx, g):
        x, gain = ctx.saved_tensors
        return g * gain, g * x

    @staticmethod
    def sample_inputs():
        yield (
            torch.randn(3, dtype=torch.complex128, requires_grad=True),
            torch.randn(3, dtype=torch.complex128, requires_grad=True),
        )


class MagnitudeWithoutPhase(Function):
    expect = {"GT101"}
    diagnosis = "inner"
    says = "multiplies the path through `z.abs()` (line"

    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return z.abs()

    @staticmethod
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        return g * z

    @staticmethod
    def sample_inputs():
        yield (torch.randn(3, dtype=torch.complex128, requires_grad=True),)


class SumOfSquaresInHalf(Function):
    """Accumulates in float16 on the way back."""

    expect = {"GT101"}
    diagnosis = "rounded"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.square().sum()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x.half().double()
