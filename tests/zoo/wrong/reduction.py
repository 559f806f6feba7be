"""Sums, means and broadcasting, over the wrong axes or not at all."""

from gradtool import Function, float64, randn, zeros


def rand(*shape):
    return randn(*shape, dtype=float64, requires_grad=True)


class BiasMeanForSum(Function):
    expect = {"GT101"}
    diagnosis = "mean"

    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output.mean(0)

    @staticmethod
    def sample_inputs():
        yield rand(5, 3), rand(3)


class BiasOverWrongAxis(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output.sum(1)

    @staticmethod
    def sample_inputs():
        yield rand(3, 3), rand(3)


class BiasFirstRowOnly(Function):
    expect = {"GT101"}
    diagnosis = "reduce"

    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output[0]

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), rand(3)


class ScaleReducedByMean(Function):
    expect = {"GT101"}
    diagnosis = "mean"

    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        return grad_output * scale, (grad_output * x).mean()

    @staticmethod
    def sample_inputs():
        yield rand(4), rand(())


class MeanWithoutDivision(Function):
    expect = {"GT101"}
    diagnosis = "mean"

    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.mean()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.expand(ctx.shape)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class MeanDividedByWrongExtent(Function):
    expect = {"GT101"}
    diagnosis = "factor"

    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.mean(1)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.unsqueeze(1).expand(ctx.shape) / ctx.shape[0]

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class SumExpandedAlongWrongAxis(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.sum(0)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.unsqueeze(1).expand(ctx.shape)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 3),)


class VarianceBiased(Function):
    expect = {"GT101"}
    diagnosis = "factor"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.var(-1)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        centred = x - x.mean(-1, keepdim=True)
        return grad_output.unsqueeze(-1) * 2 * centred / x.shape[-1]

    @staticmethod
    def sample_inputs():
        yield (rand(2, 5),)


class NormWithoutDivision(Function):
    expect = {"GT101"}
    diagnosis = "inner"
    says = "multiplies the path through `x.norm(dim=-1)`"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.norm(dim=-1)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output.unsqueeze(-1) * x

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class AxisMaximumToEverybody(Function):
    expect = {"GT101"}
    diagnosis = "mask"

    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.max(-1).values

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.unsqueeze(-1).expand(ctx.shape)

    @staticmethod
    def sample_inputs():
        yield (rand(2, 4),)


class ElementwiseFromSum(Function):
    """What is right for a loss of sum() alone: one number for every element."""

    expect = {"GT101"}
    diagnosis = "places"
    says = "the mean of grad_output over all its entries"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output.mean()

    @staticmethod
    def sample_inputs():
        yield (rand(4),)


class LastElementDropped(Function):
    expect = {"GT101"}
    diagnosis = "slice"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad = zeros(x.shape, dtype=x.dtype)
        for i in range(x.shape[0] - 1):
            grad[i] = grad_output[i] * x[i].cos()
        return grad

    @staticmethod
    def sample_inputs():
        yield (rand(5),)


class OuterSumReducedTwice(Function):
    expect = {"GT101"}
    diagnosis = "swapped"

    @staticmethod
    def forward(ctx, a, b):
        return a.unsqueeze(1) + b.unsqueeze(0)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.sum(1), grad_output.sum(1)

    @staticmethod
    def sample_inputs():
        yield rand(3), rand(3)


class DotWithoutSumOverBatch(Function):
    """A shared vector gets the gradient of the last example, not of all."""

    expect = {"GT101"}
    diagnosis = "reduce"

    @staticmethod
    def forward(ctx, x, shared):
        ctx.save_for_backward(x, shared)
        return (x * shared).sum(-1)

    @staticmethod
    def backward(ctx, grad_output):
        x, shared = ctx.saved_tensors
        grad_x = grad_output.unsqueeze(-1) * shared
        grad_shared = grad_output[-1] * x[-1]
        return grad_x, grad_shared

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), rand(3)
