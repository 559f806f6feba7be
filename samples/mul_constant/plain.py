"""Multiplication by a plain number, in its shortest form."""

from gradtool import Function


class MulConstant(Function):
    """``tensor * constant``."""

    @staticmethod
    def forward(ctx, tensor, constant):
        ctx.constant = constant
        return tensor * constant

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.constant, None
