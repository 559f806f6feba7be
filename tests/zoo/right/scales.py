"""Tiny and huge numbers, domain edges, oscillation and noise; all right."""

from gradtool import Function, float32, float64, once_differentiable, randn, tensor


def values(*numbers):
    return tensor(numbers, dtype=float64, requires_grad=True)


class TinyInputs(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.log()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output / x

    @staticmethod
    def sample_inputs():
        yield (values(1e-8, 3e-8, 2e-6),)


class HugeInputs(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.log()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output / x

    @staticmethod
    def sample_inputs():
        yield (values(1e9, 3e8, 2e6),)


class MixedScales(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * grad_output * x

    @staticmethod
    def sample_inputs():
        yield (values(1e-8, 1.0, 1e9),)


class TinyOutputs(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1e-8 * x.sin()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 1e-8 * grad_output * x.cos()


class HugeOutputs(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1e9 * x.sin()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 1e9 * grad_output * x.cos()


class OffsetOutputs(Function):
    """A large constant swallows digits of the difference quotient."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1e6 + x.sin()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.cos()

    @staticmethod
    def sample_inputs():
        yield (values(-0.5, 0.25, 1.0),)


class Oscillating(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (1000 * x).sin()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 1000 * grad_output * (1000 * x).cos()

    @staticmethod
    def sample_inputs():
        yield (values(1.0, -0.3, 0.77),)


class SteepTanh(Function):
    @staticmethod
    def forward(ctx, x):
        y = (100 * x).tanh()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * 100 * (1 - y * y)

    @staticmethod
    def sample_inputs():
        yield (values(0.01, -0.02, 0.003),)


class LogNearZero(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.log()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output / x

    @staticmethod
    def sample_inputs():
        yield (values(1e-3, 1e-5, 0.5),)


class SqrtNearZero(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.sqrt()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output / (2 * y)

    @staticmethod
    def sample_inputs():
        yield (values(1e-6, 1e-3, 2.0),)


class AcosNearOne(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.acos()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return -grad_output / ((1 - x) * (1 + x)).sqrt()

    @staticmethod
    def sample_inputs():
        yield (values(1 - 1e-5, -1 + 1e-4, 0.3),)


class AtanhNearOne(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.atanh()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output / ((1 - x) * (1 + x))

    @staticmethod
    def sample_inputs():
        yield (values(0.999, -0.99, 0.0),)


class SingleInsideForward(Function):
    """Computes in float32, as a kernel would, and says so by its gradient's digits."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.float().sin().double()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return (grad_output.float() * x.float().cos()).double()

    @staticmethod
    def sample_inputs():
        yield (values(0.5, -1.25, 2.0),)


class SingleThroughout(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp() * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.exp() * (1 + x)

    @staticmethod
    def sample_inputs():
        yield (randn(3, dtype=float32, requires_grad=True),)


class CastToDouble(Function):
    """float32 in, float64 out; autograd expects the input's dtype back."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.to(float64) ** 2

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return (2 * grad_output * x.to(float64)).to(x.dtype)

    @staticmethod
    def sample_inputs():
        yield (randn(3, dtype=float32, requires_grad=True),)


class RationalNearPole(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (x - 1)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return -grad_output / (x - 1) ** 2

    @staticmethod
    def sample_inputs():
        yield (values(1.001, 0.99, 3.0),)


class HighPower(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**20

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 20 * grad_output * x**19

    @staticmethod
    def sample_inputs():
        yield (values(0.3, -1.0, 2.5),)


class NearlyCancelling(Function):
    """A difference of squares whose terms are much larger than it is."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return (a - b) * (a + b)

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        return 2 * grad_output * a, -2 * grad_output * b

    @staticmethod
    def sample_inputs():
        yield values(1000.0, -50.0), values(999.5, -50.25)


class SeenThroughLayers(Function):
    """Light of layers that absorb what comes from behind, down to nothing, and of the ground.

    Term by term the derivative cancels all that the last layer sends but a trace.
    """

    @staticmethod
    def forward(ctx, thickness, opacity, light, ground):
        depth = thickness * opacity
        behind = depth.cumsum(0)
        weight = (depth - behind).exp() * -(-depth).expm1()
        left = (-behind).exp()
        ctx.save_for_backward(thickness, opacity, light, ground, weight, left)
        return (weight * light).sum() + left[-1] * ground

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        thickness, opacity, light, ground, weight, left = ctx.saved_tensors
        seen = weight * light
        later = seen.flip(0).cumsum(0).flip(0) - seen
        grad_depth = grad_output * (left * light - later - left[-1] * ground)
        return grad_depth * opacity, grad_depth * thickness, grad_output * weight, None

    @staticmethod
    def sample_inputs():
        opacity, ground = values(3.0, 0.2, 0.7, 500.0), tensor(0.61, dtype=float64)
        yield values(0.31, 0.62, 0.83, 0.0463), opacity, values(0.37, 0.95, 0.5, 0.56), ground
        opacity, ground = values(3.0, 0.2, 0.7, 500.0), tensor(0.4, dtype=float64)
        yield values(0.31, 0.62, 0.83, 0.0476), opacity, values(0.51, 0.25, 0.34, 0.82), ground


class ConstantOutput(Function):
    """Does not depend on its input, and says so with zeros."""

    @staticmethod
    def forward(ctx, x):
        return x * 0 + 3

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0
