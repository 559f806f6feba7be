"""The formula is right, and is applied to the wrong tensor."""

from gradtool import Function, float64, randn, tensor


def rand(*shape):
    return randn(*shape, dtype=float64, requires_grad=True)


class TanhAtOutput(Function):
    expect = {"GT101"}
    diagnosis = "output"

    @staticmethod
    def forward(ctx, x):
        y = x.tanh()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (1 - x.tanh() ** 2)


class SinAtOutput(Function):
    expect = {"GT101"}
    diagnosis = "output"

    @staticmethod
    def forward(ctx, x):
        y = x.sin()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y.cos()


class SquareAtOutput(Function):
    expect = {"GT101"}
    diagnosis = "output"

    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * 2 * y


class LogAtOutput(Function):
    expect = {"GT101"}
    diagnosis = "output"

    @staticmethod
    def forward(ctx, x):
        y = x.log()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output / y

    @staticmethod
    def sample_inputs():
        yield (tensor([0.3, 1.7, 4.0], dtype=float64, requires_grad=True),)


class ProductSwapped(Function):
    expect = {"GT101"}
    diagnosis = "swapped"

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        return grad_output * a, grad_output * b


class QuotientSwapped(Function):
    expect = {"GT101"}
    diagnosis = "swapped"

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a / b

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        return -grad_output * a / b**2, grad_output / b

    @staticmethod
    def sample_inputs():
        yield rand(3), tensor([1.5, -2.0, 3.0], dtype=float64, requires_grad=True)


class SavedInAnotherOrder(Function):
    expect = {"GT101"}
    diagnosis = "sign"

    @staticmethod
    def forward(ctx, x, center, width):
        ctx.save_for_backward(center, x, width)
        return (x - center) ** 2 / width

    @staticmethod
    def backward(ctx, grad_output):
        x, center, width = ctx.saved_tensors
        grad_x = 2 * grad_output * (x - center) / width
        return grad_x, -grad_x, -grad_output * (x - center) ** 2 / width**2

    @staticmethod
    def sample_inputs():
        yield rand(3), rand(3), tensor([1.5, 0.5, 2.0], dtype=float64, requires_grad=True)


class DifferenceBothPositive(Function):
    expect = {"GT101"}
    diagnosis = "sign"

    @staticmethod
    def forward(ctx, a, b):
        return a - b

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output


class LerpOtherWeight(Function):
    expect = {"GT101"}
    diagnosis = "swapped"

    @staticmethod
    def forward(ctx, start, end, weight):
        ctx.weight = weight
        return start + weight * (end - start)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.weight, grad_output * (1 - ctx.weight), None

    @staticmethod
    def sample_inputs():
        yield rand(4), rand(4), 0.2


class WeightedSumOfWrong(Function):
    """The weight's gradient is made of the output of the layer below, not of its input."""

    expect = {"GT101"}
    diagnosis = "other"
    says = "differentiates `x` where forward has `x.relu()`"

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x.relu() * weight

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        return grad_output * weight * (x > 0), grad_output * x

    @staticmethod
    def sample_inputs():
        x = tensor([0.5, -1.0, 2.0, -0.25], dtype=float64, requires_grad=True)
        yield x, rand(4)


class SumOfSquaresUsesFirst(Function):
    """Three inputs, copied and pasted twice, changed once."""

    expect = {"GT101"}
    diagnosis = "swapped"

    @staticmethod
    def forward(ctx, x, y, z):
        ctx.save_for_backward(x, y, z)
        return x**2 + y**2 + z**2

    @staticmethod
    def backward(ctx, grad_output):
        x, y, _ = ctx.saved_tensors
        return grad_output * 2 * x, grad_output * 2 * y, grad_output * 2 * y


class HypotDividesByInput(Function):
    expect = {"GT101"}
    diagnosis = "inner"

    @staticmethod
    def forward(ctx, a, b):
        r = (a * a + b * b).sqrt()
        ctx.save_for_backward(a, b, r)
        return r

    @staticmethod
    def backward(ctx, grad_output):
        a, b, r = ctx.saved_tensors
        return grad_output * a / r, grad_output * b / a


class MutatedBeforeSaved(Function):
    """Forward overwrites its own buffer after the formula of backward was thought out."""

    expect = {"GT101"}
    diagnosis = "other"
    says = "at the last value of `buffer`"

    @staticmethod
    def forward(ctx, x):
        buffer = x.clone()
        result = buffer**2
        buffer.add_(1)
        ctx.save_for_backward(buffer)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x
