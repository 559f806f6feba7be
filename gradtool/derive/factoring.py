"""A cotangent that stands in every term of a sum is written once, before the sum."""

from __future__ import annotations

from typing import Any

from gradtool.derive.expression import Expression


def factored(value: Expression, g: Expression) -> Expression:
    """Return ``g * (...)`` for a sum of products with `g`; other values as they are."""
    terms = list(_terms(value, 1))
    if len(terms) < 2:
        return value
    found: list[tuple[Any, int]] = []
    for term, sign in terms:
        factor, own = _cofactor(term, g)
        if factor is None:
            return value
        found.append((factor, sign * own))
    found.sort(key=lambda each: -each[1])
    total: Any = None
    for factor, sign in found:
        if total is None:
            total = factor if sign > 0 else -factor
        else:
            total = total + factor if sign > 0 else total - factor
    product = g * total
    return product if product.shape == value.shape else value


def _terms(value: Expression, sign: int) -> Any:
    if value.kind == "operator" and value.name in {"add", "sub"}:
        left, right = value.args
        if isinstance(left, Expression) and isinstance(right, Expression):
            yield from _terms(left, sign)
            yield from _terms(right, sign if value.name == "add" else -sign)
            return
    yield value, sign


def _cofactor(value: Any, g: Expression) -> tuple[Any, int]:
    """The rest of a product without `g`, and its sign; None if `g` is not in it."""
    if value is g:
        return 1, 1
    if not isinstance(value, Expression) or value.kind != "operator":
        return None, 1
    if value.name == "neg":
        factor, sign = _cofactor(value.args[0], g)
        return factor, -sign
    if value.name not in {"mul", "div"}:
        return None, 1
    left, right = value.args
    factor, sign = _cofactor(left, g)
    if factor is not None:
        return value.graph.operator(value.name, factor, right), sign
    factor, sign = _cofactor(right, g) if value.name == "mul" else (None, 1)
    return (None, 1) if factor is None else (value.graph.operator("mul", left, factor), sign)
