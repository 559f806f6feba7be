"""Sparsemax and entmax 1.5, by sorting, with their sparse backward."""

import torch
import torch.nn as nn
from show import show
from torch.autograd import Function


def _make_ix_like(X, dim):
    d = X.size(dim)
    rho = torch.arange(1, d + 1, device=X.device, dtype=X.dtype)
    view = [1] * X.dim()
    view[0] = -1
    return rho.view(view).transpose(0, dim)


def _roll_last(X, dim):
    if dim == -1:
        return X
    elif dim < 0:
        dim = X.dim() - dim
    perm = [i for i in range(X.dim()) if i != dim] + [dim]
    return X.permute(perm)


class SparsemaxFunction(Function):
    @classmethod
    def forward(cls, ctx, X, dim=-1):
        ctx.dim = dim
        max_val, _ = X.max(dim=dim, keepdim=True)
        X = X - max_val
        topk, _ = torch.sort(X, dim=dim, descending=True)
        cumsum = topk.cumsum(dim) - 1
        rhos = _make_ix_like(topk, dim)
        support = rhos * topk > cumsum
        support_size = support.sum(dim=dim).unsqueeze(dim)
        tau = cumsum.gather(dim, support_size - 1)
        tau /= support_size.to(X.dtype)
        output = torch.clamp(X - tau, min=0)
        ctx.save_for_backward(support_size, output)
        return output

    @classmethod
    def backward(cls, ctx, grad_output):
        supp_size, output = ctx.saved_tensors
        dim = ctx.dim
        grad_input = grad_output.clone()
        grad_input[output == 0] = 0
        v_hat = grad_input.sum(dim=dim) / supp_size.to(output.dtype).squeeze(dim)
        v_hat = v_hat.unsqueeze(dim)
        grad_input = torch.where(output != 0, grad_input - v_hat, grad_input)
        return grad_input, None


class Entmax15Function(Function):
    @classmethod
    def forward(cls, ctx, X, dim=0):
        ctx.dim = dim
        max_val, _ = X.max(dim=dim, keepdim=True)
        X = (X - max_val) / 2
        Xsrt, _ = torch.sort(X, dim=dim, descending=True)
        rho = _make_ix_like(Xsrt, dim)
        mean = Xsrt.cumsum(dim) / rho
        mean_sq = (Xsrt**2).cumsum(dim) / rho
        ss = rho * (mean_sq - mean**2)
        delta_nz = torch.clamp((1 - ss) / rho, 0)
        tau = mean - torch.sqrt(delta_nz)
        support_size = (tau <= Xsrt).sum(dim).unsqueeze(dim)
        tau_star = tau.gather(dim, support_size - 1)
        Y = torch.clamp(X - tau_star, min=0) ** 2
        ctx.save_for_backward(Y)
        return Y

    @classmethod
    def backward(cls, ctx, dY):
        (Y,) = ctx.saved_tensors
        gppr = Y.sqrt()
        dX = dY * gppr
        q = dX.sum(ctx.dim) / gppr.sum(ctx.dim)
        q = q.unsqueeze(ctx.dim)
        dX -= q * gppr
        return dX, None


class Sparsemax(nn.Module):
    def __init__(self, dim=-1):
        self.dim = dim
        super(Sparsemax, self).__init__()

    def forward(self, X):
        return SparsemaxFunction.apply(X, self.dim)

    def extra_repr(self):
        return "dim={}".format(self.dim)


if __name__ == "__main__":
    print(Sparsemax(1))
    x = (torch.sin(torch.arange(15, dtype=torch.float64) * 1.7) * 1.5).view(3, 5)
    x.requires_grad_()
    for fn in (Sparsemax(dim=1), lambda t: Entmax15Function.apply(t, 1), Sparsemax(0)):
        y = fn(x)
        (g,) = torch.autograd.grad(y, x, torch.cos(torch.arange(15.0).double()).view(3, 5))
        show("y", y)
        show("grad", g)
