"""The reverse program: the cotangent of each input, as an expression of those of the outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gradtool.derive.closed_forms import closed_form
from gradtool.derive.expression import Expression, needed
from gradtool.derive.problem import NotDerivable
from gradtool.derive.pullback import pulled_by_library
from gradtool.derive.rules import pulled
from gradtool.derive.shapes import full


def cotangents(
    sent: Iterable[tuple[Expression, Expression]],
    active: set[Expression],
    lines: Mapping[Expression, int],
    names: dict[Expression, str],
    sources: Mapping[Expression, str],
) -> dict[Expression, Expression]:
    """Return the cotangents of active leaves, given those of outputs.

    Raises:
        NotDerivable: An operation has no derivative.
    """
    found: dict[Expression, Any] = {}
    sent = list(sent)
    items: dict[Expression, dict[int, Expression]] = {}
    for out, g in sent:
        _add(found, out, g)
    for out in reversed(needed([out for out, _ in sent])):
        if out in items:
            _add(found, out, _joined(out, items.pop(out)))
        if out not in active or out not in found or out.kind == "leaf":
            continue
        g = found.pop(out)
        if out in sources and isinstance(g, Expression):
            names.setdefault(g, f"grad_{sources[out]}")
        if out.kind == "part":
            found.setdefault(out.args[0], {})[out.args[1]] = g
            continue
        if out.kind == "item" and type(out.args[1]) is int:
            _add(items.setdefault(out.args[0], {}), out.args[1], full(g, out))
            continue
        try:
            pairs = closed_form(g, out) or pulled(g, out)
            if pairs is None:
                pairs = pulled_by_library(g, out, active)
        except NotDerivable as error:
            line = lines.get(out) or None
            raise NotDerivable(
                f"line {line} {error.message}" if line else error.message, line
            ) from None
        for operand, contribution in pairs:
            if operand in active:
                _add(found, operand, contribution)
    return {leaf: full(g, leaf) for leaf, g in found.items()}


def _joined(x: Expression, rows: dict[int, Expression]) -> Expression:
    """The cotangent of a tensor, given those of its rows."""
    if sorted(rows) == list(range(x.shape[0])):
        found: Expression = x.graph.function("stack", [rows[place] for place in sorted(rows)])
        return found
    zeros = x.graph.function("zeros_like", x)
    total: Any = None
    for place in sorted(rows):
        row = zeros.method("select_scatter", rows[place], 0, place)
        total = row if total is None else total + row
    joined: Expression = total
    return joined


def _add(found: dict[Any, Any], operand: Any, g: Expression) -> None:
    found[operand] = found[operand] + g if operand in found else g
