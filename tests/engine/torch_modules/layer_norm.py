"""Layer normalization with a hand-written backward and optional affine parameters."""

from typing import Optional

import torch
from show import show
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class LayerNormFunction(Function):
    @staticmethod
    def forward(ctx, input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], eps: float):
        mean = input.mean(dim=-1, keepdim=True)
        var = input.var(dim=-1, unbiased=False, keepdim=True)
        rstd = torch.rsqrt(var + eps)
        normalized = (input - mean) * rstd
        ctx.save_for_backward(normalized, weight, rstd)
        ctx.has_bias = bias is not None
        output = normalized
        if weight is not None:
            output = output * weight
        if bias is not None:
            output = output + bias
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        normalized, weight, rstd = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        n = normalized.size(-1)
        g = grad_output if weight is None else grad_output * weight
        if ctx.needs_input_grad[0]:
            sum_g = g.sum(-1, keepdim=True)
            sum_gx = (g * normalized).sum(-1, keepdim=True)
            grad_input = (rstd / n) * (n * g - sum_g - normalized * sum_gx)
        if weight is not None and ctx.needs_input_grad[1]:
            grad_weight = (grad_output * normalized).flatten(0, -2).sum(0)
        if ctx.has_bias and ctx.needs_input_grad[2]:
            grad_bias = grad_output.flatten(0, -2).sum(0)
        return grad_input, grad_weight, grad_bias, None


class LayerNorm(torch.nn.Module):
    def __init__(self, normalized_shape: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.ones(normalized_shape))
        self.bias = torch.nn.Parameter(torch.zeros(normalized_shape))

    def forward(self, x: Tensor) -> Tensor:
        return LayerNormFunction.apply(x, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.weight.numel()}, eps={self.eps}"


if __name__ == "__main__":
    layer = LayerNorm(4).double()
    print(layer)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([1.0, 0.5, -2.0, 3.0]))
        layer.bias.add_(0.125)
    x = torch.sin(torch.arange(24, dtype=torch.float64)).view(2, 3, 4).requires_grad_(True)
    y = layer(x)
    y.backward(torch.cos(torch.arange(24, dtype=torch.float64)).view_as(y))
    show("y", y)
    show("x.grad", x.grad)
    show("weight.grad", layer.weight.grad)
    show("bias.grad", layer.bias.grad)
    plain = LayerNormFunction.apply(x, None, None, 1e-5)
    print(torch.allclose(plain.mean(-1), torch.zeros(2, 3).double()))
