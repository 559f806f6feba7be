"""Rules: the cotangents of an operation's operands, written as tensor operations."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from functools import cache
from typing import Any

from gradtool.derive.expression import Expression
from gradtool.derive.rules.registry import RULES, Pulled

_FAMILIES = ("elementwise", "reductions", "shape", "linalg")


@cache
def _load() -> None:
    for family in _FAMILIES:
        importlib.import_module(f"{__name__}.{family}")


def pulled(g: Any, out: Expression) -> Iterable[Pulled] | None:
    """Return the operands of an operation with their cotangents; None if no rule knows it."""
    _load()
    rule = RULES.get(out.name)
    if rule is None:
        return None
    try:
        return rule(g, out, *out.args, **out.kwargs)
    except Exception:  # Of the library's own too: the operands are not those that the rule expects.
        return None
