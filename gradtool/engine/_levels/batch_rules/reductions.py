"""Batch rules of reductions, and of what else works along dimensions.

A reduction of everything is one over all dimensions but that of the examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradtool.engine._levels.batch_rules._rule import (
    Rule,
    all_later,
    along_one,
    changing,
    of_examples,
    one_later,
)
from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine._levels.batch import BatchLevel

_over = changing(dims=all_later)
_along = along_one(changing(dim=one_later))


def _place(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor | None:
    """Where an extreme is: along a dimension, or among all elements of an example."""
    if params["dim"] is not None:
        return _along(level, primitive, args, params)
    found: Tensor = primitive(level.below(args[0]).reshape(level.size, -1), dim=1, keepdim=False)
    return found.reshape(level.size, *[1] * args[0].ndim) if params["keepdim"] else found


RULES: dict[str, Rule] = {
    "all": _over,
    "amax": _over,
    "amin": _over,
    "any": _over,
    "argmax": _place,
    "argmin": _place,
    "argsort": _along,
    "count_nonzero": _over,
    "cumsum": _along,
    "linalg_vector_norm": _over,
    "log_softmax": _along,
    "logsumexp": _over,
    "max": _over,
    "mean": _over,
    "median_index": _along,
    "min": _over,
    "mode_index": _along,
    "nanmedian_index": _along,
    "prod": _along,
    "softmax": _along,
    "spread": changing(shape=of_examples, dims=all_later),
    "std": _over,
    "sum": _over,
    "var": _over,
}
