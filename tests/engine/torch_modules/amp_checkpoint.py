"""custom_fwd and custom_bwd around a Function, a checkpoint that recomputes, a reversible block."""

import torch
import torch.nn as nn
from show import show
from torch.amp import custom_bwd, custom_fwd
from torch.utils.checkpoint import checkpoint


class MatMul(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type="cuda")
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a.mm(b)

    @staticmethod
    @custom_bwd(device_type="cuda")
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad.mm(b.t()), a.t().mm(grad)


class CheckpointFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run_function, length, *args):
        ctx.run_function = run_function
        ctx.input_tensors = list(args[:length])
        ctx.input_params = list(args[length:])
        with torch.no_grad():
            output_tensors = ctx.run_function(*ctx.input_tensors)
        return output_tensors

    @staticmethod
    def backward(ctx, *output_grads):
        ctx.input_tensors = [x.detach().requires_grad_(True) for x in ctx.input_tensors]
        with torch.enable_grad():
            shallow_copies = [x.view_as(x) for x in ctx.input_tensors]
            output_tensors = ctx.run_function(*shallow_copies)
        input_grads = torch.autograd.grad(
            output_tensors,
            ctx.input_tensors + ctx.input_params,
            output_grads,
            allow_unused=True,
        )
        del ctx.input_tensors
        del ctx.input_params
        del output_tensors
        return (None, None) + input_grads


class ReversibleBlock(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, f, g):
        x1, x2 = torch.chunk(x, 2, dim=1)
        with torch.no_grad():
            y1 = x1 + f(x2)
            y2 = x2 + g(y1)
        ctx.f, ctx.g = f, g
        y = torch.cat([y1, y2], dim=1)
        ctx.save_for_backward(y.detach())
        return y

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        f, g = ctx.f, ctx.g
        y1, y2 = y.chunk(2, 1)
        dy1, dy2 = dy.chunk(2, 1)
        with torch.enable_grad():
            y1 = y1.detach().requires_grad_()
            gy1 = g(y1)
            torch.autograd.backward(gy1, dy2)
        with torch.no_grad():
            x2 = y2 - gy1
            dx1 = dy1 + y1.grad
        with torch.enable_grad():
            x2 = x2.detach().requires_grad_()
            fx2 = f(x2)
            torch.autograd.backward(fx2, dx1)
        return torch.cat([dx1, dy2 + x2.grad], dim=1), None, None


def linear(n, m, seed):
    layer = nn.Linear(n, m).double()
    with torch.no_grad():
        for p in layer.parameters():
            p.copy_(torch.sin(torch.arange(p.numel()).double() + seed).view_as(p))
    return layer


if __name__ == "__main__":
    a = torch.arange(6, dtype=torch.float64).view(2, 3).requires_grad_()
    b = torch.linspace(-1, 1, 12, dtype=torch.float64).view(3, 4).requires_grad_()
    MatMul.apply(a, b).tanh().sum().backward()
    show("a.grad", a.grad)
    show("b.grad", b.grad)

    f, g = linear(2, 2, 0), linear(2, 2, 7)
    x = torch.cos(torch.arange(8, dtype=torch.float64)).view(2, 4).requires_grad_()
    y = ReversibleBlock.apply(x, f, g)
    y.square().sum().backward()
    show("y", y)
    show("x.grad", x.grad)
    show("f.weight.grad", f.weight.grad)
    show("g.bias.grad", g.bias.grad)

    for params in (f, g):
        params.zero_grad(set_to_none=True)
    half = x.detach()[:, :2].requires_grad_()
    out = CheckpointFunction.apply(lambda t: g(f(t).sigmoid()), 1, half, *f.parameters())
    out.sum().backward()
    show("half.grad", half.grad)
    show("f.weight.grad", f.weight.grad)
    half.grad = None
    checkpoint(lambda t: g(f(t).sigmoid()), half, use_reentrant=False).sum().backward()
    show("half.grad", half.grad)
