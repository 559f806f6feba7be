"""Layers of transformers: attention and a network of two linear maps, each added to its input."""

from __future__ import annotations

from collections.abc import Callable
from inspect import unwrap
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import functional
from gradtool.engine.nn.functional._attention import additive_mask
from gradtool.engine.nn.modules.activation import GELU, MultiheadAttention, ReLU
from gradtool.engine.nn.modules.dropout import Dropout
from gradtool.engine.nn.modules.linear import Linear
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.modules.normalization import LayerNorm

Activation = str | Callable[[Tensor], Tensor]


def _activation(chosen: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(chosen, str):
        return chosen
    if chosen not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {chosen}")
    found: Callable[[Tensor], Tensor] = getattr(functional, chosen)
    return found


class _Layer(Module):
    """The parameters and the feed-forward part that both layers share."""

    _attentions: tuple[str, ...]
    """Names of the attentions."""

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
        place = {"device": device, "dtype": dtype}
        for name in self._attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **place
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **place)
        self.norm_first = norm_first
        parts = range(1, len(self._attentions) + 2)
        for part in parts:
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
            setattr(self, f"norm{part}", norm)
        for part in parts:
            setattr(self, f"dropout{part}", Dropout(dropout))
        self.activation = _activation(activation)

    def _add(self, part: int, x: Tensor, apply: Callable[[Tensor], Tensor]) -> Tensor:
        """Add a part's result to its input; normalize before or after."""
        norm, dropped = getattr(self, f"norm{part}"), getattr(self, f"dropout{part}")
        if self.norm_first:
            first: Tensor = x + dropped(apply(norm(x)))
            return first
        last: Tensor = norm(x + dropped(apply(x)))
        return last

    def _feed_forward(self, x: Tensor) -> Tensor:
        wide = self.dropout(self.activation(self.linear1(x)))
        narrow: Tensor = self.linear2(wide)
        return narrow


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then a feed-forward network."""

    _attentions = ("self_attn",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen: Any = self.activation
        kinds: list[tuple[Any, type[Module]]] = [(functional.relu, ReLU), (functional.gelu, GELU)]
        self.activation_relu_or_gelu = next(
            (
                number
                for number, (function, kind) in enumerate(kinds, 1)
                # Functions are wrapped once a class of tensors can override them.
                if unwrap(chosen) is unwrap(function) or isinstance(chosen, kind)
            ),
            0,
        )

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the sequence after both parts."""
        mask = additive_mask(src_mask, "src_mask", src.dtype)
        padding = additive_mask(src_key_padding_mask, "src_key_padding_mask", src.dtype)

        def attend(x: Tensor) -> Tensor:
            found: Tensor = self.self_attn(
                x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False,
                is_causal=is_causal,
            )[0]  # fmt: skip
            return found

        return self._add(2, self._add(1, src, attend), self._feed_forward)


class TransformerDecoderLayer(_Layer):
    """Attention of a sequence to itself and to a memory, then a feed-forward network."""

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the sequence after the three parts."""

        def attend(x: Tensor) -> Tensor:
            found: Tensor = self.self_attn(
                x, x, x, attn_mask=tgt_mask, key_padding_mask=tgt_key_padding_mask,
                is_causal=tgt_is_causal, need_weights=False,
            )[0]  # fmt: skip
            return found

        def recall(x: Tensor) -> Tensor:
            found: Tensor = self.multihead_attn(
                x, memory, memory, attn_mask=memory_mask, key_padding_mask=memory_key_padding_mask,
                is_causal=memory_is_causal, need_weights=False,
            )[0]  # fmt: skip
            return found

        own = self._add(1, tgt, attend)
        return self._add(3, self._add(2, own, recall), self._feed_forward)
