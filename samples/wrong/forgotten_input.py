"""Wrong on purpose: backward returns None for a factor that the product depends on.

Trips GT106: None where the derivative is not zero. In training this looks like a
parameter that never learns.
"""

from gradtool import Function


class Scale(Function):
    """``x * scale``."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        return grad_output * scale, None  # should be grad_output * x in place of None
