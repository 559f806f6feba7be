"""What reaches backward is used wrongly: not at all, not linearly, or only a part of it."""

from gradtool import Function, float64, once_differentiable, randn, tensor, zeros_like


def rand(*shape):
    return randn(*shape, dtype=float64, requires_grad=True)


class SquareWithoutCotangent(Function):
    expect = {"GT101"}
    diagnosis = "cotangent"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x


class LossWithoutCotangent(Function):
    """Right as long as the loss is the last thing computed, and nothing scales it."""

    expect = {"GT101"}
    diagnosis = "cotangent"

    @staticmethod
    def forward(ctx, prediction, target):
        ctx.save_for_backward(prediction, target)
        return ((prediction - target) ** 2).mean()

    @staticmethod
    def backward(ctx, grad_output):
        prediction, target = ctx.saved_tensors
        return 2 * (prediction - target) / prediction.numel(), None

    @staticmethod
    def sample_inputs():
        yield rand(3, 2), randn(3, 2, dtype=float64)


class CrossEntropyWithoutCotangent(Function):
    expect = {"GT101"}
    diagnosis = "cotangent"

    @staticmethod
    def forward(ctx, logits, one_hot):
        p = logits.softmax(-1)
        ctx.save_for_backward(p, one_hot)
        return -(one_hot * p.log()).sum() / logits.shape[0]

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        p, one_hot = ctx.saved_tensors
        return (p - one_hot) / p.shape[0], None

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], dtype=float64)


class WeightWithoutCotangent(Function):
    expect = {"GT101"}
    diagnosis = "cotangent"

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x * weight

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        return grad_output * weight, x.clone()


class CotangentSquared(Function):
    expect = {"GT107"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * grad_output * x.cos()


class CotangentClipped(Function):
    """Gradient clipping inside backward."""

    expect = {"GT107"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 3 * x.sin()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 3 * grad_output.clamp(-1, 1) * x.cos()


class CotangentNormalised(Function):
    expect = {"GT120"}

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        return grad_output / (grad_output.norm() + 1e-12)


class CotangentAbsolute(Function):
    expect = {"GT107"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output.abs() * x.exp()


class GuidedRelu(Function):
    """Guided backpropagation: only positive gradients pass."""

    expect = {"GT120"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output.clamp(min=0) * (x > 0)

    @staticmethod
    def sample_inputs():
        yield (tensor([-1.5, 0.5, 2.0, -0.3], dtype=float64, requires_grad=True),)


class SignOfCotangent(Function):
    expect = {"GT107"}

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        return 2 * grad_output.sign()


class WeightDecayInBackward(Function):
    """A penalty that forward does not have."""

    expect = {"GT107"}

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x * weight

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        return grad_output * weight, grad_output * x + 1e-2 * weight


class DividesByCotangent(Function):
    expect = {"GT107"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x / grad_output


class SecondOutputIgnored(Function):
    expect = {"GT101"}
    diagnosis = "ignored"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin(), x.exp()

    @staticmethod
    def backward(ctx, grad_sin, grad_exp):
        (x,) = ctx.saved_tensors
        return grad_sin * x.cos()


class FirstOutputIgnored(Function):
    expect = {"GT101"}
    diagnosis = "ignored"

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y

    @staticmethod
    def backward(ctx, grad_product, grad_sum):
        _, y = ctx.saved_tensors
        return grad_product * y + grad_sum, grad_sum.clone()


class OutputsSwapped(Function):
    expect = {"GT101"}
    diagnosis = "swapped"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin(), x.exp()

    @staticmethod
    def backward(ctx, grad_exp, grad_sin):
        (x,) = ctx.saved_tensors
        return grad_sin * x.cos() + grad_exp * x.exp()


class OutputsMultiplied(Function):
    """A product where a sum belongs: zero whenever only one output is used."""

    expect = {"GT107"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin(), x.exp()

    @staticmethod
    def backward(ctx, grad_sin, grad_exp):
        (x,) = ctx.saved_tensors
        return grad_sin * x.cos() * grad_exp * x.exp()


class OverwrittenNotAccumulated(Function):
    """Each output alone is right; of both together only the last counts."""

    expect = {"GT101"}
    diagnosis = "ignored"

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
            grad = grad_exp * x.exp()
        return grad


class FirstDefinedOnly(Function):
    expect = {"GT101"}
    diagnosis = "ignored"

    @staticmethod
    def forward(ctx, a, b):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(a, b)
        return a * b, a / b

    @staticmethod
    def backward(ctx, grad_product, grad_quotient):
        a, b = ctx.saved_tensors
        if grad_product is not None:
            return grad_product * b, grad_product * a
        if grad_quotient is not None:
            return grad_quotient / b, -grad_quotient * a / b**2
        return None, None

    @staticmethod
    def sample_inputs():
        yield rand(3), tensor([1.5, -2.0, 0.5], dtype=float64, requires_grad=True)


class ThresholdOnCotangent(Function):
    """Small gradients are dropped as noise."""

    expect = {"GT107"}

    @staticmethod
    def forward(ctx, x):
        return x * 4

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        grad = 4 * grad_output
        return grad.where(grad.abs() > 1.0, zeros_like(grad))


class ClippedFarOut(Function):
    """Clips where no gradient comes in the usual run."""

    expect = {"GT107"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return (grad_output * x.cos()).clamp(-100, 100)


class TinyDropped(Function):
    """Takes tiny gradients for roundings."""

    expect = {"GT107"}

    @staticmethod
    def forward(ctx, x):
        return x * 4

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        grad = 4 * grad_output
        return grad.where(grad.abs() > 1e-4, zeros_like(grad))
