"""The same multiplication with the reason for each line beside it."""

from gradtool import Function


class MulConstant(Function):
    """``tensor * constant``."""

    @staticmethod
    def forward(ctx, tensor, constant):
        # A value that is no tensor may be kept on ctx as an attribute. Tensors belong
        # in save_for_backward.
        ctx.constant = constant
        return tensor * constant

    @staticmethod
    def backward(ctx, grad_output):
        # One gradient for each argument of forward. An argument that is no tensor has
        # none, so its place holds None.
        return grad_output * ctx.constant, None
