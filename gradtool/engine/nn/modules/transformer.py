"""Layers of attention and affine maps, stacked: encoders, decoders, and one of each.

Vaswani et al., "Attention Is All You Need", 2017.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from gradtool.engine._ops.creation.creation import full
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import functional, init
from gradtool.engine.nn.modules._attention import MultiheadAttention
from gradtool.engine.nn.modules.container import ModuleList
from gradtool.engine.nn.modules.dropout import Dropout
from gradtool.engine.nn.modules.linear import Linear
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.modules.normalization import LayerNorm

Activation = str | Callable[[Tensor], Tensor]
Mask = Tensor | None


def _function(activation: Activation) -> Callable[[Tensor], Tensor]:
    if activation == "relu":
        return functional.relu
    if activation == "gelu":
        return functional.gelu
    if isinstance(activation, str):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return activation


class _Layer(Module):
    """What both kinds of layer have; each part is added to what went into it, and normalized."""

    attentions: tuple[str, ...] = ("self_attn",)
    """Names of the parts that attend; one more part, of two affine maps, follows."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        made = {"bias": bias, "device": device, "dtype": dtype}
        for name in self.attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout=dropout, batch_first=batch_first, **made
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **made)
        self.norm_first = norm_first
        parts = range(1, len(self.attentions) + 2)
        for part in parts:
            setattr(self, f"norm{part}", LayerNorm(d_model, eps=layer_norm_eps, **made))
        for part in parts:
            setattr(self, f"dropout{part}", Dropout(dropout))
        self.activation = _function(activation)

    def _through(self, x: Tensor, parts: list[Callable[[Tensor], Tensor]]) -> Tensor:
        """One part after the other, each beside a way around it."""
        for place, part in enumerate([*parts, self._mapped], 1):
            norm, drop = getattr(self, f"norm{place}"), getattr(self, f"dropout{place}")
            x = x + drop(part(norm(x))) if self.norm_first else norm(x + drop(part(x)))
        return x

    def _mapped(self, x: Tensor) -> Tensor:
        mapped: Tensor = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return mapped


def _attending(
    attention: Module, memory: Tensor | None, mask: Mask, padding: Mask, causal: bool
) -> Callable[[Tensor], Tensor]:
    """Attention to what went in, or to a memory."""

    def attend(x: Tensor) -> Tensor:
        seen = x if memory is None else memory
        out: Tensor = attention(
            x, seen, seen, attn_mask=mask, key_padding_mask=padding, need_weights=False,
            is_causal=causal,
        )[0]  # fmt: skip
        return out

    return attend


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then two affine maps."""

    def forward(
        self,
        src: Tensor,
        src_mask: Mask = None,
        src_key_padding_mask: Mask = None,
        is_causal: bool = False,
    ) -> Tensor:
        """A sequence of the same shape."""
        own = _attending(self.self_attn, None, src_mask, src_key_padding_mask, is_causal)
        return self._through(src, [own])


class TransformerDecoderLayer(_Layer):
    """Attention of a sequence to itself, then to a memory, then two affine maps."""

    attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Mask = None,
        memory_mask: Mask = None,
        tgt_key_padding_mask: Mask = None,
        memory_key_padding_mask: Mask = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """A sequence of the first one's shape."""
        own = _attending(self.self_attn, None, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = _attending(
            self.multihead_attn, memory, memory_mask, memory_key_padding_mask, memory_is_causal
        )
        return self._through(tgt, [own, other])


class _Stack(Module):
    """Copies of a layer one after the other, and a normalization of what comes out."""

    def __init__(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def _through(self, x: Tensor, *memory: Tensor, **masks: Any) -> Tensor:
        for layer in self.layers:
            x = layer(x, *memory, **masks)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """Copies of an encoder's layer."""

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self,
        src: Tensor,
        mask: Mask = None,
        src_key_padding_mask: Mask = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """A sequence of the same shape."""
        masks = {"src_mask": mask, "src_key_padding_mask": src_key_padding_mask}
        return self._through(src, **masks, is_causal=bool(is_causal))


class TransformerDecoder(_Stack):
    """Copies of a decoder's layer."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Mask = None,
        memory_mask: Mask = None,
        tgt_key_padding_mask: Mask = None,
        memory_key_padding_mask: Mask = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """A sequence of the first one's shape."""
        masks = {
            "tgt_mask": tgt_mask, "memory_mask": memory_mask,
            "tgt_key_padding_mask": tgt_key_padding_mask,
            "memory_key_padding_mask": memory_key_padding_mask,
        }  # fmt: skip
        causal = {"tgt_is_causal": bool(tgt_is_causal), "memory_is_causal": memory_is_causal}
        return self._through(tgt, memory, **masks, **causal)


class Transformer(Module):
    """An encoder, and a decoder that attends to what it makes."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        made = {"bias": bias, "device": device, "dtype": dtype}
        layer = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
                 norm_first)  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm(d_model, eps=layer_norm_eps, **made)

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*layer, **made), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*layer, **made), num_decoder_layers, norm()
        )
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Mask = None,
        tgt_mask: Mask = None,
        memory_mask: Mask = None,
        src_key_padding_mask: Mask = None,
        tgt_key_padding_mask: Mask = None,
        memory_key_padding_mask: Mask = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """A sequence of the shape of `tgt`."""
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        decoded: Tensor = self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
            tgt_is_causal, memory_is_causal,
        )  # fmt: skip
        return decoded

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """What hides from each place those behind it: -inf above the diagonal."""
        return full((sz, sz), -math.inf, device=device, dtype=dtype).triu(1)


__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer",
]  # fmt: skip
