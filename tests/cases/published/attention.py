"""Attention, rotations and windows: several dimensions that a name or an unpacking states."""

from __future__ import annotations

import math

import torch
from torch.autograd import Function


class ScaledDotProduct(Function):
    """Heads, lengths and widths are unpacked, and the mask is compared with None."""

    @staticmethod
    def forward(ctx, query, key, value, causal):
        b, h, n, d = query.shape
        assert key.shape == (b, h, n, d) and value.shape == (b, h, n, d)
        if not isinstance(causal, bool):
            raise TypeError("causal must be a bool")
        scores = query @ key.transpose(-1, -2) / math.sqrt(d)
        if causal:
            hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(hidden, float("-inf"))
        weights = scores.softmax(-1)
        ctx.save_for_backward(query, key, value, weights)
        return weights @ value

    @staticmethod
    def backward(ctx, grad_output):
        query, key, value, weights = ctx.saved_tensors
        d_weights = grad_output @ value.transpose(-1, -2)
        d_scores = weights * (d_weights - (d_weights * weights).sum(-1, keepdim=True))
        d_scores = d_scores / math.sqrt(query.shape[-1])
        return (
            d_scores @ key,
            d_scores.transpose(-1, -2) @ query,
            weights.transpose(-1, -2) @ grad_output,
            None,
        )


class Rotary(Function):
    """Half of the width is rotated by tables that get no gradient."""

    @staticmethod
    def forward(ctx, x, cos, sin):
        batch, seqlen, nheads, headdim = x.shape
        half = headdim // 2
        assert cos.shape == (seqlen, half) and sin.shape == (seqlen, half)
        ctx.save_for_backward(cos, sin)
        x1, x2 = x[..., :half], x[..., half : 2 * half]
        c, s = cos[:, None, :], sin[:, None, :]
        return torch.cat([x1 * c - x2 * s, x1 * s + x2 * c, x[..., 2 * half :]], -1)

    @staticmethod
    def backward(ctx, grad_output):
        cos, sin = ctx.saved_tensors
        half = cos.shape[-1]
        g1, g2 = grad_output[..., :half], grad_output[..., half : 2 * half]
        c, s = cos[:, None, :], sin[:, None, :]
        rotated = [g1 * c + g2 * s, g2 * c - g1 * s, grad_output[..., 2 * half :]]
        return torch.cat(rotated, -1), None, None


class RotaryNotTurnedBack(Rotary):
    """A backward that rotates the same way again."""

    @staticmethod
    def forward(ctx, x, cos, sin):
        batch, seqlen, nheads, headdim = x.shape
        half = headdim // 2
        assert cos.shape == (seqlen, half) and sin.shape == (seqlen, half)
        ctx.save_for_backward(cos, sin)
        x1, x2 = x[..., :half], x[..., half : 2 * half]
        c, s = cos[:, None, :], sin[:, None, :]
        return torch.cat([x1 * c - x2 * s, x1 * s + x2 * c, x[..., 2 * half :]], -1)

    @staticmethod
    def backward(ctx, grad_output):
        cos, sin = ctx.saved_tensors
        half = cos.shape[-1]
        g1, g2 = grad_output[..., :half], grad_output[..., half : 2 * half]
        c, s = cos[:, None, :], sin[:, None, :]
        rotated = [g1 * c - g2 * s, g2 * c + g1 * s, grad_output[..., 2 * half :]]
        return torch.cat(rotated, -1), None, None


class MaskedSoftmax(Function):
    """The mask has fewer dimensions than the scores."""

    @staticmethod
    def forward(ctx, scores, pad_mask):
        b, h, q, k = scores.size()
        if pad_mask.size() != (b, k):
            raise RuntimeError("pad_mask should be (batch, keys)")
        gate = 1.0 - 0.5 * pad_mask[:, None, None, :].to(scores.dtype)
        out = (scores * gate).softmax(-1)
        ctx.save_for_backward(out, gate)
        return out

    @staticmethod
    def backward(ctx, grad_output):
        out, gate = ctx.saved_tensors
        return gate * out * (grad_output - (grad_output * out).sum(-1, keepdim=True)), None
