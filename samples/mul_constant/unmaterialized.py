"""The same multiplication, without work for an undefined gradient.

After ``set_materialize_grads(False)``, backward receives an undefined gradient as None instead of
as a tensor of zeros, and can return early.
"""

from gradtool import Function


class MulConstant(Function):
    """``tensor * constant``."""

    @staticmethod
    def forward(ctx, tensor, constant):
        ctx.set_materialize_grads(False)
        ctx.constant = constant
        return tensor * constant

    @staticmethod
    def backward(ctx, grad_output):
        if grad_output is None:
            return None, None

        return grad_output * ctx.constant, None
