"""Arguments that attention in several heads refuses, in PyTorch's words."""

from __future__ import annotations

from gradtool.engine._tensor import Tensor

Mask = Tensor | None


def check_shapes(
    query: Tensor, key: Tensor, value: Tensor, padding: Mask, mask: Mask, heads: int
) -> None:
    """Refuse ranks that do not fit together.

    Raises:
        AssertionError: they do not.
    """
    if query.ndim not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query "
            "tensor"
        )
    batched = query.ndim == 3
    kind = "batched (3-D)" if batched else "unbatched (2-D)"
    if key.ndim != query.ndim or value.ndim != query.ndim:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {query.ndim}-D but found "
            f"{key.ndim}-D and {value.ndim}-D tensors respectively"
        )
    if padding is not None and padding.ndim != query.ndim - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {query.ndim - 1}-D "
            f"but found {padding.ndim}-D tensor instead"
        )
    if mask is None:
        return
    if mask.ndim not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{mask.ndim}-D tensor instead"
        )
    expected = (heads, query.shape[0], key.shape[0])
    if not batched and mask.ndim == 3 and tuple(mask.shape) != expected:
        raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {mask.shape}")


def check_widths(
    query: Tensor, key: Tensor, value: Tensor, width: int, heads: int, apart: bool
) -> None:
    """Refuse features that do not fit together.

    Raises:
        AssertionError: they do not.
    """
    if query.shape[-1] != width:
        raise AssertionError(
            f"was expecting embedding dimension of {width}, but got {query.shape[-1]}"
        )
    if width % heads:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {heads}")
    if apart and key.shape[:2] != value.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
        )
    if not apart and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def check_mask(mask: Mask, query: Tensor, key: Tensor, heads: int) -> None:
    """Refuse a mask that does not fit a batch.

    Raises:
        RuntimeError: it does not.
    """
    if mask is None:
        return
    extents = (query.shape[0], key.shape[0])
    expected = extents if mask.ndim == 2 else (query.shape[1] * heads, *extents)
    if tuple(mask.shape) != expected:
        raise RuntimeError(
            f"The shape of the {mask.ndim}D attn_mask is {mask.shape}, but should be {expected}."
        )


def check_extras(
    bias_k: Tensor | None, bias_v: Tensor | None, static_k: Tensor | None, static_v: Tensor | None
) -> None:
    """Refuse a bias for one of key and value only, or beside static ones.

    Raises:
        AssertionError: there is one.
    """
    if bias_k is not None and bias_v is None:
        raise AssertionError("bias_k is set but bias_v is None")
    if bias_v is not None and bias_k is None:
        raise AssertionError("bias_v is set but bias_k is None")
    for name, static in (("key", static_k), ("value", static_v)):
        if bias_k is not None and static is not None:
            raise AssertionError(f"bias cannot be added to static {name}.")


def check_dims(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Refuse vectors."""
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.dim()} key.dim: {key.dim()} and value.dim: {value.dim()} instead."
        )
