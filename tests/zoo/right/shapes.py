"""Arguments and shapes of every kind; all right."""

from gradtool import (
    Function,
    Tensor,
    float64,
    once_differentiable,
    randn,
    tensor,
    zeros,
    zeros_like,
)
from gradtool.engine import cat, complex128, cummax, einsum, int64, stack


def rand(*shape):
    return randn(*shape, dtype=float64, requires_grad=True)


class ZeroSize(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.cos()

    @staticmethod
    def sample_inputs():
        yield (rand(3),)
        yield (rand(1),)
        yield (rand(()),)


class Broadcasting(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        return reduced(grad_output * b, a.shape), reduced(grad_output * a, b.shape)

    @staticmethod
    def sample_inputs():
        yield rand(2, 1), rand(3)
        yield rand(3), rand(())
        yield rand(2), rand(2)


def reduced(grad, shape):
    """Sums `grad` over what broadcasting has made larger than `shape`."""
    while grad.dim() > len(shape):
        grad = grad.sum(0)
    for axis, extent in enumerate(shape):
        if extent == 1 and grad.shape[axis] != 1:
            grad = grad.sum(axis, keepdim=True)
    return grad


class Cumsum(Function):
    @staticmethod
    def forward(ctx, x, axis):
        ctx.axis = axis
        return x.cumsum(axis)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.flip(ctx.axis).cumsum(ctx.axis).flip(ctx.axis), None

    @staticmethod
    def sample_inputs():
        yield rand(2, 4), 1


class Cumprod(Function):
    """Products of numbers that are not zero."""

    @staticmethod
    def forward(ctx, x):
        y = x.cumprod(0)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return (grad_output * y).flip(0).cumsum(0).flip(0) / x

    @staticmethod
    def sample_inputs():
        yield (tensor([1.5, -0.5, 2.0, 0.75], dtype=float64, requires_grad=True),)


class RunningMaximum(Function):
    @staticmethod
    def forward(ctx, x):
        values, index = cummax(x, 0)
        ctx.save_for_backward(index)
        return values

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        return zeros_like(grad_output).scatter_add(0, index, grad_output)

    @staticmethod
    def sample_inputs():
        yield (tensor([1.5, -0.5, 2.0, 0.75], dtype=float64, requires_grad=True),)


class Embedding(Function):
    @staticmethod
    def forward(ctx, index, table):
        ctx.save_for_backward(index)
        ctx.shape = table.shape
        return table[index]

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        return None, grad_output.new_zeros(ctx.shape).index_add(0, index, grad_output)

    @staticmethod
    def sample_inputs():
        yield tensor([1, 3, 1], dtype=int64), rand(4, 2)


class MaskedByBool(Function):
    @staticmethod
    def forward(ctx, x, mask):
        ctx.save_for_backward(mask)
        return x.masked_fill(mask, 0.0)

    @staticmethod
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        return grad_output.masked_fill(mask, 0.0), None

    @staticmethod
    def sample_inputs():
        yield rand(4), tensor([True, False, True, False])


class ModeByString(Function):
    @staticmethod
    def forward(ctx, x, reduction="mean"):
        ctx.shape, ctx.reduction = x.shape, reduction
        return x.mean() if reduction == "mean" else x.sum()

    @staticmethod
    def backward(ctx, grad_output):
        grad = grad_output.expand(ctx.shape)
        return grad / grad.numel() if ctx.reduction == "mean" else grad.clone(), None

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), "mean"
        yield rand(2, 3), "sum"


class PermutedByList(Function):
    @staticmethod
    def forward(ctx, x, order):
        ctx.order = order
        return x.permute(order) * 2

    @staticmethod
    def backward(ctx, grad_output):
        back = [ctx.order.index(axis) for axis in range(len(ctx.order))]
        return grad_output.permute(back) * 2, None

    @staticmethod
    def sample_inputs():
        yield rand(2, 3, 1), [2, 0, 1]


class OptionalWeight(Function):
    @staticmethod
    def forward(ctx, x, weight=None):
        ctx.save_for_backward(x, weight)
        return x.sin() if weight is None else x.sin() * weight

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        if weight is None:
            return grad_output * x.cos(), None
        return grad_output * weight * x.cos(), grad_output * x.sin()

    @staticmethod
    def sample_inputs():
        yield rand(3), None
        yield rand(3), rand(3)


class ConcatenateTwo(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.split = a.shape[0]
        return cat([a, b])

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output[: ctx.split], grad_output[ctx.split :]

    @staticmethod
    def sample_inputs():
        yield rand(2), rand(3)


class SplitInThree(Function):
    @staticmethod
    def forward(ctx, x):
        return x[0] * 1, x[1] * 2, x[2] * 3

    @staticmethod
    def backward(ctx, first, second, third):
        return stack([first, 2 * second, 3 * third])

    @staticmethod
    def sample_inputs():
        yield (rand(3, 2),)


class AnyNumberOfTerms(Function):
    @staticmethod
    def forward(ctx, *terms):
        ctx.count = len(terms)
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total * 1.0

    @staticmethod
    def backward(ctx, grad_output):
        return tuple(grad_output.clone() for _ in range(ctx.count))

    @staticmethod
    def sample_inputs():
        yield rand(2), rand(2), rand(2)


class ComplexProduct(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        return grad_output * b.conj(), grad_output * a.conj()

    @staticmethod
    def sample_inputs():
        yield (
            randn(2, dtype=complex128, requires_grad=True),
            randn(2, dtype=complex128, requires_grad=True),
        )


class ComplexExp(Function):
    @staticmethod
    def forward(ctx, z):
        y = z.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y.conj()

    @staticmethod
    def sample_inputs():
        yield (randn(2, dtype=complex128, requires_grad=True),)


class ComplexModulusSquared(Function):
    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return z.real**2 + z.imag**2

    @staticmethod
    def backward(ctx, grad_output):
        (z,) = ctx.saved_tensors
        return 2 * grad_output * z

    @staticmethod
    def sample_inputs():
        yield (randn(2, dtype=complex128, requires_grad=True),)


class RealTimesPhase(Function):
    """A real input of a complex output gets the real part."""

    @staticmethod
    def forward(ctx, x, phase):
        ctx.save_for_backward(phase)
        return x * phase

    @staticmethod
    def backward(ctx, grad_output):
        (phase,) = ctx.saved_tensors
        return (grad_output * phase.conj()).real, None

    @staticmethod
    def sample_inputs():
        yield rand(3), randn(3, dtype=complex128)


class Flip(Function):
    @staticmethod
    def forward(ctx, x):
        return x.flip(-1)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.flip(-1)


class TraceOfProduct(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return (a * b.t()).sum()

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        return grad_output * b.t(), grad_output * a.t()

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(3, 2)


class Bilinear(Function):
    @staticmethod
    def forward(ctx, x, weight, y):
        ctx.save_for_backward(x, weight, y)
        return einsum("bi,ij,bj->b", x, weight, y)

    @staticmethod
    def backward(ctx, grad_output):
        x, weight, y = ctx.saved_tensors
        g = grad_output.unsqueeze(1)
        return g * (y @ weight.t()), (g * x).t() @ y, g * (x @ weight)

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(3, 2), rand(2, 2)


class TypedScale(Function):
    @staticmethod
    def forward(ctx, x: Tensor, factor: float = 2.0) -> Tensor:
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, None]:
        return grad_output * ctx.factor, None


class MedianOfOdd(Function):
    @staticmethod
    def forward(ctx, x):
        index = x.argsort()[x.shape[0] // 2]
        ctx.save_for_backward(index)
        ctx.n = x.shape[0]
        return x[index] * 1.0

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        grad = zeros(ctx.n, dtype=float64)
        grad[index] = grad_output
        return grad

    @staticmethod
    def sample_inputs():
        yield (tensor([1.5, -0.5, 2.0, 0.75, 0.1], dtype=float64, requires_grad=True),)
