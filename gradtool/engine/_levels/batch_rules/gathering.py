"""Batch rules of what has a position for each element, along a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradtool.engine._levels.batch_rules._rule import (
    Rule,
    along_one,
    changing,
    of_examples,
    one_later,
    with_examples,
)
from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine._levels.batch import BatchLevel


def _along(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    """Along the next dimension of tensors that all have the examples first."""
    changed = {**params, "dim": params["dim"] + 1}
    if "shape" in params:
        changed["shape"] = of_examples(params["shape"], level.size)
    out: Tensor = primitive(*[with_examples(level, arg) for arg in args], **changed)
    return out


def _along_or_among(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor | None:
    """Of places found before; or, given no places, of the tensor alone."""
    rule = _along if len(args) > 1 else along_one(changing(dim=one_later))
    return rule(level, primitive, args, params)


RULES: dict[str, Rule] = {
    "cummax": _along_or_among,
    "cummin": _along_or_among,
    "gather": _along,
    "gather_backward": _along,
    "kthvalue": _along,
    "median": _along_or_among,
    "mode": _along,
    "nanmedian": _along,
    "scatter": _along,
    "scatter_add": _along,
    "scatter_amax": _along,
    "scatter_amin": _along,
    "scatter_prod": _along,
    "sort": _along,
    "topk": _along,
}
