"""Mish, with a backward that recomputes from the saved input."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from show import show


class MishFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.mul(torch.tanh(F.softplus(x)))

    @staticmethod
    def backward(ctx, grad_output):
        x = ctx.saved_tensors[0]
        x_sigmoid = torch.sigmoid(x)
        x_tanh_sp = F.softplus(x).tanh()
        return grad_output.mul(x_tanh_sp + x * x_sigmoid * (1 - x_tanh_sp * x_tanh_sp))


class HardSwishFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * F.hardtanh(x + 3, 0.0, 6.0).div(6.0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        m = torch.ones_like(x) * (x >= 3.0)
        m = torch.where((x >= -3.0) & (x < 3.0), x.div(3.0).add(0.5), m)
        return grad_output * m


class MemoryEfficientMish(nn.Module):
    def forward(self, x):
        return MishFunction.apply(x)


if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.Sequential(MemoryEfficientMish(), nn.Identity())
    x = torch.linspace(-4.1, 4.3, 9, dtype=torch.float64, requires_grad=True)
    for fn in (net, HardSwishFunction.apply):
        y = fn(x)
        x.grad = None
        y.backward(torch.arange(9, dtype=torch.float64))
        show("y", y)
        show("grad", x.grad)
