"""Two outputs, one of which has no derivative.

The permutation consists of integers, so ``mark_non_differentiable`` declares that it has no
gradient. backward still receives one for it, which is always zero, and ignores it.
"""

import gradtool.engine as torch
from gradtool import Function, once_differentiable


class Func(Function):
    """The sorted vector and the permutation that sorts it."""

    @staticmethod
    def forward(ctx, x):
        sorted, idx = x.sort()
        ctx.mark_non_differentiable(idx)
        ctx.save_for_backward(x, idx)
        return sorted, idx

    @staticmethod
    @once_differentiable
    def backward(ctx, g1, g2):  # g2 belongs to idx
        x, idx = ctx.saved_tensors
        grad_input = torch.zeros_like(x)
        grad_input.index_add_(0, idx, g1)
        return grad_input
