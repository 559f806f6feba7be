"""Cotangents that are None: a backward that asked for them and does not expect them."""

import torch
from torch.autograd import Function


class UndefinedMultiplied(Function):
    expect = {"GT108"}

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x.sin(), x.exp()

    @staticmethod
    def backward(ctx, grad_sin, grad_exp):
        (x,) = ctx.saved_tensors
        return grad_sin * x.cos() + grad_exp * x.exp()  # <-


class UndefinedMeansAllUndefined(Function):
    expect = {"GT108"}

    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, y)
        return x * y, x - y

    @staticmethod
    def backward(ctx, grad_product, grad_difference):
        if grad_product is None or grad_difference is None:
            return None, None
        x, y = ctx.saved_tensors
        return (
            grad_product * y + grad_difference,
            grad_product * x - grad_difference,
        )


class UndefinedTakenForOnes(Function):
    expect = {"GT108"}

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x * x, x.exp()

    @staticmethod
    def backward(ctx, grad_square, grad_exp):
        (x,) = ctx.saved_tensors
        if grad_square is None:
            grad_square = torch.ones_like(x)
        if grad_exp is None:
            grad_exp = torch.ones_like(x)
        return grad_square * 2 * x + grad_exp * x.exp()


class ShapeOfUndefined(Function):
    expect = {"GT108"}

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x.sum(), 2 * x

    @staticmethod
    def backward(ctx, grad_sum, grad_double):
        grad = torch.zeros(grad_double.shape, dtype=grad_double.dtype)  # <-
        if grad_sum is not None:
            grad = grad + grad_sum
        return grad + 2 * grad_double


class OnlySecondGuarded(Function):
    expect = {"GT108"}

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x.cos(), 5 * x

    @staticmethod
    def backward(ctx, grad_cos, grad_five):
        (x,) = ctx.saved_tensors
        grad = -grad_cos * x.sin()  # <-
        if grad_five is not None:
            grad = grad + 5 * grad_five
        return grad
