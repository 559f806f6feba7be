"""Forward mode and batching, written by hand and wrong."""

import torch
from torch.autograd import Function


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class JvpWithoutFactor(Function):
    expect = {"GT301"}
    at = "jvp"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2

    @staticmethod
    def jvp(ctx, x_t):
        (x,) = ctx.saved_tensors
        return x_t * x**2


class JvpForgetsSecondInput(Function):
    expect = {"GT301"}
    at = "jvp"

    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x

    @staticmethod
    def jvp(ctx, x_t, y_t):
        _, y = ctx.saved_tensors
        return x_t * y


class JvpSwapped(Function):
    expect = {"GT301"}
    at = "jvp"

    @staticmethod
    def forward(x, y):
        return x / y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output / y, -grad_output * x / y**2

    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        return y_t / y - x_t * x / y**2

    @staticmethod
    def sample_inputs():
        yield rand(3), torch.tensor([1.5, -2.0, 0.5], dtype=torch.float64, requires_grad=True)


class JvpSign(Function):
    expect = {"GT301"}
    at = "jvp"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x.cos()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return -grad_output * x.sin()

    @staticmethod
    def jvp(ctx, x_t):
        (x,) = ctx.saved_tensors
        return x_t * x.sin()


class JvpOfMatmulTransposed(Function):
    expect = {"GT301"}
    at = "jvp"

    @staticmethod
    def forward(a, b):
        return a @ b

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        return grad_output @ b.t(), a.t() @ grad_output

    @staticmethod
    def jvp(ctx, a_t, b_t):
        a, b = ctx.saved_tensors
        return a_t @ b.t() + a @ b_t

    @staticmethod
    def sample_inputs():
        yield rand(2, 2), rand(2, 2)


class JvpSecondOutputZero(Function):
    expect = {"GT301"}
    at = "jvp"

    @staticmethod
    def forward(x):
        return x.sin(), x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad_sin, grad_exp):
        (x,) = ctx.saved_tensors
        return grad_sin * x.cos() + grad_exp * x.exp()

    @staticmethod
    def jvp(ctx, x_t):
        (x,) = ctx.saved_tensors
        return x_t * x.cos(), torch.zeros_like(x_t)


class JvpNeedsBothTangents(Function):
    """With a tangent of one input alone, the other's is None."""

    expect = {"GT301"}
    at = "jvp"

    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        if grad_output is None:
            return None, None
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x

    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        return x_t * y + x * y_t

    @staticmethod
    def sample_inputs():
        yield rand(3), rand(3)


class JvpForgetsTheTangentOfOneAlone(Function):
    expect = {"GT301"}
    at = "jvp"

    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        if grad_output is None:
            return None, None
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x

    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        if x_t is None or y_t is None:
            return None
        return x_t * y + x * y_t

    @staticmethod
    def sample_inputs():
        yield rand(3), rand(3)


class VmapOverWrongDimension(Function):
    expect = {"GT401"}
    at = "vmap"

    @staticmethod
    def forward(x):
        return x.softmax(0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (s,) = ctx.saved_tensors
        return s * (grad_output - (grad_output * s).sum(0))

    @staticmethod
    def vmap(info, in_dims, x):
        return VmapOverWrongDimension.apply(x), in_dims[0]

    @staticmethod
    def sample_inputs():
        yield (rand(3),)


class VmapIgnoresInDims(Function):
    """Takes the batch to come first, wherever it is."""

    expect = {"GT401"}
    at = "vmap"

    @staticmethod
    def forward(x):
        return x.sum(-1) * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.shape = x.shape

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output.unsqueeze(-1).expand(ctx.shape)

    @staticmethod
    def vmap(info, in_dims, x):
        return VmapIgnoresInDims.apply(x), 0

    @staticmethod
    def sample_inputs():
        yield (rand(3, 3),)


class VmapForgetsUnbatched(Function):
    """One argument is the same for all examples, and is not treated so."""

    expect = {"GT401"}
    at = "vmap"

    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x

    @staticmethod
    def vmap(info, in_dims, x, y):
        x = x.movedim(in_dims[0], 0) if in_dims[0] is not None else x
        return VmapForgetsUnbatched.apply(x, y.sum(0) if in_dims[1] is not None else y), 0

    @staticmethod
    def sample_inputs():
        yield rand(3), rand(3)


class VmapMean(Function):
    expect = {"GT401"}
    at = "vmap"

    @staticmethod
    def forward(x):
        return x - x.mean()

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output - grad_output.mean()

    @staticmethod
    def vmap(info, in_dims, x):
        return x - x.mean(), in_dims[0]

    @staticmethod
    def sample_inputs():
        yield (rand(4),)


class GeneratedRuleLeavesForNumPy(Function):
    expect = {"GT402"}
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return torch.from_numpy(grad_output.numpy() * y.detach().numpy())


class GeneratedRuleAsksForValue(Function):
    """Skips work when there is nothing to do."""

    expect = {"GT402"}
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return 2 * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        if not grad_output.any():
            return grad_output
        return 2 * grad_output

    @staticmethod
    def sample_inputs():
        yield (rand(3),)


class SoftmaxGradientWithWrongVmap(Function):
    """Takes the batch for the dimension to sum over."""

    expect = {"GT401"}
    at = "vmap"

    @staticmethod
    def forward(s, g):
        return s * (g - (g * s).sum(0, keepdim=True))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        s, g = ctx.saved_tensors
        inner = (grad * s).sum(0, keepdim=True)
        grad_s = grad * (g - (g * s).sum(0, keepdim=True)) - g * inner
        return grad_s, s * (grad - inner)

    @staticmethod
    def vmap(info, in_dims, s, g):
        s, g = (
            tensor if dim is None else tensor.movedim(dim, 0)
            for tensor, dim in zip((s, g), in_dims)
        )
        return s * (g - (g * s).sum(0, keepdim=True)), 0

    @staticmethod
    def sample_inputs():
        yield rand(4), rand(4)


class BackwardWithWrongVmap(Function):
    """Backward is a Function of its own, whose rule for batches sums over the wrong dimension."""

    expect = {"GT402"}
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.softmax(0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (s,) = ctx.saved_tensors
        return _SoftmaxGradient.apply(s, grad_output)

    @staticmethod
    def sample_inputs():
        yield (rand(4),)


class _SoftmaxGradient(Function):
    expect = {"GT401"}
    at = "vmap"

    @staticmethod
    def forward(s, g):
        return s * (g - (g * s).sum(0, keepdim=True))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        s, g = ctx.saved_tensors
        inner = (grad * s).sum(0, keepdim=True)
        grad_s = grad * (g - (g * s).sum(0, keepdim=True)) - g * inner
        return grad_s, s * (grad - inner)

    @staticmethod
    def vmap(info, in_dims, s, g):
        s, g = (
            tensor if dim is None else tensor.movedim(dim, 0)
            for tensor, dim in zip((s, g), in_dims)
        )
        return s * (g - (g * s).sum(0, keepdim=True)), 0
