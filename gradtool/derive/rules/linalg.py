"""Products of matrices and vectors, inverses and solutions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtool.derive.expression import Expression
from gradtool.derive.rules.registry import Pulled, rule
from gradtool.derive.shapes import fit, full, transpose_of


def _adjoint(x: Expression) -> Expression:
    if x.is_complex:
        return x.attribute("mH")
    return transpose_of(x)


@rule("matmul", "mm", "bmm", "mv", "dot")
def _matmul(g: Any, out: Expression, x: Any, other: Any) -> Iterable[Pulled]:
    g = full(g, out)
    if x.ndim == 1 and other.ndim == 1:
        return [(x, g * other.conj()), (other, g * x.conj())]
    if other.ndim == 1:
        grad_other = (
            _adjoint(x) @ g if x.ndim == 2 else (x.conj() * g.unsqueeze(-1)).flatten(0, -2).sum(0)
        )
        return [(x, g.unsqueeze(-1) * other.conj()), (other, grad_other)]
    if x.ndim == 1:
        if other.ndim > 2:
            raise NotImplementedError
        return [
            (x, other.conj() @ g if other.is_complex else other @ g),
            (other, x.conj().unsqueeze(-1) * g),
        ]
    grad_x, grad_other = g @ _adjoint(other), _adjoint(x) @ g
    return [(x, _batch_fit(grad_x, x)), (other, _batch_fit(grad_other, other))]


def _batch_fit(g: Expression, x: Expression) -> Expression:
    if g.shape == x.shape:
        return g
    return fit(g, g, x)


@rule("linear")
def _linear(g: Any, out: Expression, x: Any, weight: Any, bias: Any = None) -> Iterable[Pulled]:
    g = full(g, out)
    if x.ndim == 1:
        found = [(x, g @ weight.conj()), (weight, g.unsqueeze(-1) * x.conj())]
    elif x.ndim == 2:
        found = [(x, g @ weight.conj()), (weight, _adjoint_of(g) @ x.conj())]
    else:
        flat = g.flatten(0, -2)
        found = [(x, g @ weight.conj()), (weight, flat.attribute("T") @ x.conj().flatten(0, -2))]
    if bias is not None:
        found.append((bias, fit(g, out, bias)))
    return found


def _adjoint_of(g: Expression) -> Expression:
    return g.attribute("T")


@rule("outer", "ger")
def _outer(g: Any, out: Expression, x: Any, other: Any) -> Iterable[Pulled]:
    g = full(g, out)
    return [(x, g @ other.conj()), (other, g.attribute("T") @ x.conj())]


@rule("addmm")
def _addmm(g: Any, out: Expression, bias: Any, x: Any, other: Any) -> Iterable[Pulled]:
    g = full(g, out)
    return [(bias, fit(g, out, bias)), (x, g @ _adjoint(other)), (other, _adjoint(x) @ g)]


@rule("inverse", "linalg.inv")
def _inverse(g: Any, out: Expression, x: Any) -> Iterable[Pulled]:
    return [(x, -(_adjoint(out) @ full(g, out) @ _adjoint(out)))]


@rule("einsum")
def _einsum(g: Any, out: Expression, equation: Any, *operands: Any) -> Iterable[Pulled]:
    text = equation.replace(" ", "") if isinstance(equation, str) else None
    if text is None or "->" not in text or "." in text or not 1 <= len(operands) <= 3:
        raise NotImplementedError
    inputs, result = text.split("->")
    terms = inputs.split(",")
    g = full(g, out)
    found: list[Pulled] = []
    for place, (term, operand) in enumerate(zip(terms, operands, strict=True)):
        others = [
            (t, o.conj())
            for k, (t, o) in enumerate(zip(terms, operands, strict=True))
            if k != place
        ]
        if len(set(term)) < len(term) or set(term) - set(result).union(*(t for t, _ in others)):
            raise NotImplementedError
        left = ",".join([result, *(t for t, _ in others)])
        found.append(
            (operand, out.graph.function("einsum", f"{left}->{term}", g, *(o for _, o in others)))
        )
    return found
