"""Layers, losses and solvers as libraries have them; all right."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class LayerNorm(Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps=1e-5):
        mean = x.mean(-1, keepdim=True)
        rstd = (x.var(-1, unbiased=False, keepdim=True) + eps).rsqrt()
        xhat = (x - mean) * rstd
        ctx.save_for_backward(xhat, rstd, weight)
        return xhat * weight + bias

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        xhat, rstd, weight = ctx.saved_tensors
        g = grad_output * weight
        inner = g - g.mean(-1, keepdim=True) - xhat * (g * xhat).mean(-1, keepdim=True)
        return inner * rstd, (grad_output * xhat).sum(0), grad_output.sum(0), None

    @staticmethod
    def sample_inputs():
        yield rand(2, 4), rand(4), rand(4)


class RmsNorm(Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x * (x * x).mean(-1, keepdim=True).add(1e-6).rsqrt() * weight

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        r = (x * x).mean(-1, keepdim=True).add(1e-6).rsqrt()
        g = grad_output * weight
        grad_x = r * g - x * r**3 * (g * x).mean(-1, keepdim=True)
        return grad_x, (grad_output * x * r).sum(0)

    @staticmethod
    def sample_inputs():
        yield rand(2, 4), rand(4)


class Attention(Function):
    @staticmethod
    def forward(ctx, q, k, v):
        p = torch.softmax(q @ k.t() / q.shape[-1] ** 0.5, -1)
        ctx.save_for_backward(q, k, v, p)
        return p @ v

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        q, k, v, p = ctx.saved_tensors
        grad_p = grad_output @ v.t()
        grad_s = p * (grad_p - (grad_p * p).sum(-1, keepdim=True)) / q.shape[-1] ** 0.5
        return grad_s @ k, grad_s.t() @ q, p.t() @ grad_output

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(4, 3), rand(4, 2)


class LstmCell(Function):
    @staticmethod
    def forward(ctx, gates, cell):
        i, f, g, o = gates.chunk(4, -1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        new_cell = f * cell + i * g
        ctx.save_for_backward(i, f, g, o, cell, new_cell)
        return o * new_cell.tanh(), new_cell

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_hidden, grad_cell):
        i, f, g, o, cell, new_cell = ctx.saved_tensors
        t = new_cell.tanh()
        d_cell = grad_cell + grad_hidden * o * (1 - t * t)
        d_gates = torch.cat(
            [
                d_cell * g * i * (1 - i),
                d_cell * cell * f * (1 - f),
                d_cell * i * (1 - g * g),
                grad_hidden * t * o * (1 - o),
            ],
            -1,
        )
        return d_gates, d_cell * f

    @staticmethod
    def sample_inputs():
        yield rand(2, 8), rand(2, 2)


class ConvolutionByUnfold(Function):
    @staticmethod
    def forward(ctx, x, kernel):
        ctx.save_for_backward(x, kernel)
        return (x.unfold(0, kernel.shape[0], 1) * kernel).sum(-1)

    @staticmethod
    def backward(ctx, grad_output):
        x, kernel = ctx.saved_tensors
        size = kernel.shape[0]
        grad_kernel = (x.unfold(0, size, 1) * grad_output.unsqueeze(1)).sum(0)
        edge = torch.zeros(size - 1, dtype=grad_output.dtype)
        padded = torch.cat([edge, grad_output, edge])
        return (padded.unfold(0, size, 1) * kernel.flip(0)).sum(-1), grad_kernel

    @staticmethod
    def sample_inputs():
        yield rand(6), rand(3)


class CrossEntropy(Function):
    @staticmethod
    def forward(ctx, logits, target):
        log_p = torch.log_softmax(logits, -1)
        ctx.save_for_backward(log_p, target)
        return -log_p.gather(1, target.unsqueeze(1)).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        log_p, target = ctx.saved_tensors
        grad = log_p.exp()
        grad[torch.arange(len(target)), target] -= 1
        return grad_output * grad / len(target), None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), torch.tensor([0, 3, 1])


class BinaryCrossEntropyWithLogits(Function):
    @staticmethod
    def forward(ctx, logits, target):
        ctx.save_for_backward(logits, target)
        zero = torch.zeros_like(logits)
        return (torch.logaddexp(zero, logits) - target * logits).mean()

    @staticmethod
    def backward(ctx, grad_output):
        logits, target = ctx.saved_tensors
        return grad_output * (logits.sigmoid() - target) / logits.numel(), None

    @staticmethod
    def sample_inputs():
        yield rand(4), torch.tensor([0.0, 1.0, 1.0, 0.0], dtype=torch.float64)


class SquaredError(Function):
    @staticmethod
    def forward(ctx, prediction, target):
        difference = prediction - target
        ctx.save_for_backward(prediction, target)
        return (difference * difference).mean()

    @staticmethod
    def backward(ctx, grad_output):
        prediction, target = ctx.saved_tensors
        grad = 2 * grad_output * (prediction - target) / prediction.numel()
        return grad, -grad

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(2, 3)


class CosineSimilarity(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1))

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        na, nb = a.norm(dim=-1, keepdim=True), b.norm(dim=-1, keepdim=True)
        cosine = (a * b).sum(-1, keepdim=True) / (na * nb)
        g = grad_output.unsqueeze(-1)
        return (
            g * (b / (na * nb) - cosine * a / na**2),
            g * (a / (na * nb) - cosine * b / nb**2),
        )

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(2, 3)


class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.logsumexp(x, -1)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output.unsqueeze(-1) * (x - y.unsqueeze(-1)).exp()

    @staticmethod
    def sample_inputs():
        yield (rand(2, 4),)


class NewtonSquareRoot(Function):
    """An iterative solver, differentiated by the implicit function theorem."""

    @staticmethod
    def forward(ctx, a):
        y = torch.ones_like(a)
        for _ in range(30):
            y = 0.5 * (y + a / y)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output / (2 * y)

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.5, 2.0, 9.0], dtype=torch.float64, requires_grad=True),)


class FixedPointCosine(Function):
    """Solves y = cos(a * y) to convergence; the derivative needs no iteration."""

    @staticmethod
    def forward(ctx, a):
        y = torch.full_like(a, 0.7)
        for _ in range(40):
            y = y - (y - (a * y).cos()) / (1 + a * (a * y).sin())
        ctx.save_for_backward(a, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        a, y = ctx.saved_tensors
        s = (a * y).sin()
        return -grad_output * y * s / (1 + a * s)

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.5, 0.8, 1.2], dtype=torch.float64, requires_grad=True),)


class Solve(Function):
    @staticmethod
    def forward(ctx, matrix, b):
        x = torch.linalg.solve(matrix, b)
        ctx.save_for_backward(matrix, x)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        matrix, x = ctx.saved_tensors
        grad_b = torch.linalg.solve(matrix.t(), grad_output)
        return -torch.outer(grad_b, x), grad_b

    @staticmethod
    def sample_inputs():
        matrix = torch.randn(3, 3, dtype=torch.float64) + 4 * torch.eye(3, dtype=torch.float64)
        yield matrix.requires_grad_(), rand(3)


class Inverse(Function):
    @staticmethod
    def forward(ctx, matrix):
        inverse = torch.linalg.inv(matrix)
        ctx.save_for_backward(inverse)
        return inverse

    @staticmethod
    def backward(ctx, grad_output):
        (inverse,) = ctx.saved_tensors
        return -inverse.t() @ grad_output @ inverse.t()

    @staticmethod
    def sample_inputs():
        matrix = torch.randn(2, 2, dtype=torch.float64) + 4 * torch.eye(2, dtype=torch.float64)
        yield (matrix.requires_grad_(),)


class LogDeterminant(Function):
    @staticmethod
    def forward(ctx, matrix):
        ctx.save_for_backward(matrix)
        return torch.linalg.slogdet(matrix)[1]

    @staticmethod
    def backward(ctx, grad_output):
        (matrix,) = ctx.saved_tensors
        return grad_output * torch.linalg.inv(matrix).t()

    @staticmethod
    def sample_inputs():
        matrix = torch.randn(2, 2, dtype=torch.float64) + 4 * torch.eye(2, dtype=torch.float64)
        yield (matrix.requires_grad_(),)


class CheckpointedLayers(Function):
    """Keeps the input only, and runs the layers again in backward."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return ((x @ weight).tanh() @ weight).tanh()

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        hidden = (x @ weight).tanh()
        output = (hidden @ weight).tanh()
        d_output = grad_output * (1 - output * output)
        d_hidden = (d_output @ weight.t()) * (1 - hidden * hidden)
        grad_weight = hidden.t() @ d_output + x.t() @ d_hidden
        return d_hidden @ weight.t(), grad_weight

    @staticmethod
    def sample_inputs():
        yield rand(2, 2), rand(2, 2)


class RecomputedByAutograd(Function):
    """Backward leaves the derivative to autograd itself."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x.sin() * x.exp()).cumsum(0)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            again = x.detach().requires_grad_()
            y = (again.sin() * again.exp()).cumsum(0)
        return torch.autograd.grad(y, again, grad_output)[0]

    @staticmethod
    def sample_inputs():
        yield (rand(3),)


class CopiedIntoBuffer(Function):
    """Straight-line code that fills a buffer element by element."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        out = torch.zeros_like(x)
        out[0] = x[0]
        for i in range(1, x.shape[0]):
            out[i] = 0.5 * out[i - 1] + x[i] ** 2
        return out

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad = torch.zeros_like(x)
        carried = torch.zeros((), dtype=x.dtype)
        for i in range(x.shape[0] - 1, 0, -1):
            carried = carried * 0.5 + grad_output[i]
            grad[i] = carried * 2 * x[i]
        grad[0] = grad_output[0] + 0.5 * carried
        return grad

    @staticmethod
    def sample_inputs():
        yield (rand(4),)


class GradientReversal(Function):
    """What it does to gradients it does in forward, too: minus, scaled."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return -scale * x

    @staticmethod
    def backward(ctx, grad_output):
        return -ctx.scale * grad_output, None

    @staticmethod
    def sample_inputs():
        yield rand(3), 0.1


class PairwiseDistances(Function):
    """Distances between the points of two sets that have none in common."""

    @staticmethod
    def forward(ctx, a, b):
        difference = a.unsqueeze(1) - b.unsqueeze(0)
        distance = (difference * difference).sum(-1).sqrt()
        ctx.save_for_backward(a, b, distance)
        return distance

    @staticmethod
    def backward(ctx, grad_output):
        a, b, distance = ctx.saved_tensors
        unit = (a.unsqueeze(1) - b.unsqueeze(0)) / distance.unsqueeze(-1)
        terms = grad_output.unsqueeze(-1) * unit
        return terms.sum(1), -terms.sum(0)

    @staticmethod
    def sample_inputs():
        yield rand(2, 2), rand(3, 2)


class SafeNorm(Function):
    """A norm with a gradient of zero at the origin, which is a subgradient."""

    @staticmethod
    def forward(ctx, x):
        norm = x.norm(dim=-1, keepdim=True)
        ctx.save_for_backward(x, norm)
        return norm

    @staticmethod
    def backward(ctx, grad_output):
        x, norm = ctx.saved_tensors
        safe = torch.where(norm == 0, torch.ones_like(norm), norm)
        return grad_output * x / safe

    @staticmethod
    def sample_inputs():
        yield (rand(2, 3),)
        yield (torch.tensor([[0.0, 0.0], [1.0, 2.0]], dtype=torch.float64, requires_grad=True),)
