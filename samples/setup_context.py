"""A Function in the second form: forward computes, and ``setup_context`` saves.

Here, forward takes no ctx and can be called like any other function. ``setup_context``
receives the inputs, defaults included, and the output.
"""

from gradtool import Function


class Distance(Function):
    """``sqrt(x*x + y*y)``, element by element."""

    @staticmethod
    def forward(x, y):
        return (x * x + y * y).sqrt()

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y = inputs
        ctx.save_for_backward(x, y, output)

    @staticmethod
    def backward(ctx, grad_output):
        x, y, distance = ctx.saved_tensors
        return grad_output * x / distance, grad_output * y / distance
