"""Matrices: forgotten transposes, missing terms, only the diagonal."""

import torch
from torch.autograd import Function


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def invertible(n):
    matrix = torch.randn(n, n, dtype=torch.float64) + 3 * torch.eye(n, dtype=torch.float64)
    return matrix.requires_grad_()


class LinearWeightTransposed(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.t()

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        return grad_output @ weight, x.t() @ grad_output

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(3, 3)


class MatmulWithoutTranspose(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        return grad_output @ b, a.t() @ grad_output

    @staticmethod
    def sample_inputs():
        yield rand(3, 3), rand(3, 3)


class MatvecWithoutTranspose(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def forward(ctx, matrix, vector):
        ctx.save_for_backward(matrix, vector)
        return matrix @ vector

    @staticmethod
    def backward(ctx, grad_output):
        matrix, vector = ctx.saved_tensors
        return torch.outer(grad_output, vector), matrix @ grad_output

    @staticmethod
    def sample_inputs():
        yield rand(3, 3), rand(3)


class OuterTransposed(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def forward(ctx, matrix, vector):
        ctx.save_for_backward(matrix, vector)
        return matrix @ vector

    @staticmethod
    def backward(ctx, grad_output):
        matrix, vector = ctx.saved_tensors
        return torch.outer(vector, grad_output), matrix.t() @ grad_output

    @staticmethod
    def sample_inputs():
        yield rand(3, 3), rand(3)


class QuadraticFormOfSymmetric(Function):
    """x' A x has the gradient (A + A') x, which is 2 A x for a symmetric A only."""

    expect = {"GT101"}
    diagnosis = "term"
    says = "counts one `x` in `x @ matrix @ x`"

    @staticmethod
    def forward(ctx, x, matrix):
        ctx.save_for_backward(x, matrix)
        return x @ matrix @ x

    @staticmethod
    def backward(ctx, grad_output):
        x, matrix = ctx.saved_tensors
        return grad_output * 2 * (matrix @ x), grad_output * torch.outer(x, x)

    @staticmethod
    def sample_inputs():
        yield rand(3), rand(3, 3)


class InverseWithoutTranspose(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def forward(ctx, matrix):
        inverse = torch.linalg.inv(matrix)
        ctx.save_for_backward(inverse)
        return inverse

    @staticmethod
    def backward(ctx, grad_output):
        (inverse,) = ctx.saved_tensors
        return -inverse @ grad_output @ inverse

    @staticmethod
    def sample_inputs():
        yield (invertible(3),)


class DeterminantWithoutTranspose(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def forward(ctx, matrix):
        det = torch.linalg.det(matrix)
        ctx.save_for_backward(matrix, det)
        return det

    @staticmethod
    def backward(ctx, grad_output):
        matrix, det = ctx.saved_tensors
        return grad_output * det * torch.linalg.inv(matrix)

    @staticmethod
    def sample_inputs():
        yield (invertible(3),)


class SolveWithoutTranspose(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def forward(ctx, matrix, b):
        x = torch.linalg.solve(matrix, b)
        ctx.save_for_backward(matrix, x)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        matrix, x = ctx.saved_tensors
        grad_b = torch.linalg.solve(matrix, grad_output)
        return -torch.outer(grad_b, x), grad_b

    @staticmethod
    def sample_inputs():
        yield invertible(3), rand(3)


class SoftmaxOnlyDiagonal(Function):
    expect = {"GT101"}
    diagnosis = "diagonal"

    @staticmethod
    def forward(ctx, x):
        s = torch.softmax(x, -1)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, grad_output):
        (s,) = ctx.saved_tensors
        return grad_output * s * (1 - s)

    @staticmethod
    def sample_inputs():
        yield (rand(2, 4),)


class SoftmaxZero(Function):
    """With a loss of sum() a backward of zeros looks right."""

    expect = {"GT101"}
    diagnosis = "zero"

    @staticmethod
    def forward(ctx, x):
        return torch.softmax(x, -1)

    @staticmethod
    def backward(ctx, grad_output):
        return torch.zeros_like(grad_output)

    @staticmethod
    def sample_inputs():
        yield (rand(2, 4),)


class LogSoftmaxWithoutSum(Function):
    expect = {"GT107"}

    @staticmethod
    def forward(ctx, x):
        y = torch.log_softmax(x, -1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output - y.exp()

    @staticmethod
    def sample_inputs():
        yield (rand(2, 4),)


class CumsumNotReversed(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def forward(ctx, x):
        return x.cumsum(0)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.cumsum(0)

    @staticmethod
    def sample_inputs():
        yield (rand(5),)


class NormaliseWithoutProjection(Function):
    expect = {"GT101"}
    diagnosis = "places"
    says = "treats `norm`"

    @staticmethod
    def forward(ctx, x):
        norm = x.norm(dim=-1, keepdim=True)
        ctx.save_for_backward(norm)
        return x / norm

    @staticmethod
    def backward(ctx, grad_output):
        (norm,) = ctx.saved_tensors
        return grad_output / norm

    @staticmethod
    def sample_inputs():
        yield (rand(2, 4),)


class LayerNormWithoutMeanTerms(Function):
    expect = {"GT101"}
    diagnosis = "places"
    says = "treats `mean`"

    @staticmethod
    def forward(ctx, x, weight, bias):
        mean = x.mean(-1, keepdim=True)
        rstd = 1 / (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
        ctx.save_for_backward(x, weight, mean, rstd)
        return (x - mean) * rstd * weight + bias

    @staticmethod
    def backward(ctx, grad_output):
        x, weight, mean, rstd = ctx.saved_tensors
        xhat = (x - mean) * rstd
        return grad_output * weight * rstd, (grad_output * xhat).sum(0), grad_output.sum(0)

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(4), rand(4)


class AttentionWithoutScale(Function):
    expect = {"GT101"}
    diagnosis = "factor"
    says = "differentiates `q @ k.t()` where forward has"

    @staticmethod
    def forward(ctx, q, k):
        ctx.save_for_backward(q, k)
        return q @ k.t() / q.shape[-1] ** 0.5

    @staticmethod
    def backward(ctx, grad_output):
        q, k = ctx.saved_tensors
        return grad_output @ k, grad_output.t() @ q

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(2, 4)


class GramOneSide(Function):
    expect = {"GT101"}
    diagnosis = "places"
    says = "treats `x.t()`"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x @ x.t()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output @ x

    @staticmethod
    def sample_inputs():
        yield (rand(3, 2),)


class ReshapeForPermute(Function):
    """The shape comes out right, the order of the elements does not."""

    expect = {"GT101"}
    diagnosis = "order"

    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.permute(2, 0, 1).clone()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.reshape(ctx.shape)

    @staticmethod
    def sample_inputs():
        yield (rand(2, 3, 2),)
