"""RMSNorm with a fused backward, and rotary embedding by complex numbers and by halves."""

import torch
import torch.nn as nn
from show import show


class RMSNormFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, X, W, eps):
        shape = X.shape
        dim = shape[-1]
        X = X.contiguous().view(-1, dim)
        r = torch.rsqrt(X.pow(2).mean(-1, keepdim=True) + eps)
        Y = X * r * W
        ctx.eps = eps
        ctx.save_for_backward(X, W, r)
        return Y.view(*shape)

    @staticmethod
    def backward(ctx, dY):
        shape = dY.shape
        dim = shape[-1]
        dY = dY.reshape(-1, dim)
        X, W, r = ctx.saved_tensors
        m = dY * W
        dX = r * (m - X * ((m * X).sum(dim=-1, keepdim=True) * r**2 / dim))
        dW = torch.einsum("nd,nd,no->d", dY, X, r)
        return dX.view(*shape), dW, None


class RotaryFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, cos, sin):
        ctx.save_for_backward(cos, sin)
        x1, x2 = x.chunk(2, dim=-1)
        return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1)

    @staticmethod
    def backward(ctx, g):
        cos, sin = ctx.saved_tensors
        g1, g2 = torch.tensor_split(g, 2, dim=-1)
        return torch.cat([g1 * cos + g2 * sin, g2 * cos - g1 * sin], dim=-1), None, None


def precompute_freqs_cis(dim: int, end: int, theta: float = 10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].double() / dim))
    t = torch.arange(end, device=freqs.device)
    freqs = torch.outer(t, freqs)
    return torch.polar(torch.ones_like(freqs), freqs)


def apply_rotary_emb(xq: torch.Tensor, freqs_cis: torch.Tensor) -> torch.Tensor:
    xq_ = torch.view_as_complex(xq.reshape(*xq.shape[:-1], -1, 2))
    return torch.view_as_real(xq_ * freqs_cis).flatten(-2).type_as(xq)


class Block(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim, dtype=torch.float64) * 1.5)
        self.eps = eps

    def forward(self, x):
        return RMSNormFunction.apply(x, self.weight, self.eps)


if __name__ == "__main__":
    torch.set_default_dtype(torch.float64)
    x = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    x = torch.sin(torch.arange(x.numel()) * 0.7).reshape_as(x).requires_grad_()
    norm = Block(4)
    cis = precompute_freqs_cis(4, 3)
    y = norm(x)
    z = apply_rotary_emb(y, cis)
    w = RotaryFunction.apply(y, cis.real, cis.imag)
    (z * w.detach().exp() + w.square()).sum().backward()
    show("z", z)
    show("w", w)
    show("x.grad", x.grad)
    show("weight.grad", norm.weight.grad)
