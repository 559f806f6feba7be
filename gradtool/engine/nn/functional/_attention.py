"""Attention: scaled dot products, and several heads with their projections."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from gradtool.engine import _dtypes
from gradtool.engine._ops.creation.creation import ones, zeros
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._activations import softmax
from gradtool.engine.nn.functional._attention_checks import (
    check_dims,
    check_extras,
    check_mask,
    check_shapes,
    check_widths,
)
from gradtool.engine.nn.functional._dropout import dropout
from gradtool.engine.nn.functional._linear import linear
from gradtool.engine.nn.functional._padding import pad


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
        attn_mask: Of shape (…, L, S): added to the scores, or booleans that are True for the
            positions to attend to. A row without any gives zeros.
        dropout_p: Probability that a weight is dropped.
        is_causal: Attend only to positions up to the query's own.
        scale: 1/√E unless given.
        enable_gqa: Let each head of key and value serve several heads of the query.

    Raises:
        RuntimeError: both `attn_mask` and `is_causal` are given, or a tensor has fewer than two
            dims.
    """
    check_dims(query, key, value)
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError("Explicit attn_mask should not be set when is_causal=True")
        attn_mask = _causal_mask(query, key)
    if enable_gqa:
        heads = query.shape[-3]
        key = key.repeat_interleave(heads // key.shape[-3], -3)
        value = value.repeat_interleave(heads // value.shape[-3], -3)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = matmul(query * factor, key.transpose(-2, -1))
    weights = dropout(_weights(scores, attn_mask), dropout_p)
    return matmul(weights, value)


def _causal_mask(query: Tensor, key: Tensor) -> Tensor:
    every = ones(query.shape[-2], key.shape[-2], dtype=_dtypes.bool_, device=query.device)
    return every.tril()


def _weights(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return softmax(scores, -1)
    if mask.dtype is _dtypes.bool_:
        return _safe_softmax(scores.masked_fill(~mask, -math.inf), -1)
    return _safe_softmax(scores + mask, -1)


def _safe_softmax(x: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """`softmax`, with zeros where all entries are minus infinity."""
    hidden = (x == -math.inf).all(dim, keepdim=True)
    return softmax(x.masked_fill(hidden, 0), dim, dtype=dtype).masked_fill(hidden, 0)


class _QueryKeyValue(NamedTuple):
    """Query, key and value: (positions, batch, features), or (batch, heads, positions, …)."""

    query: Tensor
    key: Tensor
    value: Tensor


Mask = Tensor | None


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Mask = None,
    need_weights: bool = True,
    attn_mask: Mask = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Return the attention, of the query's shape, and the weights.

    The weights are (N, L, S), or (N, heads, L, S) if not averaged. Query is (L, N, E), key and
    value (S, N, …), or all without N. ``in_proj_weight`` stacks the three projections, unless
    ``use_separate_proj_weight``. A mask hides where it is True, or is added: ``attn_mask`` (L, S)
    or (N * heads, L, S), ``key_padding_mask`` (N, S).

    Raises:
        RuntimeError, AssertionError: the shapes do not fit, or a causal mask is not given.
    """
    check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    alone = query.ndim == 2
    if alone:
        query, key, value = (each.unsqueeze(1) for each in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    check_widths(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    padding = additive_mask(key_padding_mask, "key_padding_mask", query.dtype)
    mask = additive_mask(attn_mask, "attn_mask", query.dtype)
    check_mask(mask, query, key, num_heads)
    if use_separate_proj_weight:
        weights = [q_proj_weight, k_proj_weight, v_proj_weight]
    else:
        weights = [None] * 3 if in_proj_weight is None else list(in_proj_weight.chunk(3))
    parts = _project(_QueryKeyValue(query, key, value), weights, in_proj_bias)
    check_extras(bias_k, bias_v, static_k, static_v)
    parts, added = _append_bias(parts, bias_k, bias_v)
    parts = _split_heads(parts, num_heads, static_k, static_v)
    if add_zero_attn:
        none = [0, 0, 0, 1]
        parts = parts._replace(key=pad(parts.key, none), value=pad(parts.value, none))
    if is_causal and padding is None and not need_weights:
        every = _causal_mask(parts.query, parts.key)
        mask, added = additive_mask(~every, "attn_mask", query.dtype), 0
    else:
        added += add_zero_attn
    scores = _scores(parts, mask, padding, added)
    # Of rows without anything to attend to, PyTorch's weights are NaN, but the result without
    # weights is zero.
    shares = softmax(scores, -1) if need_weights else _safe_softmax(scores, -1)
    shares = dropout(shares, dropout_p if training else 0.0)
    together = matmul(shares, parts.value).permute(2, 0, 1, 3).flatten(2)
    out = linear(together, out_proj_weight, out_proj_bias)
    shares = shares.mean(1) if average_attn_weights else shares
    if alone:
        out, shares = out.squeeze(1), shares.squeeze(0)
    return out, shares if need_weights else None


def _project(
    parts: _QueryKeyValue, weights: list[Tensor | None], bias: Tensor | None
) -> _QueryKeyValue:
    if any(each is None for each in weights):
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    shifts = [None] * 3 if bias is None else bias.chunk(3)
    return _QueryKeyValue(
        *[
            linear(part, weight, shift)
            for part, weight, shift in zip(parts, weights, shifts)
            if weight is not None
        ]
    )


def _append_bias(
    parts: _QueryKeyValue, key: Tensor | None, value: Tensor | None
) -> tuple[_QueryKeyValue, int]:
    """Append the bias key and value, if given; return how many were appended."""
    if key is None or value is None:
        return parts, 0
    count = parts.key.shape[1]
    longer = parts._replace(
        key=cat([parts.key, key.expand(1, count, -1)]),
        value=cat([parts.value, value.expand(1, count, -1)]),
    )
    return longer, 1


def _split_heads(
    parts: _QueryKeyValue, heads: int, key: Tensor | None, value: Tensor | None
) -> _QueryKeyValue:
    """Split into (batch, heads, positions, features); static keys and values have that shape."""
    apart = _QueryKeyValue(*[each.unflatten(-1, (heads, -1)).permute(1, 2, 0, 3) for each in parts])
    if key is not None:
        apart = apart._replace(key=key.unflatten(0, (-1, heads)))
    if value is not None:
        apart = apart._replace(value=value.unflatten(0, (-1, heads)))
    return apart


def _scores(parts: _QueryKeyValue, mask: Mask, padding: Mask, added: int) -> Tensor:
    """Masked scores of every query and key; the masks leave out the `added` last keys."""
    scale = 1 / math.sqrt(parts.query.shape[-1])
    scores = matmul(parts.query * scale, parts.key.transpose(-2, -1))
    if mask is not None:
        by_head = mask if mask.ndim == 2 else mask.unflatten(0, (-1, scores.shape[1]))
        scores = _apply_mask(scores, by_head, added)
    if padding is not None:
        scores = _apply_mask(scores, padding.unsqueeze(1).unsqueeze(1), added)
    return scores


def _apply_mask(scores: Tensor, mask: Tensor, added: int) -> Tensor:
    return scores + (pad(mask, [0, added]) if added else mask)


def additive_mask(mask: Mask, name: str, dtype: _dtypes.dtype) -> Mask:
    """Turn True into minus infinity, for a mask that is added to the scores."""
    if mask is None or mask.is_floating_point():
        return mask
    if mask.dtype is not _dtypes.bool_:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(mask, -math.inf)


__all__ = [
    "multi_head_attention_forward", "scaled_dot_product_attention",
]  # fmt: skip
