"""Several arguments, and intermediates saved for backward.

Autograd does not know how forward computed a tensor that is neither an input nor an output, so
differentiating backward would miss a term. Functions that save an intermediate of this kind
declare with ``@once_differentiable`` that their backward cannot be differentiated. A second
derivative then raises instead of being wrong.
"""

import gradtool.engine as torch
from gradtool import Function, once_differentiable


class TanhProduct(Function):
    """``x * tanh(y)``: two tensors; ``tanh(y)`` is an intermediate."""

    @staticmethod
    def forward(ctx, x, y):
        t = y.tanh()
        ctx.save_for_backward(x, t)
        return x * t

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_out):
        x, t = ctx.saved_tensors
        return grad_out * t, grad_out * x * (1 - t * t)


class Func(Function):
    """``x*y + y*z + x*y*z``: two tensors and a number; ``x*z`` is an intermediate."""

    @staticmethod
    def forward(ctx, x: torch.Tensor, y: torch.Tensor, z: int):
        w = x * z
        out = x * y + y * z + w * y
        ctx.save_for_backward(x, y, w, out)
        ctx.z = z  # a number, so ctx may hold it
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_out):
        x, y, w, out = ctx.saved_tensors
        z = ctx.z
        gx = grad_out * (y + y * z)
        gy = grad_out * (x + z + w)
        gz = None
        return gx, gy, gz
