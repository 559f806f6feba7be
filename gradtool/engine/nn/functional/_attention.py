"""Scaled dot-product attention."""

from __future__ import annotations

import math

from gradtool.engine import _dtypes
from gradtool.engine._ops.creation.creation import ones
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._dropout import dropout
from gradtool.engine.nn.functional._softmax import softmax


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """``softmax(query @ key.T * scale + mask) @ value``.

    Args:
        query: Of shape (…, L, E).
        key: Of shape (…, S, E).
        value: Of shape (…, S, F).
        attn_mask: Of shape (…, L, S): what is added to the scores, or booleans that say which
            places take part. A row without any gives zeros.
        dropout_p: The chance of each weight to be dropped.
        is_causal: Whether a place sees only those up to its own.
        scale: 1/√E unless given.
        enable_gqa: Whether key and value have fewer heads, each for several of the query's.

    Raises:
        RuntimeError: both `attn_mask` and `is_causal` are given.
    """
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError("Explicit attn_mask should not be set when is_causal=True")
        attn_mask = _past(query, key)
    if enable_gqa:
        heads = query.shape[-3]
        key = key.repeat_interleave(heads // key.shape[-3], -3)
        value = value.repeat_interleave(heads // value.shape[-3], -3)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = matmul(query * factor, key.transpose(-2, -1))
    weights = dropout(_weights(scores, attn_mask), dropout_p)
    return matmul(weights, value)


def _past(query: Tensor, key: Tensor) -> Tensor:
    every = ones(query.shape[-2], key.shape[-2], dtype=_dtypes.bool_, device=query.device)
    return every.tril()


def _weights(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return softmax(scores, -1)
    if mask.dtype is not _dtypes.bool_:
        return softmax(scores + mask, -1)
    seen = mask.any(-1, keepdim=True)
    hidden = scores.masked_fill(~mask & seen, -math.inf)
    return softmax(hidden, -1).masked_fill(~seen, 0)


__all__ = ["scaled_dot_product_attention"]
