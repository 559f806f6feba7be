"""The magnitude of a complex tensor, with torch's convention for complex gradients."""

import torch
from show import show


class Magnitude(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return torch.sqrt(z.real**2 + z.imag**2)

    @staticmethod
    def backward(ctx, grad_output):
        (z,) = ctx.saved_tensors
        magnitude = z.abs()
        return grad_output * torch.where(magnitude == 0, torch.zeros_like(z), z / magnitude)


if __name__ == "__main__":
    real = torch.tensor([3.0, -0.5, 0.0, 1.0], dtype=torch.float64)
    imag = torch.tensor([4.0, 0.25, 0.0, -2.0], dtype=torch.float64)
    z = torch.complex(real, imag).requires_grad_()
    y = Magnitude.apply(z)
    (y * torch.arange(1, 5, dtype=torch.float64)).sum().backward()
    show("y", y)
    show("z.grad", torch.view_as_real(z.grad))
