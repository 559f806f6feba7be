"""Wrong on purpose: the derivative of x cubed without the factor 3.

Trips GT101: the gradient differs from the derivative.
"""

from gradtool import Function


class Cube(Function):
    """``x * x * x``."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x * x  # should be 3 * grad_output * x * x
