"""The table of rules, which each family adds to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtool.derive.expression import Expression

Pulled = tuple[Any, Expression]
"""An operand, and the cotangent that an operation gives it."""
Rule = Callable[..., Iterable[Pulled]]

RULES: dict[str, Rule] = {}
"""By the name of the operation. A rule takes the cotangent, the result, and the operands as the
operation takes them."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Declare the rule of operations that take the same operands."""

    def declare(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return declare
