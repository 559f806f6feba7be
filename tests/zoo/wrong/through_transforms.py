"""First derivatives are right; what is differentiated or batched once more is not."""

import torch
from torch.autograd import Function


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class JvpOfTheDetachedInput(Function):
    expect = {"GT303"}
    at = "jvp"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad_output

    @staticmethod
    def jvp(ctx, x_t):
        (x,) = ctx.saved_tensors
        return 3 * x.detach() ** 2 * x_t


class JvpWithoutGrad(JvpOfTheDetachedInput):
    @staticmethod
    def jvp(ctx, x_t):
        (x,) = ctx.saved_tensors
        with torch.no_grad():
            slope = 3 * x**2
        return slope * x_t


class JvpWithHalfTheProductDetached(JvpOfTheDetachedInput):
    @staticmethod
    def jvp(ctx, x_t):
        (x,) = ctx.saved_tensors
        return 3 * x * x.data * x_t


class JvpDetachesTheTangent(JvpOfTheDetachedInput):
    @staticmethod
    def jvp(ctx, x_t):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * x_t.detach()


class JvpKeepsTheSlope(JvpOfTheDetachedInput):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.slope = 3 * x**2
        return x**3

    @staticmethod
    def jvp(ctx, x_t):
        return ctx.slope * x_t


class JvpSavesTheNorm(Function):
    expect = {"GT303"}
    at = "jvp"

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y, (x * x).sum().sqrt())
        return y * (x * x).sum().sqrt()

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        norm = (x * x).sum().sqrt()
        return (grad_output * y).sum() * x / norm, grad_output * norm

    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y, norm = ctx.saved_tensors
        return y_t * norm + y * (x * x_t).sum() / norm

    @staticmethod
    def sample_inputs():
        yield rand(4), rand(3)


class JvpScalesTheTangentInPlace(Function):
    expect = {"GT503"}
    at = "jvp"

    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output

    @staticmethod
    def jvp(ctx, x_t):
        return x_t.mul_(2)


class JvpOverwritesTheTangentTooEarly(Function):
    """Two mistakes in one line: the second output's tangent has the first one's factor."""

    expect = {"GT503"}
    at = "jvp"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x.sin(), x.exp()

    @staticmethod
    def backward(ctx, grad_sin, grad_exp):
        (x,) = ctx.saved_tensors
        return grad_sin * x.cos() + grad_exp * x.exp()

    @staticmethod
    def jvp(ctx, x_t):
        (x,) = ctx.saved_tensors
        return x_t.mul_(x.cos()), x_t * x.exp()


class JvpUsesTheOutputAsScratch(Function):
    expect = {"GT504"}
    at = "jvp"

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
        with torch.no_grad():
            return x_t * y.mul_(y).neg_().add_(1)


class JvpUsesTheInputAsScratch(Function):
    expect = {"GT504"}
    at = "jvp"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output

    @staticmethod
    def jvp(ctx, x_t):
        (x,) = ctx.saved_tensors
        with torch.no_grad():
            return x.mul_(2) * x_t


class SoftmaxSumsAwayADimension(Function):
    """A batch as long as the row broadcasts without an error."""

    expect = {"GT403"}

    @staticmethod
    def forward(x):
        return x.softmax(-1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return y * (grad_output - (grad_output * y).sum(-1))

    @staticmethod
    def vmap(info, in_dims, x):
        return SoftmaxSumsAwayADimension.apply(x.movedim(in_dims[0], 0)), 0

    @staticmethod
    def sample_inputs():
        yield (rand(4),)


class CentredOverTheWholeBatch(Function):
    expect = {"GT403"}

    @staticmethod
    def forward(x):
        return x - x.mean(-1, keepdim=True)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output - grad_output.mean()

    @staticmethod
    def vmap(info, in_dims, x):
        return CentredOverTheWholeBatch.apply(x.movedim(in_dims[0], 0)), 0

    @staticmethod
    def sample_inputs():
        yield (rand(5),)


class ReversedAlongTheBatch(Function):
    expect = {"GT403"}

    @staticmethod
    def forward(x):
        return x.cumsum(-1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.flip(0).cumsum(0).flip(0)

    @staticmethod
    def vmap(info, in_dims, x):
        return ReversedAlongTheBatch.apply(x.movedim(in_dims[0], 0)), 0

    @staticmethod
    def sample_inputs():
        yield (rand(3),)


class VmapLeavesAutograd(Function):
    expect = {"GT403"}
    at = "vmap"

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y

    @staticmethod
    def vmap(info, in_dims, x):
        return x.detach().exp(), in_dims[0]


class LinearTransposesThreeDimensions(Function):
    expect = {"GT403"}

    @staticmethod
    def forward(x, w):
        return x @ w

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        return grad_output @ w.transpose(0, -1), x.transpose(0, -1) @ grad_output

    @staticmethod
    def vmap(info, in_dims, x, w):
        x, w = (
            each.unsqueeze(0) if dim is None else each.movedim(dim, 0)
            for each, dim in zip((x, w), in_dims, strict=True)
        )
        shape = (info.batch_size,)
        x, w = x.expand(*shape, *x.shape[1:]), w.expand(*shape, *w.shape[1:])
        return LinearTransposesThreeDimensions.apply(x, w), 0

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(3, 4)
