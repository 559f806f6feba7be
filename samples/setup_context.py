"""The second way to write a Function: forward computes, ``setup_context`` remembers.

Forward then takes no ctx and can be called as an ordinary function. ``setup_context``
receives what went in, defaults included, and what came out.
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
