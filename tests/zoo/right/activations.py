"""Activations with kinks, saturation and saved outputs; all right."""

import math

import torch
from torch.autograd import Function


def values(*numbers):
    return torch.tensor(numbers, dtype=torch.float64, requires_grad=True)


class Relu(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[x < 0] = 0
        return grad_input

    @staticmethod
    def sample_inputs():
        yield (values(-1.5, -1e-4, 1e-4, 2.0),)


class ReluAtZero(Function):
    """At the kink any slope between 0 and 1 is a subgradient."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x > 0)

    @staticmethod
    def sample_inputs():
        yield (values(0.0, -1.0, 2.0, 0.0),)


class ReluSavesOutput(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(min=0)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * (y > 0)

    @staticmethod
    def sample_inputs():
        yield (values(-1.5, 0.25, 2.0),)


class AbsAtZero(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.abs()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.sign()

    @staticmethod
    def sample_inputs():
        yield (values(0.0, -2.0, 3.0),)


class LeakyRelu(Function):
    @staticmethod
    def forward(ctx, x, slope=0.01):
        ctx.save_for_backward(x)
        ctx.slope = slope
        return torch.where(x > 0, x, slope * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return torch.where(x > 0, grad_output, ctx.slope * grad_output), None

    @staticmethod
    def sample_inputs():
        yield values(-1.5, 0.25, 2.0), 0.2
        yield (values(-1.5, 0.25, 2.0),)


class HardSigmoid(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x / 6 + 0.5).clamp(0, 1)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ((x > -3) & (x < 3)) / 6

    @staticmethod
    def sample_inputs():
        yield (values(-5.0, -2.9999, 0.3, 2.9, 3.5),)


class MaximumOfTwo(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return torch.maximum(a, b)

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        first = a >= b
        return grad_output * first, grad_output * ~first

    @staticmethod
    def sample_inputs():
        yield values(1.0, -2.0, 0.5), values(0.25, -1.0, 0.75)


class SoftmaxSaturated(Function):
    """Entries of size 1000: exactly one and zeros come out."""

    @staticmethod
    def forward(ctx, x):
        e = (x - x.max(-1, keepdim=True).values).exp()
        s = e / e.sum(-1, keepdim=True)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, grad_output):
        (s,) = ctx.saved_tensors
        return s * (grad_output - (grad_output * s).sum(-1, keepdim=True))

    @staticmethod
    def sample_inputs():
        yield (values(1000.0, -1000.0, 0.0, 500.0),)
        yield (values(1.0, -1.0, 0.0, 0.5),)


class LogSoftmaxSaturated(Function):
    @staticmethod
    def forward(ctx, x):
        shifted = x - x.max(-1, keepdim=True).values
        y = shifted - shifted.exp().sum(-1, keepdim=True).log()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output - y.exp() * grad_output.sum(-1, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield (values(1000.0, 998.0, 0.0),)


class SigmoidFarOut(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.sigmoid(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * (1 - y)

    @staticmethod
    def sample_inputs():
        yield (values(-30.0, -2.0, 0.0, 3.0, 12.0),)


class SoftplusStable(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.logaddexp(x, torch.zeros_like(x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * torch.sigmoid(x)

    @staticmethod
    def sample_inputs():
        yield (values(-20.0, 0.0, 3.0, 800.0),)


class GeluExact(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        cdf = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
        pdf = (-0.5 * x * x).exp() / math.sqrt(2 * math.pi)
        return grad_output * (cdf + x * pdf)


class SwishRecomputed(Function):
    """Saves memory: the sigmoid is computed again."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return grad_output * (s + x * s * (1 - s))


class HuberLoss(Function):
    @staticmethod
    def forward(ctx, x, delta):
        ctx.save_for_backward(x)
        ctx.delta = delta
        small = x.abs() <= delta
        return torch.where(small, 0.5 * x * x, delta * (x.abs() - 0.5 * delta))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.clamp(-ctx.delta, ctx.delta), None

    @staticmethod
    def sample_inputs():
        yield values(-3.0, -0.4, 0.1, 2.0), 1.0


class SignedSquare(Function):
    """x * abs(x): smooth where abs is not."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.abs()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x.abs()

    @staticmethod
    def sample_inputs():
        yield (values(-1.0, 0.5, 2.0),)


class ExpSavedOutput(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y


class FloorIsConstant(Function):
    """A derivative of zero is a derivative."""

    @staticmethod
    def forward(ctx, x):
        return x.floor()

    @staticmethod
    def backward(ctx, grad_output):
        return torch.zeros_like(grad_output)

    @staticmethod
    def sample_inputs():
        yield (values(-1.5, 0.3, 2.7),)
