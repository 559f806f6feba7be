"""An addition written over its first argument, declared with mark_dirty."""

import torch
from show import show
from torch.autograd.function import InplaceFunction


class AddConstant_(InplaceFunction):
    @staticmethod
    def forward(ctx, tensor, other, alpha=1.0):
        ctx.alpha = alpha
        ctx.mark_dirty(tensor)
        return tensor.add_(other, alpha=alpha)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, ctx.alpha * grad_output.sum(0), None


if __name__ == "__main__":
    x = torch.arange(6, dtype=torch.float64).reshape(2, 3).requires_grad_()
    b = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = x.clone()
    before = y._version
    z = AddConstant_.apply(y, b, 3.0)
    print(z is y, y._version - before, y.grad_fn.name())
    (z.exp() * 1e-2).sum().backward()
    show("z", z)
    show("x.grad", x.grad)
    show("b.grad", b.grad)
    try:
        AddConstant_.apply(x, b)
    except RuntimeError as error:
        print("leaf" in str(error))
    saved = x.sigmoid()
    saved.mul_(2)
    try:
        saved.sum().backward()
    except RuntimeError as error:
        print("modified by an inplace operation" in str(error))
