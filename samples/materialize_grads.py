"""Gradients of outputs that nobody used.

By default, backward receives a tensor of zeros for them. After ``set_materialize_grads(False)``,
it receives None, which saves work, but which backward must check for.
"""

import gradtool.engine as torch
from gradtool import Function, once_differentiable


class SimpleFunc(Function):
    """Two copies; undefined gradients arrive as zeros."""

    @staticmethod
    def forward(ctx, x):
        return x.clone(), x.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, g1, g2):
        return g1 + g2  # both are tensors, even if an output was not used


class Func(Function):
    """Two copies; undefined gradients arrive as None."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x.clone(), x.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        grad_input = torch.zeros_like(x)
        if g1 is not None:  # either may be None
            grad_input += g1
        if g2 is not None:
            grad_input += g2
        return grad_input
