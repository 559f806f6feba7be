"""Wrong on purpose: tensors in a list, which autograd does not see.

Trips GT121: no gradient reaches them, whatever backward returns.
"""

from gradtool import Function, randn


class WeightedSum(Function):
    """``weight * (xs[0] + xs[1] + ...)``."""

    @staticmethod
    def forward(ctx, weight, xs):  # should be forward(ctx, weight, *xs)
        total = sum(xs)
        ctx.save_for_backward(total)
        return weight * total

    @staticmethod
    def backward(ctx, grad_output):
        (total,) = ctx.saved_tensors
        return grad_output * total, None

    @staticmethod
    def sample_inputs():
        xs = [randn(3, requires_grad=True) for _ in range(2)]
        yield randn(3, requires_grad=True), xs
