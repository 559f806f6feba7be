"""Batch rules of shapes, orders of dimensions, repetition, joining, diagonals and windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradtool.engine._levels.batch_rules._rule import (
    Rule,
    all_later,
    changing,
    of_examples,
    one_later,
    padded,
    with_examples,
)
from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine._levels.batch import BatchLevel


def _examples_first(dims: Sequence[int], size: int) -> tuple[int, ...]:
    """An order of dimensions in which that of the examples stays the first."""
    return (0, *all_later(dims, size))


def _examples_unpadded(pairs: Sequence[tuple[int, int]], _size: int) -> tuple[Any, ...]:
    """What is added before and after each dimension: nothing to that of the examples."""
    return ((0, 0), *pairs)


def _expand(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    shape = params["shape"]
    out: Tensor = primitive(padded(level.below(args[0]), len(shape)), shape=(level.size, *shape))
    return out


def _sum_to_size(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    shape = params["shape"]
    kept = (1,) * (args[0].ndim - len(shape)) + shape
    summed = primitive(level.below(args[0]), shape=(level.size, *kept))
    out: Tensor = summed.reshape(level.size, *shape)
    return out


def _repeat(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    repeats = params["repeats"]
    out: Tensor = primitive(padded(level.below(args[0]), len(repeats)), repeats=(1, *repeats))
    return out


def _join(level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Tensor:
    parts = [with_examples(level, arg) for arg in args]
    out: Tensor = primitive(*parts, **{**params, "dim": params["dim"] + 1})
    return out


_along = changing(dim=one_later)
_reshape = changing(shape=of_examples)

RULES: dict[str, Rule] = {
    "cat": _join,
    "constant_pad_nd": changing(pairs=_examples_unpadded),
    "diag_embed": changing(shape=of_examples, dim1=one_later, dim2=one_later),
    "diagonal": changing(dim1=one_later, dim2=one_later),
    "expand": _expand,
    "fft_c2c": changing(dims=all_later),
    "flip": changing(dims=all_later),
    "permute": changing(dims=_examples_first),
    "repeat": _repeat,
    "roll": changing(dims=all_later),
    "squeeze": changing(dims=all_later),
    "stack": _join,
    "sum_to_size": _sum_to_size,
    "transpose": changing(dim0=one_later, dim1=one_later),
    "tril": changing(),
    "triu": changing(),
    "unfold": _along,
    "unfold_backward": changing(shape=of_examples, dim=one_later),
    "unsafe_view": _reshape,
    "unsqueeze": _along,
    "view": _reshape,
}
