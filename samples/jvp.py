"""A Function with both reverse mode and forward mode.

``vjp``, another name for ``backward``, carries gradients from outputs to inputs. ``jvp``
carries tangents from inputs to outputs and gets the tensors saved by ``save_for_forward``.
"""

import gradtool.engine as torch
from gradtool import Function


class Func(Function):
    """``x * y * z`` with two tensors and a number."""

    @staticmethod
    def forward(ctx, x: torch.Tensor, y: torch.Tensor, z: int):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        ctx.z = z
        return x * y * z

    @staticmethod
    def jvp(ctx, x_t, y_t, _):
        x, y = ctx.saved_tensors
        z = ctx.z
        return z * (y * x_t + x * y_t)

    @staticmethod
    def vjp(ctx, grad_out):
        x, y = ctx.saved_tensors
        z = ctx.z
        return z * grad_out * y, z * grad_out * x, None
