"""An exponential that saves its output.

The derivative of ``exp`` is ``exp`` itself, so backward does not compute it again. A
Function may save its output and remain differentiable twice: autograd knows where it came from.
"""

from gradtool import Function


class Exp(Function):
    """``exp(i)``."""

    @staticmethod
    def forward(ctx, i):
        result = i.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (result,) = ctx.saved_tensors
        return grad_output * result
