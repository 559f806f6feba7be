"""Causal scaled dot-product attention, decorated as published kernels are."""

import torch
from show import show
from torch.amp import custom_bwd, custom_fwd


class Attention(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type="cuda")
    def forward(ctx, q, k, v, causal, scale=None):
        scale = q.size(-1) ** -0.5 if scale is None else scale
        scores = torch.matmul(q, k.transpose(-2, -1)) * scale
        if causal:
            n, m = scores.shape[-2:]
            mask = torch.ones(n, m, dtype=torch.bool, device=q.device).triu(1)
            scores = scores.masked_fill(mask, float("-inf"))
        peak = scores.amax(dim=-1, keepdim=True)
        p = torch.exp(scores - peak)
        p = p / p.sum(dim=-1, keepdim=True)
        out = p @ v
        ctx.save_for_backward(q, k, v, p, out)
        ctx.scale = scale
        return out

    @staticmethod
    @custom_bwd(device_type="cuda")
    def backward(ctx, do):
        q, k, v, p, out = ctx.saved_tensors
        dv = p.transpose(-2, -1) @ do
        dp = do @ v.mT
        delta = (do * out).sum(-1, keepdim=True)
        ds = p * (dp - delta)
        dq = ds @ k * ctx.scale
        dk = ds.transpose(-2, -1) @ q * ctx.scale
        return dq, dk, dv, None, None


@torch.compile
def attention(q, k, v, causal=True):
    return Attention.apply(q, k, v, causal)


if __name__ == "__main__":
    n = 2 * 2 * 3 * 4
    base = torch.arange(n, dtype=torch.float64).view(2, 2, 3, 4)
    q, k, v = (torch.sin(base * (i + 1) + i).requires_grad_() for i in range(3))
    out = Attention.apply(q, k, v, True)
    out.square().sum().backward()
    show("out", out)
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        show(f"d{name}", tensor.grad)
    show("full", Attention.apply(q, k, v, False, 0.5))
