"""Sorting with an index that has no gradient."""

import torch
from show import show
from torch.autograd import Function


class Sort(Function):
    @staticmethod
    def forward(ctx, x, descending):
        sorted, idx = x.sort(dim=-1, descending=descending)
        ctx.mark_non_differentiable(idx)
        ctx.save_for_backward(idx)
        return sorted, idx

    @staticmethod
    def backward(ctx, g1, g2):
        (idx,) = ctx.saved_tensors
        grad_input = torch.zeros_like(g1)
        grad_input.scatter_add_(-1, idx, g1)
        return grad_input, None


if __name__ == "__main__":
    x = torch.tensor([[3.0, -1.0, 2.0, 0.5], [0.0, 7.0, -7.0, 1.0]]).double().requires_grad_()
    for descending in (False, True):
        values, index = Sort.apply(x, descending)
        weights = torch.arange(1, 5, dtype=torch.float64)
        (grad,) = torch.autograd.grad((values * weights).sum(), x)
        print(index.requires_grad, index.dtype)
        show("values", values)
        show("index", index)
        show("grad", grad)
