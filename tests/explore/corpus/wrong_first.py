"""Functions that are right at their samples and wrong beside them."""

import math

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class ChunkedSquares(Function):
    """The last chunk is taken for a full one."""

    chunk = 4

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        out = torch.zeros_like(x)
        for start in range(0, x.shape[0] // 4 * 4, 4):
            part = slice(start, start + 4)
            out[part] = 2 * x[part] * g[part]
        return out

    @staticmethod
    def sample_inputs():
        yield (rand(8, 3),)


class SwishWithoutBeta(Function):
    """The slope lacks beta."""

    @staticmethod
    def forward(ctx, x, beta=1.0):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return x * torch.sigmoid(beta * x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(ctx.beta * x)
        return g * (s + x * s * (1 - s)), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class ScaledOffCtx(Function):
    """Doubling is forgotten, and an input that is no constant sits on ctx, which is a warning."""

    @staticmethod
    def forward(ctx, x, scale, doubled=False):
        ctx.save_for_backward(x, scale)
        ctx.factor = scale
        return x * scale * (2 if doubled else 1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, scale = ctx.saved_tensors
        return g * scale, (g * x).sum(0), None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(4)


class ClippedTanh(Function):
    """Backward does not know the clip."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x * x).clamp(max=20.0)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class InverseNotTransposed(Function):
    """The inverse lacks its transpose."""

    @staticmethod
    def forward(ctx, a):
        y = torch.linalg.inv(a)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return -y @ g @ y

    @staticmethod
    def sample_inputs():
        a = rand(3, 3).detach()
        yield ((a @ a.T + 3 * torch.eye(3, dtype=torch.float64)).requires_grad_(),)


class MeanOrSum(Function):
    """Only the mean is differentiated right."""

    @staticmethod
    def forward(ctx, x, y, reduction="mean"):
        ctx.save_for_backward(x, y)
        ctx.reduction = reduction
        loss = (x - y) ** 2
        if reduction == "mean":
            return loss.mean()
        if reduction == "sum":
            return loss.sum()
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        d = 2 * (x - y) / x.numel() * g
        return d, -d, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(3, 4)


class ScaledByConstantWidth(Function):
    """Backward has the width of the sample in it."""

    @staticmethod
    def forward(ctx, q, k):
        ctx.save_for_backward(q, k)
        return q @ k.T / math.sqrt(q.shape[-1])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        q, k = ctx.saved_tensors
        return g @ k / 2.0, g.T @ q / 2.0

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(5, 4)


class LinearNotTransposed(Function):
    """The weight is square in the sample."""

    @staticmethod
    def forward(ctx, x, transpose=False):
        ctx.transpose = transpose
        w = torch.arange(9.0, dtype=torch.float64).reshape(3, 3)
        ctx.save_for_backward(w)
        return x @ (w.T if transpose else w)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (w,) = ctx.saved_tensors
        return g @ w.T, None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 3),)


class CubeForSquare(Function):
    """The exponent of the sample is in backward."""

    @staticmethod
    def forward(ctx, x, p):
        ctx.save_for_backward(x)
        return x**p

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), 3


class HuberInside(Function):
    """Only the quadratic part is differentiated."""

    @staticmethod
    def forward(ctx, x, delta=10.0):
        ctx.save_for_backward(x)
        a = x.abs()
        return torch.where(a <= delta, 0.5 * x * x, delta * (a - 0.5 * delta))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x, None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)
