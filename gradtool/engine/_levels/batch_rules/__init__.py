"""How primitives treat a batch: all examples in one operation on the tensors below.

Each module here is a table of rules for a family of primitives, by their names. What has no
rule, or meets arguments that its rule does not cover, is computed example by example.
"""

from __future__ import annotations

from typing import Any

from gradtool.engine._levels.batch_rules import (
    broadcasting,
    gathering,
    indexing,
    matrices,
    reductions,
    shapes,
    slices,
)
from gradtool.engine._levels.batch_rules._rule import Rule

_BY_KIND: dict[str, Rule] = {"elementwise": broadcasting.elementwise}
_BY_NAME: dict[str, Rule] = {
    **broadcasting.RULES,
    **gathering.RULES,
    **indexing.RULES,
    **matrices.RULES,
    **reductions.RULES,
    **shapes.RULES,
    **slices.RULES,
}


def rule_for(primitive: Any) -> Rule | None:
    """The batch rule of a primitive, by its name or by its kind."""
    return _BY_NAME.get(primitive.name) or _BY_KIND.get(primitive.kind)


__all__ = ["rule_for"]
