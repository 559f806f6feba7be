"""A Function that changes its input.

``mark_dirty`` declares that to autograd. Without it, an operation that saved the old value
earlier would silently use the new one in its gradient.
"""

from gradtool import Function, once_differentiable


class Inplace(Function):
    """``x + 1``, written into ``x``."""

    @staticmethod
    def forward(ctx, x):
        x_npy = x.numpy()  # the same memory under a NumPy name
        x_npy += 1
        ctx.mark_dirty(x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        return grad_output
