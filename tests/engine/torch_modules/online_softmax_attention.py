"""Attention in tiles with an online softmax, forward and backward, without the score matrix."""

import torch
from show import show


class FlashAttentionFunction(torch.autograd.Function):
    @staticmethod
    @torch.no_grad()
    def forward(ctx, q, k, v, causal, q_bucket_size, k_bucket_size):
        device = q.device
        max_neg_value = -torch.finfo(q.dtype).max
        o = torch.zeros_like(q)
        all_row_sums = torch.zeros((*q.shape[:-1], 1), device=device, dtype=q.dtype)
        all_row_maxes = torch.full((*q.shape[:-1], 1), max_neg_value, device=device, dtype=q.dtype)
        scale = q.shape[-1] ** -0.5

        row_splits = zip(
            q.split(q_bucket_size, dim=-2),
            o.split(q_bucket_size, dim=-2),
            all_row_sums.split(q_bucket_size, dim=-2),
            all_row_maxes.split(q_bucket_size, dim=-2),
        )
        for ind, (qc, oc, row_sums, row_maxes) in enumerate(row_splits):
            q_start = ind * q_bucket_size
            for k_ind, (kc, vc) in enumerate(
                zip(k.split(k_bucket_size, dim=-2), v.split(k_bucket_size, dim=-2))
            ):
                k_start = k_ind * k_bucket_size
                attn = torch.einsum("... i d, ... j d -> ... i j", qc, kc) * scale
                if causal and q_start < (k_start + k_bucket_size - 1):
                    mask = torch.ones(
                        (qc.shape[-2], kc.shape[-2]), dtype=torch.bool, device=device
                    ).triu(q_start - k_start + 1)
                    attn.masked_fill_(mask, max_neg_value)
                block_row_maxes = attn.amax(dim=-1, keepdims=True)
                new_row_maxes = torch.maximum(block_row_maxes, row_maxes)
                exp_weights = torch.exp(attn - new_row_maxes)
                block_row_sums = exp_weights.sum(dim=-1, keepdims=True).clamp(min=1e-10)
                exp_values = torch.einsum("... i j, ... j d -> ... i d", exp_weights, vc)
                exp_row_max_diff = torch.exp(row_maxes - new_row_maxes)
                new_row_sums = exp_row_max_diff * row_sums + block_row_sums
                oc.mul_(exp_row_max_diff).add_(exp_values)
                row_maxes.copy_(new_row_maxes)
                row_sums.copy_(new_row_sums)
            oc.div_(row_sums)

        lse = all_row_sums.log() + all_row_maxes
        ctx.args = (causal, scale, q_bucket_size, k_bucket_size)
        ctx.save_for_backward(q, k, v, o, lse)
        return o

    @staticmethod
    @torch.no_grad()
    def backward(ctx, do):
        causal, scale, q_bucket_size, k_bucket_size = ctx.args
        q, k, v, o, lse = ctx.saved_tensors
        max_neg_value = -torch.finfo(q.dtype).max
        dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        rows = zip(*[t.split(q_bucket_size, dim=-2) for t in (q, o, do, lse, dq)])
        for ind, (qc, oc, doc, lsec, dqc) in enumerate(rows):
            q_start = ind * q_bucket_size
            columns = zip(*[t.split(k_bucket_size, dim=-2) for t in (k, v, dk, dv)])
            for k_ind, (kc, vc, dkc, dvc) in enumerate(columns):
                k_start = k_ind * k_bucket_size
                attn = qc @ kc.transpose(-2, -1) * scale
                if causal and q_start < (k_start + k_bucket_size - 1):
                    mask = attn.new_ones(attn.shape[-2:], dtype=torch.bool)
                    mask = mask.triu(q_start - k_start + 1)
                    attn.masked_fill_(mask, max_neg_value)
                p = torch.exp(attn - lsec)
                dvc.add_(torch.einsum("... i j, ... i d -> ... j d", p, doc))
                dp = torch.einsum("... i d, ... j d -> ... i j", doc, vc)
                D = (doc * oc).sum(dim=-1, keepdims=True)
                ds = p * scale * (dp - D)
                dqc += ds @ kc
                dkc += ds.mT @ qc
        return dq, dk, dv, None, None, None


if __name__ == "__main__":
    q, k, v = [
        torch.cos(torch.arange(48, dtype=torch.float64) * step).view(1, 2, 6, 4).requires_grad_()
        for step in (0.3, 0.7, 1.1)
    ]
    for causal in (False, True):
        o = FlashAttentionFunction.apply(q, k, v, causal, 4, 2)
        expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        torch.testing.assert_close(o, expected)
        grads = torch.autograd.grad(o.sin().sum(), (q, k, v))
        torch.testing.assert_close(grads, torch.autograd.grad(expected.sin().sum(), (q, k, v)))
        show("o", o)
        for name, grad in zip("qkv", grads):
            show("d" + name, grad)
