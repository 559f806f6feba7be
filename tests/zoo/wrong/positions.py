"""Gather, scatter, masks and quantisers that send gradients to the wrong places."""

import torch
from torch.autograd import Function


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class ScatterAddForgotten(Function):
    """An index that occurs twice gets one of its gradients."""

    expect = {"GT101"}
    diagnosis = "zero"

    @staticmethod
    def forward(ctx, x, index):
        ctx.save_for_backward(index)
        ctx.shape = x.shape
        return x.gather(0, index)

    @staticmethod
    def backward(ctx, g):
        (index,) = ctx.saved_tensors
        return g.new_zeros(ctx.shape).scatter(0, index, g), None

    @staticmethod
    def sample_inputs():
        yield rand(4), torch.tensor([1, 1, 3, 0, 3])


class GathersInsteadOfScatters(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def forward(ctx, x, order):
        ctx.save_for_backward(order)
        return x[order]

    @staticmethod
    def backward(ctx, g):
        (order,) = ctx.saved_tensors
        return g[order], None

    @staticmethod
    def sample_inputs():
        yield rand(4), torch.tensor([2, 0, 3, 1])


class PaddingGetsGradient(Function):
    expect = {"GT101"}
    diagnosis = "slice"
    says = "to `table[indices]` without its factor"

    @staticmethod
    def forward(ctx, table, indices):
        ctx.save_for_backward(indices)
        ctx.rows = table.shape[0]
        return table[indices] * (indices != 0)[:, None]

    @staticmethod
    def backward(ctx, g):
        (indices,) = ctx.saved_tensors
        return g.new_zeros(ctx.rows, g.shape[1]).index_add(0, indices, g), None

    @staticmethod
    def sample_inputs():
        yield rand(4, 2), torch.tensor([0, 2, 3, 0, 1])


class SegmentMeanAsSum(Function):
    expect = {"GT101"}
    diagnosis = "inner"
    says = "`x.new_zeros(size).index_add(0, segment, x)` where forward has"

    @staticmethod
    def forward(ctx, x, segment, size):
        count = torch.bincount(segment, minlength=size).clamp(min=1)
        ctx.save_for_backward(segment)
        return x.new_zeros(size).index_add(0, segment, x) / count

    @staticmethod
    def backward(ctx, g):
        (segment,) = ctx.saved_tensors
        return g[segment], None, None

    @staticmethod
    def sample_inputs():
        yield rand(5), torch.tensor([0, 2, 0, 0, 2]), 3


class StraightThrough(Function):
    """A surrogate: rounding has the derivative zero."""

    expect = {"GT120"}

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.3, 1.2, -0.8, 2.1], dtype=torch.float64, requires_grad=True)
        yield (x,)


class ClampBoundsIncluded(Function):
    """Lets everything through that clamp holds back above."""

    expect = {"GT101"}
    diagnosis = "mask"

    @staticmethod
    def forward(ctx, x, low, high):
        ctx.save_for_backward(x)
        ctx.low = low
        return x.clamp(low, high)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x >= ctx.low), None, None

    @staticmethod
    def sample_inputs():
        x = torch.linspace(-2, 2, 8, dtype=torch.float64).requires_grad_()
        yield x, -1.0, 1.0


class WhereBothSides(Function):
    expect = {"GT101"}
    diagnosis = "mask"
    says = "differentiates `a` where forward has `torch.where(mask, a, b)`"

    @staticmethod
    def forward(ctx, mask, a, b):
        ctx.save_for_backward(mask)
        return torch.where(mask, a, b)

    @staticmethod
    def backward(ctx, g):
        return None, g, g

    @staticmethod
    def sample_inputs():
        yield torch.tensor([True, False, False, True, True]), rand(5), rand(5)


class SelectShiftedByOne(Function):
    expect = {"GT101"}
    diagnosis = "order"

    @staticmethod
    def forward(ctx, x):
        ctx.n = len(x)
        return x[1:]

    @staticmethod
    def backward(ctx, g):
        return torch.cat([g, g.new_zeros(1)])

    @staticmethod
    def sample_inputs():
        yield (rand(5),)


class StrideForgotten(Function):
    """Every other row was taken; the first half gets the gradient."""

    expect = {"GT101"}
    diagnosis = "places"
    says = "the first entries of `x` where forward has `x[::2]`"

    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x[::2].clone()

    @staticmethod
    def backward(ctx, g):
        grad = g.new_zeros(ctx.shape)
        grad[: len(g)] = g
        return grad

    @staticmethod
    def sample_inputs():
        yield (rand(6, 2),)


class LastRowNotPadded(Function):
    """Gradients of a finite difference, without the term of the neighbour."""

    expect = {"GT101"}
    diagnosis = "slice"
    says = "treats `x[:-1]` (line 205) as a constant"

    @staticmethod
    def forward(ctx, x):
        return x[1:] - x[:-1]

    @staticmethod
    def backward(ctx, g):
        return torch.cat([g.new_zeros(1), g])

    @staticmethod
    def sample_inputs():
        yield (rand(5),)


class CumulativeProductAsSum(Function):
    expect = {"GT101"}
    diagnosis = "diagonal"

    @staticmethod
    def forward(ctx, x):
        y = x.cumprod(0)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y / x


class NormClippedAsIdentity(Function):
    """Clips to norm one, and lets the gradient through unchanged."""

    expect = {"GT101"}
    diagnosis = "places"
    says = "the branch of `norm > 1`"

    @staticmethod
    def forward(ctx, x):
        norm = x.norm()
        return x / norm if norm > 1 else x.clone()

    @staticmethod
    def backward(ctx, g):
        return g

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64, requires_grad=True),)


class TriangleNotSymmetrised(Function):
    """Reads both triangles of a symmetric matrix, gives a gradient to the lower one."""

    expect = {"GT101"}
    diagnosis = "mask"

    @staticmethod
    def forward(ctx, a):
        return a + a.T

    @staticmethod
    def backward(ctx, g):
        return (g + g.T).tril()

    @staticmethod
    def sample_inputs():
        yield (rand(3, 3),)
