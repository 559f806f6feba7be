"""Calculus gone wrong: a factor, a sign or a term of the chain rule is missing."""

import math

import torch
from torch.autograd import Function


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class CubeWithoutThree(Function):
    expect = {"GT101"}
    diagnosis = "factor"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x**2


class CosWithoutMinus(Function):
    expect = {"GT101"}
    diagnosis = "sign"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.cos()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.sin()


class SigmoidPlus(Function):
    expect = {"GT101"}
    diagnosis = "inner"

    @staticmethod
    def forward(ctx, x):
        s = 1 / (1 + (-x).exp())
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, grad_output):
        (s,) = ctx.saved_tensors
        return grad_output * s * (1 + s)


class ReciprocalWithoutMinus(Function):
    expect = {"GT101"}
    diagnosis = "sign"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output / x**2

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.5, -1.5, 2.5], dtype=torch.float64, requires_grad=True),)


class Log10AsLog(Function):
    expect = {"GT101"}
    diagnosis = "factor"
    says = "`torch.log(x)` where forward has `torch.log10(x)`"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.log10(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output / x

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.5, 1.5, 20.0], dtype=torch.float64, requires_grad=True),)


class SquaredErrorWithoutTwo(Function):
    expect = {"GT101"}
    diagnosis = "factor"

    @staticmethod
    def forward(ctx, prediction, target):
        difference = prediction - target
        ctx.save_for_backward(prediction, target)
        return (difference**2).mean()

    @staticmethod
    def backward(ctx, grad_output):
        prediction, target = ctx.saved_tensors
        grad = grad_output * (prediction - target) / prediction.numel()
        return grad, -grad

    @staticmethod
    def sample_inputs():
        yield rand(4, 2), rand(4, 2)


class SumForMean(Function):
    expect = {"GT101"}
    diagnosis = "mean"

    @staticmethod
    def forward(ctx, prediction, target):
        ctx.save_for_backward(prediction, target)
        return ((prediction - target) ** 2).mean()

    @staticmethod
    def backward(ctx, grad_output):
        prediction, target = ctx.saved_tensors
        return 2 * grad_output * (prediction - target), None

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), torch.randn(4, 3, dtype=torch.float64)


class GaussianWithoutInner(Function):
    expect = {"GT101"}
    diagnosis = "inner"
    says = "divides the path through `torch.exp(-0.5 * x * x)`"

    @staticmethod
    def forward(ctx, x):
        y = torch.exp(-0.5 * x * x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return -grad_output * y


class SineWithoutFrequency(Function):
    expect = {"GT101"}
    diagnosis = "factor"

    @staticmethod
    def forward(ctx, x, frequency):
        ctx.save_for_backward(x)
        ctx.frequency = frequency
        return torch.sin(frequency * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * torch.cos(ctx.frequency * x), None

    @staticmethod
    def sample_inputs():
        yield rand(5), 30.0


class SineOfDegrees(Function):
    expect = {"GT101"}
    diagnosis = "factor"
    says = "`degrees` where forward has `degrees * math.pi / 180`"

    @staticmethod
    def forward(ctx, degrees):
        radians = degrees * math.pi / 180
        ctx.save_for_backward(degrees)
        return radians.sin()

    @staticmethod
    def backward(ctx, grad_output):
        (degrees,) = ctx.saved_tensors
        return grad_output * (degrees * math.pi / 180).cos()


class PowerKeepsExponent(Function):
    expect = {"GT101"}
    diagnosis = "inner"
    says = "multiplies the path through `x ** n`"

    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ctx.n * x**ctx.n, None

    @staticmethod
    def sample_inputs():
        yield rand(4), 3


class ProductRuleHalf(Function):
    """Swish: x * sigmoid(x)."""

    expect = {"GT101"}
    diagnosis = "term"
    says = "treats `x` in `x * torch.sigmoid(x)`"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return grad_output * x * s * (1 - s)


class QuotientWithoutSquare(Function):
    expect = {"GT101"}
    diagnosis = "inner"
    says = "multiplies the path through `a / b`"

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a / b

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        return grad_output / b, -grad_output * a / b

    @staticmethod
    def sample_inputs():
        yield rand(3), torch.tensor([1.5, -2.0, 3.0], dtype=torch.float64, requires_grad=True)


class TanhNotSquared(Function):
    expect = {"GT101"}
    diagnosis = "inner"

    @staticmethod
    def forward(ctx, x):
        y = x.tanh()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * (1 - y)


class TinyWithWrongSign(Function):
    """The whole gradient is far below the absolute tolerance that gradcheck has."""

    expect = {"GT101"}
    diagnosis = "sign"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1e-6 * x.sin()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return -1e-6 * grad_output * x.cos()


class GeluWithTypo(Function):
    """A digit of a constant is missing: less than a tolerance of 1e-3 sees."""

    expect = {"GT101"}
    diagnosis = "rounded"
    says = "0.04471 is used where forward has 0.044715"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x**3)))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        t = torch.tanh(0.7978845608 * (x + 0.044715 * x**3))
        inner = 0.7978845608 * (1 + 3 * 0.04471 * x**2)
        return grad_output * (0.5 * (1 + t) + 0.5 * x * (1 - t**2) * inner)


class ScaledWithRoundedConstant(Function):
    expect = {"GT101"}
    diagnosis = "factor"
    says = "0.798 is used where forward has math.sqrt(2 / math.pi)"

    @staticmethod
    def forward(ctx, x):
        return x * math.sqrt(2 / math.pi)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0.798


class DistanceWithoutHalf(Function):
    expect = {"GT101"}
    diagnosis = "factor"

    @staticmethod
    def forward(ctx, a, b):
        distance = ((a - b) ** 2).sum(-1).sqrt()
        ctx.save_for_backward(a, b, distance)
        return distance

    @staticmethod
    def backward(ctx, grad_output):
        a, b, distance = ctx.saved_tensors
        grad = (2 * grad_output / distance).unsqueeze(-1) * (a - b)
        return grad, -grad

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(3, 4)


class ComplexSquareNotConjugated(Function):
    expect = {"GT101"}
    diagnosis = "conjugate"

    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return z * z

    @staticmethod
    def backward(ctx, grad_output):
        (z,) = ctx.saved_tensors
        return grad_output * 2 * z

    @staticmethod
    def sample_inputs():
        yield (torch.randn(3, dtype=torch.complex128, requires_grad=True),)


class ComplexProductNotConjugated(Function):
    expect = {"GT101"}
    diagnosis = "conjugate"

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        return grad_output * b, grad_output * a

    @staticmethod
    def sample_inputs():
        yield (
            torch.randn(3, dtype=torch.complex128, requires_grad=True),
            torch.randn(3, dtype=torch.complex128, requires_grad=True),
        )


class ComplexPowerWithoutTwo(Function):
    """abs(z)**2: the gradient of a real output is twice z."""

    expect = {"GT101"}
    diagnosis = "factor"

    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return z.real**2 + z.imag**2

    @staticmethod
    def backward(ctx, grad_output):
        (z,) = ctx.saved_tensors
        return grad_output * z

    @staticmethod
    def sample_inputs():
        yield (torch.randn(3, dtype=torch.complex128, requires_grad=True),)
