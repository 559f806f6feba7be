"""Every freedom that autograd gives a Function, used as it may be; all right."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class DoubleInPlace(Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 2


class ExpInPlaceSavesOutput(Function):
    @staticmethod
    def forward(ctx, x):
        x.exp_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y


class SortWithIndices(Function):
    @staticmethod
    def forward(ctx, x):
        values, order = x.sort()
        ctx.mark_non_differentiable(order)
        ctx.save_for_backward(order)
        return values, order

    @staticmethod
    def backward(ctx, grad_values, _):
        (order,) = ctx.saved_tensors
        grad = torch.zeros_like(grad_values)
        return grad.scatter(0, order, grad_values)

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.3, 2.0, -1.0, 1.5], dtype=torch.float64, requires_grad=True)
        yield (x,)


class TopK(Function):
    @staticmethod
    def forward(ctx, x, k):
        values, index = x.topk(k)
        ctx.mark_non_differentiable(index)
        ctx.save_for_backward(index)
        ctx.n = x.shape[0]
        return values, index

    @staticmethod
    def backward(ctx, grad_values, _):
        (index,) = ctx.saved_tensors
        grad = torch.zeros(ctx.n, dtype=grad_values.dtype)
        return grad.scatter(0, index, grad_values), None

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.3, 2.0, -1.0, 1.5], dtype=torch.float64, requires_grad=True)
        yield x, 2


class FloatMaskOutput(Function):
    """A floating output that is declared constant, and is."""

    @staticmethod
    def forward(ctx, x):
        mask = (x > 0).to(x.dtype)
        ctx.mark_non_differentiable(mask)
        ctx.save_for_backward(mask)
        return x * mask, mask

    @staticmethod
    def backward(ctx, grad_output, _):
        (mask,) = ctx.saved_tensors
        return grad_output * mask

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.3, 2.0, -1.0, 1.5], dtype=torch.float64, requires_grad=True)
        yield (x,)


class LinearWithShortcuts(Function):
    @staticmethod
    def forward(ctx, x, weight, bias=None):
        ctx.save_for_backward(x, weight, bias)
        output = x.mm(weight.t())
        if bias is not None:
            output = output + bias
        return output

    @staticmethod
    def backward(ctx, grad_output):
        x, weight, bias = ctx.saved_tensors
        grad_x = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_x = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(x)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_x, grad_weight, grad_bias

    @staticmethod
    def sample_inputs():
        yield rand(1, 3), rand(2, 3), rand(2)
        yield rand(1, 3), rand(2, 3)


class SavesWhatIsNeeded(Function):
    @staticmethod
    def forward(ctx, x, weight):
        for_x = weight if ctx.needs_input_grad[0] else None
        for_weight = x if ctx.needs_input_grad[1] else None
        ctx.save_for_backward(for_x, for_weight)
        return x * weight

    @staticmethod
    def backward(ctx, grad_output):
        weight, x = ctx.saved_tensors
        grad_x = grad_output * weight if ctx.needs_input_grad[0] else None
        grad_weight = grad_output * x if ctx.needs_input_grad[1] else None
        return grad_x, grad_weight


class NumberBetweenTensors(Function):
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
        if ctx.needs_input_grad[2]:
            grad_weight = ctx.alpha * grad_output * x
        return grad_x, None, grad_weight

    @staticmethod
    def sample_inputs():
        yield rand(3), 0.5, rand(3)


class UnmaterializedPair(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x.sin(), x.exp()

    @staticmethod
    def backward(ctx, grad_sin, grad_exp):
        (x,) = ctx.saved_tensors
        grad = None
        if grad_sin is not None:
            grad = grad_sin * x.cos()
        if grad_exp is not None:
            term = grad_exp * x.exp()
            grad = term if grad is None else grad + term
        return grad


class UnmaterializedSingle(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return 3 * x

    @staticmethod
    def backward(ctx, grad_output):
        if grad_output is None:
            return None
        return 3 * grad_output


class ThreeOutputs(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y, (x * x).sum()

    @staticmethod
    def backward(ctx, grad_product, grad_sum, grad_square):
        x, y = ctx.saved_tensors
        return (
            grad_product * y + grad_sum + 2 * grad_square * x,
            grad_product * x + grad_sum,
        )


class OutputIsInput(Function):
    """The identity, with the gradient's sign reversed twice: returns its input as it is."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone()


class ViewOfInput(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.reshape(-1)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.reshape(ctx.shape)

    @staticmethod
    def sample_inputs():
        yield (rand(2, 3),)


class DetachedView(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.detach()[1:]

    @staticmethod
    def backward(ctx, grad_output):
        grad = torch.zeros(ctx.shape, dtype=grad_output.dtype)
        grad[1:] = grad_output
        return grad

    @staticmethod
    def sample_inputs():
        yield (rand(4),)


class TransposedResult(Function):
    """A result, and a gradient, that are not contiguous."""

    @staticmethod
    def forward(ctx, x):
        return (2 * x).t()

    @staticmethod
    def backward(ctx, grad_output):
        return (2 * grad_output).t()

    @staticmethod
    def sample_inputs():
        yield (rand(2, 3),)


class TransposedArgument(Function):
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
        yield (torch.randn(3, 2, dtype=torch.float64).t().requires_grad_(),)


class ContiguousFirst(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return 2 * x.contiguous().view(-1)

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output.contiguous().view(ctx.shape)

    @staticmethod
    def sample_inputs():
        yield (rand(2, 3),)


class CopyChangedInPlace(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = x.clone()
        y[y < 0] *= 0.1
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad = grad_output.clone()
        grad[x < 0] *= 0.1
        return grad

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.3, 2.0, -1.0, 1.5], dtype=torch.float64, requires_grad=True)
        yield (x,)


class ReadsThroughNumPy(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(x.detach().numpy() ** 3)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return torch.from_numpy(3 * x.detach().numpy() ** 2) * grad_output


class IntermediateDeclared(Function):
    @staticmethod
    def forward(ctx, x):
        t = x.tanh()
        ctx.save_for_backward(t)
        return t * t

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (t,) = ctx.saved_tensors
        return grad_output * 2 * t * (1 - t * t)


class IntermediateReturned(Function):
    @staticmethod
    def forward(ctx, x):
        t = x.tanh()
        ctx.save_for_backward(t)
        return t * t, t

    @staticmethod
    def backward(ctx, grad_output, grad_t):
        (t,) = ctx.saved_tensors
        return (grad_output * 2 * t + grad_t) * (1 - t * t)


class NormCopyOnCtx(Function):
    """Numbers, shapes and dtypes may live on ctx."""

    @staticmethod
    def forward(ctx, x, factor, axis):
        ctx.shape, ctx.factor, ctx.axis, ctx.dtype = x.shape, factor, axis, x.dtype
        return factor * x.sum(axis)

    @staticmethod
    def backward(ctx, grad_output):
        grad = grad_output.unsqueeze(ctx.axis).expand(ctx.shape)
        return ctx.factor * grad.to(ctx.dtype), None, None

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), 0.5, 1


class BroadcastLeftToAutograd(Function):
    """autograd sums a gradient that broadcasting has made larger."""

    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone(), grad_output.clone()

    @staticmethod
    def sample_inputs():
        yield rand(3, 2), rand(2)


class TrailingNones(Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output, None, None


class KeywordDefaults(Function):
    @staticmethod
    def forward(x, scale=2.0, shift=1.0):
        return scale * x + shift

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.scale = inputs[1]

    @staticmethod
    def backward(ctx, grad_output):
        return ctx.scale * grad_output, None, None


class DropoutKeepsMask(Function):
    @staticmethod
    def forward(ctx, x, p):
        mask = (torch.rand(x.shape) > p).to(x.dtype) / (1 - p)
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        return grad_output * mask, None

    @staticmethod
    def sample_inputs():
        yield rand(6), 0.5


class GradientOfConstantArgument(Function):
    """Computes a gradient nobody asked for; autograd drops it."""

    @staticmethod
    def forward(ctx, x, target):
        ctx.save_for_backward(x, target)
        return (x - target) ** 2

    @staticmethod
    def backward(ctx, grad_output):
        x, target = ctx.saved_tensors
        grad = 2 * grad_output * (x - target)
        return grad, -grad

    @staticmethod
    def sample_inputs():
        yield rand(3), torch.randn(3, dtype=torch.float64)


class CachedConstant(Function):
    """A constant is computed once and kept on the class."""

    _weights = None

    @classmethod
    def weights(cls):
        if cls._weights is None:
            cls._weights = torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64)
        return cls._weights

    @staticmethod
    def forward(ctx, x):
        return x * CachedConstant.weights()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * CachedConstant.weights()

    @staticmethod
    def sample_inputs():
        yield (rand(3),)


class CountsCalls(Function):
    """State that changes nothing of what is computed."""

    calls = 0

    @staticmethod
    def forward(ctx, x):
        CountsCalls.calls += 1
        ctx.save_for_backward(x)
        return x.cosh()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.sinh()


class OnlyVjp(Function):
    @staticmethod
    def forward(x):
        return x**2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def vjp(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * grad_output * x
