"""A Function whose arguments only the example in the docstring of its caller shows."""

import torch
from torch.autograd import Function


class Residual:
    """What the solver takes: a map that shrinks, and the point at which it is evaluated."""

    def __init__(self, shrinking):
        self.shrinking = shrinking

    def at(self, y, a):
        return y - self.shrinking(y, a)


def settled(shrinking, y0, a, **options):
    """Solve ``y = shrinking(y, a)``.

    Example:
        >>> a = torch.tensor([0.4, -0.2, 0.9]).requires_grad_()
        >>> y = settled(lambda y, a: 0.25 * torch.sin(y) + a * a, torch.zeros(3), a)
        >>> y.shape
        torch.Size([3])
    """
    return Settled.apply(Residual(shrinking), y0, {"rounds": 40, **options}, a)


class Settled(Function):
    @staticmethod
    def forward(ctx, residual, y, options, a):
        if not isinstance(residual, Residual):
            raise TypeError("a residual is needed")
        for _ in range(options.pop("rounds")):
            y = y - residual.at(y, a)
        ctx.residual = residual
        ctx.save_for_backward(y, a)
        return y.clone()

    @staticmethod
    def backward(ctx, grad):
        y, a = ctx.saved_tensors
        with torch.enable_grad():
            again = y.detach().requires_grad_()
            slope = torch.autograd.grad(ctx.residual.at(again, a.detach()).sum(), again)[0]
            b = a.detach().requires_grad_()
            left = ctx.residual.at(y.detach(), b)
        return None, None, None, -torch.autograd.grad(left, b, grad / slope)[0]
