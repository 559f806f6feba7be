"""Attention in several heads as a Module."""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.creation.creation import empty
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import functional, init
from gradtool.engine.nn.modules.linear import NonDynamicallyQuantizableLinear
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.parameter import Parameter


class MultiheadAttention(Module):
    """`nn.functional.multi_head_attention_forward` with weights that are learned."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.batch_first, self.add_zero_attn = batch_first, add_zero_attn
        self.head_dim = embed_dim // num_heads
        self._make(bias, add_bias_kv, {"device": device, "dtype": dtype})
        self.reset_parameters()

    @property
    def _qkv_same_embed_dim(self) -> bool:
        """Whether one weight has those of query, key and value."""
        return self.kdim == self.vdim == self.embed_dim

    def _make(self, bias: bool, more: bool, made: dict[str, Any]) -> None:
        width = self.embed_dim
        shapes: dict[str, tuple[int, ...] | None] = {
            "q_proj_weight": (width, width),
            "k_proj_weight": (width, self.kdim),
            "v_proj_weight": (width, self.vdim),
            "in_proj_weight": None,
        }
        if self._qkv_same_embed_dim:
            shapes = {**dict.fromkeys(shapes), "in_proj_weight": (3 * width, width)}
        shapes["in_proj_bias"] = (3 * width,) if bias else None
        for name, shape in shapes.items():
            own = None if shape is None else Parameter(empty(*shape, **made))
            self.register_parameter(name, own)
        self.out_proj = NonDynamicallyQuantizableLinear(width, width, bias=bias, **made)
        for name in ("bias_k", "bias_v"):
            own = Parameter(empty(1, 1, width, **made)) if more else None
            self.register_parameter(name, own)

    def reset_parameters(self) -> None:
        """Draw the weights as Glorot and Bengio have it; biases start at zero."""
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if getattr(self, name) is not None:
                init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """(attention, its weights): see `nn.functional.multi_head_attention_forward`."""
        turned = self.batch_first and query.ndim == 3
        if turned:
            query, key, value = (each.transpose(0, 1) for each in (query, key, value))
        out, weights = functional.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask,
            need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight,
            self.k_proj_weight, self.v_proj_weight, average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )  # fmt: skip
        return (out.transpose(0, 1) if turned else out), weights


__all__ = ["MultiheadAttention"]
