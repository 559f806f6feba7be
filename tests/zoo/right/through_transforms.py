"""Right when differentiated or batched once more, though it looks as the wrong ones do."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class JvpFromTheOutput(Function):
    """The saved output has its place in the graph when jvp gets it."""

    @staticmethod
    def forward(ctx, x):
        y = x.tanh()
        ctx.save_for_backward(y)
        ctx.save_for_forward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * (1 - y * y)

    @staticmethod
    def jvp(ctx, x_t):
        (y,) = ctx.saved_tensors
        return x_t * (1 - y * y)


class JvpSaidToBeForOnce(Function):
    """The derivative of jvp is cut, as that of backward is said to be."""

    @staticmethod
    def forward(ctx, x):
        slope = 3 * x**2
        ctx.save_for_backward(slope)
        ctx.save_for_forward(slope)
        return x**3

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (slope,) = ctx.saved_tensors
        return grad_output * slope

    @staticmethod
    def jvp(ctx, x_t):
        (slope,) = ctx.saved_tensors
        return x_t * slope


class JvpKeepsAConstant(Function):
    """An intermediate that does not depend on the inputs may be kept."""

    @staticmethod
    def forward(ctx, x):
        ctx.weights = torch.arange(1, 1 + x.shape[-1], dtype=x.dtype)
        return x * ctx.weights

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.weights

    @staticmethod
    def jvp(ctx, x_t):
        return x_t * ctx.weights


class JvpOfWhatIsChangedInPlace(Function):
    """A tangent changes in place where its input does."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    @staticmethod
    def backward(ctx, grad_output):
        return 3 * grad_output

    @staticmethod
    def jvp(ctx, x_t):
        return x_t.mul_(3)


class JvpWithAnUndefinedTangent(Function):
    """Tangents stay None where there are none; an output of indices has none either."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        order = x.argsort()
        ctx.mark_non_differentiable(order)
        return x * y.sin(), order

    @staticmethod
    def backward(ctx, grad_output, _):
        if grad_output is None:
            return None, None
        x, y = ctx.saved_tensors
        return grad_output * y.sin(), grad_output * x * y.cos()

    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        terms = []
        if x_t is not None:
            terms.append(x_t * y.sin())
        if y_t is not None:
            terms.append(x * y_t * y.cos())
        return sum(terms[1:], terms[0]), None

    @staticmethod
    def sample_inputs():
        yield rand(4), rand(4)


class JvpWithAnInputThatDoesNotMatter(Function):
    """backward rightly gives None for what the output does not depend on."""

    @staticmethod
    def forward(ctx, x, template):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x.sin().reshape(template.shape)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output.reshape(x.shape) * x.cos(), None

    @staticmethod
    def jvp(ctx, x_t, template_t):
        (x,) = ctx.saved_tensors
        return (x_t * x.cos()).reshape(template_t.shape)

    @staticmethod
    def sample_inputs():
        yield rand(6), rand(2, 3)


class SoftmaxOfAnyBatch(Function):
    @staticmethod
    def forward(x):
        return x.softmax(-1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return y * (grad_output - (grad_output * y).sum(-1, keepdim=True))

    @staticmethod
    def vmap(info, in_dims, x):
        return SoftmaxOfAnyBatch.apply(x.movedim(in_dims[0], 0)), 0

    @staticmethod
    def sample_inputs():
        yield (rand(4),)


class VmapBroadcastsByHand(Function):
    """Where examples share an argument its gradient is the sum over them."""

    @staticmethod
    def forward(x, w):
        return x @ w

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        return grad_output @ w.mT, x.mT @ grad_output

    @staticmethod
    def vmap(info, in_dims, x, w):
        x_dim, w_dim = in_dims
        x = x.expand(info.batch_size, *x.shape) if x_dim is None else x.movedim(x_dim, 0)
        w = w.expand(info.batch_size, *w.shape) if w_dim is None else w.movedim(w_dim, 0)
        return VmapBroadcastsByHand.apply(x, w), 0

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(3, 4)


class VmapByAnotherFormula(Function):
    """The batch is computed with operations that autograd knows."""

    @staticmethod
    def forward(x):
        return (x * x).sum()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output

    @staticmethod
    def vmap(info, in_dims, x):
        return x.movedim(in_dims[0], 0).flatten(1).square().sum(1), 0


class GeneratedWithSharedOperand(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, scale):
        return x * scale.sum()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        total = (grad_output * x).sum()
        return grad_output * scale.sum(), total.expand(scale.shape)

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(4)
