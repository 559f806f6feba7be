"""Swish with a recomputed backward, inside an nn.Module."""

import torch
import torch.nn as nn
from show import show


class SwishImplementation(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        result = i * torch.sigmoid(i)
        ctx.save_for_backward(i)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        i = ctx.saved_tensors[0]
        sigmoid_i = torch.sigmoid(i)
        return grad_output * (sigmoid_i * (1 + i * (1 - sigmoid_i)))


class MemoryEfficientSwish(nn.Module):
    def forward(self, x):
        return SwishImplementation.apply(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([0.5, -1.5, 2.0], dtype=torch.float64))
        self.register_buffer("shift", torch.tensor(0.25, dtype=torch.float64))
        self.act = MemoryEfficientSwish()

    def forward(self, x):
        return self.act(x * self.scale + self.shift)


if __name__ == "__main__":
    net = Net()
    x = torch.linspace(-3, 3, 12, dtype=torch.float64).reshape(4, 3).requires_grad_()
    y = net(x)
    (grad,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    grad.pow(2).sum().backward()
    print(list(net.state_dict()), sum(p.numel() for p in net.parameters()))
    show("y", y)
    show("grad", grad)
    show("x.grad", x.grad)
    show("scale.grad", net.scale.grad)
