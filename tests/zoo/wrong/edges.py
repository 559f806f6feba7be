"""Edges: no elements, no dimensions, singular points, outputs wrongly declared constant."""

import torch
from torch.autograd import Function


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class EmptyDividesByCount(Function):
    expect = {"GT113"}

    @staticmethod
    def forward(ctx, x):
        return x - x.sum() / max(1, x.numel())

    @staticmethod
    def backward(ctx, grad_output):
        share = 1 / grad_output.numel()  # <-
        return grad_output - grad_output.sum() * share

    @staticmethod
    def sample_inputs():
        yield (rand(3, 2),)


class EmptyBackwardTakesMaximum(Function):
    """Shifts by the largest entry, which an empty tensor does not have."""

    expect = {"GT113"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        peak = x.detach().max()  # <-
        return grad_output * (x - peak).exp() * peak.exp()

    @staticmethod
    def sample_inputs():
        yield (rand(4),)


class EmptyBackwardTakesFirst(Function):
    expect = {"GT113"}

    @staticmethod
    def forward(ctx, x):
        return 4 * x

    @staticmethod
    def backward(ctx, grad_output):
        first = grad_output.reshape(-1)[0]  # <-
        return 4 * grad_output + 0 * first

    @staticmethod
    def sample_inputs():
        yield (rand(3),)


class NormAtZero(Function):
    expect = {"GT114"}

    @staticmethod
    def forward(ctx, x):
        norm = (x * x).sum(-1).sqrt()
        ctx.save_for_backward(x, norm)
        return norm

    @staticmethod
    def backward(ctx, grad_output):
        x, norm = ctx.saved_tensors
        return (grad_output / norm).unsqueeze(-1) * x  # <-

    @staticmethod
    def sample_inputs():
        x = torch.tensor([[0.0, 0.0, 0.0], [1.0, 2.0, -1.0]], dtype=torch.float64)
        yield (x.requires_grad_(),)


class SincAtZero(Function):
    expect = {"GT114"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        safe = torch.where(x == 0, torch.ones_like(x), x)
        return torch.where(x == 0, torch.ones_like(x), safe.sin() / safe)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x * x.cos() - x.sin()) / (x * x)  # <-

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.0, 0.5, 2.0], dtype=torch.float64, requires_grad=True),)


class SoftplusOverflows(Function):
    expect = {"GT114"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.logaddexp(x, torch.zeros_like(x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.exp() / (1 + x.exp())  # <-

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([-2.0, 1.0, 800.0], dtype=torch.float64, requires_grad=True),)


class ProductByDivision(Function):
    """The product over the input itself: fails where an entry is zero."""

    expect = {"GT114"}

    @staticmethod
    def forward(ctx, x):
        product = x.prod()
        ctx.save_for_backward(x, product)
        return product

    @staticmethod
    def backward(ctx, grad_output):
        x, product = ctx.saved_tensors
        return grad_output * product / x  # <-

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.0, 2.0, -1.5], dtype=torch.float64, requires_grad=True),)


class MaskedByMultiplication(Function):
    """Zero times infinity: the branch that is not taken poisons the gradient."""

    expect = {"GT114"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        positive = x > 0
        safe = torch.where(positive, x, torch.ones_like(x))
        return torch.where(positive, x * safe.log(), torch.zeros_like(x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x > 0) * (x.log() + 1)  # <-

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([-1.0, 0.5, 2.0], dtype=torch.float64, requires_grad=True),)


class NormMarkedConstant(Function):
    expect = {"GT115"}
    at = "forward"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        total = x.sum()
        ctx.mark_non_differentiable(total)
        return x * x, total

    @staticmethod
    def backward(ctx, grad_square, grad_total):
        (x,) = ctx.saved_tensors
        return grad_square * 2 * x

    @staticmethod
    def sample_inputs():
        yield (rand(4),)


class ValuesMarkedForIndices(Function):
    """Sort marks the values instead of the indices."""

    expect = {"GT115"}
    at = "forward"

    @staticmethod
    def forward(ctx, x, y):
        low, high = torch.minimum(x, y), torch.maximum(x, y)
        ctx.save_for_backward(x, y)
        ctx.mark_non_differentiable(high)
        return low, high

    @staticmethod
    def backward(ctx, grad_low, grad_high):
        x, y = ctx.saved_tensors
        return grad_low * (x < y), grad_low * (x >= y)

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
        y = torch.tensor([1.5, -2.0, 0.25], dtype=torch.float64, requires_grad=True)
        yield x, y


class EverythingMarkedConstant(Function):
    expect = {"GT115"}
    at = "forward"

    @staticmethod
    def forward(ctx, x):
        y = x.sin()
        ctx.mark_non_differentiable(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output

    @staticmethod
    def sample_inputs():
        yield (rand(4),)
