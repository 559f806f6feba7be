"""Cube by setup_context, with the intermediate returned so that it can be saved."""

import torch
from show import show


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(x):
        # The derivative is returned too: only inputs and outputs may be saved.
        dx = 3 * x**2
        result = x**3
        return result, dx

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        result, dx = output
        ctx.save_for_backward(x, dx)

    @staticmethod
    def backward(ctx, grad_output, grad_dx):
        x, dx = ctx.saved_tensors
        result = grad_output * dx + grad_dx * 6 * x
        return result


def my_cube(x):
    result, dx = Cube.apply(x)
    return result


if __name__ == "__main__":
    x = torch.tensor([-1.5, 0.0, 0.25, 2.0], dtype=torch.float64, requires_grad=True)
    y = my_cube(x)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = torch.autograd.grad(second.sum(), x)
    show("y", y)
    show("first", first)
    show("second", second)
    show("third", third)
    print(torch.autograd.gradcheck(my_cube, (x,)), torch.autograd.gradgradcheck(my_cube, (x,)))
