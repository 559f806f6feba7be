"""Batch rules of what broadcasts: examples with fewer dimensions get more in front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradtool.engine._levels.batch_rules._rule import Rule, changing, padded, with_examples
from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine._levels.batch import BatchLevel


def elementwise(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    """Line up the examples; what has none broadcasts with all."""
    out: Tensor = primitive.operation(*_lined_up(level, args), **params)
    return out


def _lined_up(level: BatchLevel, args: Sequence[Any]) -> list[Any]:
    rank = max(arg._array.ndim for arg in args if isinstance(arg, Tensor))
    return [padded(level.below(arg), rank) if level.owns(arg) else arg for arg in args]


def _masked_fill(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    """The primitive takes one value, so several are chosen from by `where`."""
    from gradtool.engine._ops.elementwise.selection import where

    x, value, mask = _lined_up(level, args)
    out: Tensor = where(mask, value, x) if level.owns(args[1]) else primitive(x, value, mask)
    return out


def _pairwise(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    """Of arguments of one shape."""
    out: Tensor = primitive(*[with_examples(level, arg) for arg in args], **params)
    return out


def _against_bounds(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor | None:
    """Each element's place among bounds, unless each example has its own."""
    x, bounds = args
    return None if level.owns(bounds) else primitive(level.below(x), bounds, **params)


_unchanged = changing()

RULES: dict[str, Rule] = {
    "abs": _unchanged,
    "angle": _unchanged,
    "bucketize": _against_bounds,
    "clone": _unchanged,
    "complex": _pairwise,
    "conj": _unchanged,
    "frexp": _unchanged,
    "ignored": _unchanged,
    "imag": _unchanged,
    "masked_fill": _masked_fill,
    "pin_memory": _unchanged,
    "real": _unchanged,
    "sgn": _unchanged,
    "to_copy": _unchanged,
    "view_as_complex": _unchanged,
    "view_as_real": _unchanged,
    "zeros_like": _unchanged,
}
