"""Embedding tables as Modules."""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.creation.creation import empty
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import functional, init
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.parameter import Parameter


class Embedding(Module):
    """`nn.functional.embedding` in a learned table, drawn from a normal distribution."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError("Padding_idx must be within num_embeddings")
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        table = empty(num_embeddings, embedding_dim, device=device, dtype=dtype)
        self.weight = Parameter(table if _weight is None else _weight, not _freeze)
        if _weight is None:
            self.reset_parameters()

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **options: Any) -> Embedding:
        """Make a Module over an existing table."""
        rows, columns = embeddings.shape
        return cls(rows, columns, _weight=embeddings, _freeze=freeze, **options)

    def reset_parameters(self) -> None:
        """Draw the table; the padding row is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.detach()[self.padding_idx] = 0.0

    def forward(self, input: Tensor) -> Tensor:
        """Look up the rows."""
        return functional.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        """Show the extents and the padding row."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"


class EmbeddingBag(Module):
    """`nn.functional.embedding_bag` in a learned table, drawn like that of `Embedding`."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self.mode, self.include_last_offset = mode, include_last_offset
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        table = empty(num_embeddings, embedding_dim, device=device, dtype=dtype)
        self.weight = Parameter(table if _weight is None else _weight)
        if _weight is None:
            self.reset_parameters()

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, **options: Any
    ) -> EmbeddingBag:
        """Make a Module over an existing table."""
        rows, columns = embeddings.shape
        made = cls(rows, columns, _weight=embeddings, **options)
        made.weight.requires_grad = not freeze
        return made

    def reset_parameters(self) -> None:
        """Draw the table; the padding row is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.detach()[self.padding_idx] = 0.0

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        """Reduce the rows of each bag."""
        return functional.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
            self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Show the extents, the mode and the padding row."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}, mode={self.mode!r}{padding}"


__all__ = ["Embedding", "EmbeddingBag"]
