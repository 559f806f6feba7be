"""The same multiplication with a comment that explains each line."""

from gradtool import Function


class MulConstant(Function):
    """``tensor * constant``."""

    @staticmethod
    def forward(ctx, tensor, constant):
        # A value that is not a tensor may be kept on ctx as an attribute. Tensors belong
        # in save_for_backward.
        ctx.constant = constant
        return tensor * constant

    @staticmethod
    def backward(ctx, grad_output):
        # One gradient for each argument of forward. An argument that is not a tensor has
        # none, so return None in its place.
        return grad_output * ctx.constant, None
