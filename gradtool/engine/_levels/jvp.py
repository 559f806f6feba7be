"""The jvp of a primitive, derived from its entry in the table.

An elementwise entry multiplies by its derivative, in either direction. A linear one is its own
jvp; a multilinear one is linear in one argument at a time. For the rest the jvp is what the
entry states, or else the transpose of the vjp: the vjp is linear in its cotangent, and its own
vjp at the tangent is the jvp.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor

Tangents = Sequence["Tensor | None"]


def jvp_of_primitive(
    primitive: Any, primals: Sequence[Any], tangents: Tangents, out: Tensor, params: dict[str, Any]
) -> Tensor | None:
    """The tangent of the output, or None where it is constant.

    Args:
        primitive: the entry of the table.
        primals: its arguments, one level below.
        tangents: one for each argument; None for a constant one.
        out: its output.
        params: its keyword arguments.
    """
    if not primitive.vjps or all(tangent is None for tangent in tangents):
        return None
    rule = _RULES.get(primitive.kind, _transposed)
    return rule(primitive, primals, tangents, out, params)


def _elementwise(
    primitive: Any, primals: Sequence[Any], tangents: Tangents, out: Tensor, params: dict[str, Any]
) -> Tensor | None:
    values = {**dict(zip(primitive.arguments, primals)), **params, "out": out}
    total: Any = None
    for rule, tangent in zip(primitive.vjps, tangents):
        if tangent is not None:
            derive = rule.forward or rule.apply
            term = derive(tangent, *[primitive.value_of(name, values) for name in rule.needs])
            if term is not None:
                total = term if total is None else total + term
    if total is None:
        return None
    if total._requires_grad or not modes.grad or len(primals) < 2:
        return _fitted(total, out)
    return _fitted(_recorded(primitive, tangents, values, total), out)


def _recorded(primitive: Any, tangents: Tangents, values: dict[str, Any], total: Tensor) -> Tensor:
    """Add the terms of constants, which are zero and yet recorded, as in torch."""
    from gradtool.engine._ops.core.kinds import zeros_like

    for rule, tangent in zip(primitive.vjps, tangents):
        needs = [] if tangent is not None else [primitive.value_of(n, values) for n in rule.needs]
        if any(isinstance(each, Tensor) and each._requires_grad for each in needs):
            term = rule.apply(zeros_like(total.detach()), *needs)
            total = total + term.masked_fill(term != term, 0)  # zero times NaN is zero here
    return total


def _linear(
    primitive: Any, primals: Sequence[Any], tangents: Tangents, out: Tensor, params: dict[str, Any]
) -> Tensor | None:
    arguments = [
        _zero_tangent(primal) if tangent is None else tangent
        for primal, tangent in zip(primals, tangents)
    ]
    out_tangent: Tensor = primitive.operation(*arguments, **params)
    return out_tangent


def _zero_tangent(primal: Any) -> Any:
    """Return zeros for a constant argument. Indices and masks stay as they are."""
    from gradtool.engine._ops.core.kinds import zeros_like

    if isinstance(primal, Tensor):
        return zeros_like(primal.detach()) if primal._array.dtype.kind in "fcV" else primal
    return primal * 0


def _multilinear(
    primitive: Any, primals: Sequence[Any], tangents: Tangents, out: Tensor, params: dict[str, Any]
) -> Tensor | None:
    total: Any = None
    for position, tangent in enumerate(tangents):
        if tangent is not None:
            args = [*primals[:position], tangent, *primals[position + 1 :]]
            term = primitive.operation(*args, **params)
            total = term if total is None else total + term
    return _fitted(total, out)


def _transposed(
    primitive: Any, primals: Sequence[Any], tangents: Tangents, out: Tensor, params: dict[str, Any]
) -> Tensor | None:
    from gradtool.engine._levels.grad import GradLevel
    from gradtool.engine._ops.core.kinds import zeros_like
    from gradtool.engine.autograd._new_nodes import unwatched
    from gradtool.engine.autograd._walk import walk

    values = {**dict(zip(primitive.arguments, primals)), **params, "out": out}
    if primitive.jvp is not None:
        stated = [primitive.value_of(name, values) for name in primitive.jvp.needs]
        found: Tensor | None = primitive.jvp.apply(tangents, *stated)
        return found
    with GradLevel() as level, unwatched():
        # The vjp is linear in its cotangent: the value at which it is differentiated is arbitrary.
        g = level.wrap(zeros_like(out.detach()))
        g._requires_grad = True
        roots = []
        for rule, tangent in zip(primitive.vjps, tangents):
            if tangent is not None:
                gradient = rule.apply(g, *[primitive.value_of(name, values) for name in rule.needs])
                if gradient is not None and gradient._requires_grad:
                    roots.append((gradient, tangent))
        (found,) = walk(roots, keep_graph=False, create_graph=True, targets=[g], accumulate=False)
    return None if found is None else level.below(found)


def _fitted(tangent: Tensor, out: Tensor) -> Tensor:
    """Bring a tangent to its primal's shape and dtype: constant derivatives do not broadcast."""
    if tangent._array.shape != out._array.shape:
        tangent = tangent.expand(out.shape)
    return tangent if tangent._array.dtype == out._array.dtype else tangent.to(out.dtype)


_RULES = {"elementwise": _elementwise, "linear": _linear, "multilinear": _multilinear}
