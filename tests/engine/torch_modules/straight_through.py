"""Straight-through estimators: rounding, a clipped sign, and stochastic-free quantisation."""

import torch
from show import show
from torch.autograd import Function


class RoundSTE(Function):
    @staticmethod
    def forward(ctx, x):
        return torch.round(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


class SignSTE(Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return torch.where(input >= 0, torch.ones_like(input), -torch.ones_like(input))

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input.abs() > 1] = 0
        return grad_input


class FakeQuantize(Function):
    @staticmethod
    def forward(ctx, x, scale, zero_point, quant_min=-8, quant_max=7):
        q = torch.clamp(torch.floor(x / scale + 0.5) + zero_point, quant_min, quant_max)
        inside = torch.logical_and(q > quant_min, q < quant_max)
        ctx.save_for_backward(inside, x, q)
        ctx.scale, ctx.zero_point = scale, zero_point
        return (q - zero_point) * scale

    @staticmethod
    def backward(ctx, g):
        inside, x, q = ctx.saved_tensors
        return g * inside.to(g.dtype), None, None, None, None


def hard_sigmoid_ste(x):
    soft = torch.sigmoid(x)
    hard = (soft > 0.5).to(soft.dtype)
    return hard.detach() - soft.detach() + soft


if __name__ == "__main__":
    x = torch.tensor([-2.5, -1.0, -0.3, 0.0, 0.49, 0.5, 1.5, 2.5, 30.0], dtype=torch.float64)
    x.requires_grad_(True)
    for fn in (
        RoundSTE.apply,
        SignSTE.apply,
        lambda t: FakeQuantize.apply(t, 0.25, 1),
        hard_sigmoid_ste,
    ):
        y = fn(x * 1.0)
        x.grad = None
        (y * x.detach().cos()).sum().backward()
        show("y", y)
        show("grad", x.grad)
