"""Wrong on purpose: backward uses an intermediate that autograd knows nothing about.

The gradient is right, but its derivative is wrong: there, ``t`` counts as a constant, because it
is neither an input nor an output of forward.

Trips GT202: double backward is silently cut. There are three ways to fix it: save ``x`` and
compute ``t`` again in backward, return ``t`` as a second output, or decorate backward with
``@once_differentiable``, so that a second derivative raises.
"""

from gradtool import Function


class TanhSquared(Function):
    """``tanh(x) ** 2``."""

    @staticmethod
    def forward(ctx, x):
        t = x.tanh()
        ctx.save_for_backward(t)
        return t * t

    @staticmethod
    def backward(ctx, grad_output):
        (t,) = ctx.saved_tensors
        return grad_output * 2 * t * (1 - t * t)
