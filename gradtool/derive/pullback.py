"""The cotangent of an operation without a rule, from the library itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtool.derive.expression import Expression, computed_by, values
from gradtool.derive.problem import NotDerivable
from gradtool.derive.rules.registry import Pulled
from gradtool.derive.shapes import full


def pulled_by_library(g: Any, out: Expression, active: set[Expression]) -> Iterable[Pulled]:
    """Return each active operand with ``torch.func.vjp`` of the operation.

    Raises:
        NotDerivable: The library cannot differentiate the operation.
    """
    operands = list(dict.fromkeys(each for each in out.operands() if each in active))
    if not isinstance(g, dict):
        return [(each, _pullback(full(g, out), out, None, each)) for each in operands]
    return [
        (each, _pullback(full(cotangent, _part(out, part)), out, part, each))
        for part, cotangent in g.items()
        for each in operands
    ]


def _part(out: Expression, part: int) -> Expression:
    return out.graph.call("part", "part", (out, part), {})


def _pullback(g: Expression, out: Expression, part: int | None, operand: Expression) -> Expression:
    graph = out.graph

    def computed(tensor: Any) -> Any:
        args, kwargs = (
            values(replaced(out.args, operand, tensor)),
            values(replaced(out.kwargs, operand, tensor)),
        )
        found = computed_by(out.kind, out.name, args, kwargs, out.function)
        return found if part is None else found[part]

    try:
        _, pull = graph.torch.func.vjp(computed, operand.value)
        (value,) = pull(g.value)
    except Exception as error:  # Of the library's own, of any type.
        raise NotDerivable(f"has no derivative: {out.name}: {error}") from None
    args = (g, operand, part, out.args, tuple(out.kwargs.values()))
    key = ("pullback", id(out), part, id(operand), id(g))
    return graph._made(key, "pullback", out.name, args, {}, value, graph.torch_name, out)


def replaced(value: Any, operand: Expression, other: Any) -> Any:
    """Put something in the place of an operand."""
    if value is operand:
        return other
    if isinstance(value, dict):
        return {name: replaced(each, operand, other) for name, each in value.items()}
    if type(value) in {tuple, list}:
        return type(value)(replaced(each, operand, other) for each in value)
    return value
