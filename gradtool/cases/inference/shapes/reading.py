"""Shapes that the source of forward states: unpacked, asserted, or written beside a name.

``b, n, d = x.shape`` gives `x` three extents, and every other tensor with an extent called ``d``
the same one. ``assert rois.size(1) == 5``, ``if x.dim() != 3: raise``, and a docstring or comment
such as ``idx: (B, npoint, nsample)`` state the like.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from gradtool.adapters.common.parsed_source import walked
from gradtool.cases.inference.guards.conditions import Condition, conditions
from gradtool.cases.inference.helpers import Helper, parameters_of, passed_to
from gradtool.cases.inference.shapes.facts import Extent, ShapeFacts
from gradtool.cases.inference.uses import name_behind


def read_shapes(
    node: ast.AST, names: tuple[str, ...], text: str, helpers: Mapping[str, Helper] | None = None
) -> ShapeFacts:
    """Read the facts from the syntax tree of forward, from the `text` around it, and from helpers.

    What a helper states of its parameters holds for what forward passes to it.
    """
    facts = ShapeFacts(names)
    for found in walked(node):
        if isinstance(found, ast.Assign) and len(found.targets) == 1:
            _unpacked(facts, found.targets[0], found.value)
    for condition in _required(node):
        _compared(facts, condition)
    for name, extents in _written(text, names):
        facts.shape(name, extents)
    for name, letters in _contracted(node):
        facts.shape(name, [f"einsum {letter}" for letter in letters])
    for name in _vectors_contracted(node):
        facts.rank(name, 1)
    for name, rank in _indexed(node):
        if rank > 1:
            facts.at_least(name, rank)
    for name, extents in _last_written(text, tuple(facts.shapes)):
        for axis, extent in enumerate(extents, start=-len(extents)):
            facts.extent(name, axis, extent)
    for found in walked(node) if helpers else ():
        if isinstance(found, ast.Call) and (helper := (helpers or {}).get(ast.unparse(found.func))):
            _of_helper(facts, found, helper)
    return facts


def _of_helper(facts: ShapeFacts, call: ast.Call, helper: Helper) -> None:
    """Note the shapes that a helper states of what a call passes to it."""
    inside = read_shapes(helper.node, parameters_of(helper), helper.text, helper.inner)
    for name, argument in passed_to(helper, call):
        extents, root = inside.shapes.get(name), name_behind(argument, _SAME_SHAPE)
        if root and extents and name not in inside.weak:
            known = map(inside.resolved, extents)
            facts.shape(
                root,
                [f"{helper.node.name}_{e}" if isinstance(e, str) else e for e in known],
            )


_SAME_SHAPE = {"clone", "contiguous", "cpu", "cuda", "detach", "double", "float", "numpy", "to"}
"""Methods whose result has the shape of their tensor."""


def _contracted(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield names with their letters in ``einsum("bnd,de->bne", x, w)``."""
    for letters, operand in _terms(node):
        if isinstance(operand, ast.Name):
            yield operand.id, letters


def _terms(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the operands of ``einsum`` with their letters, where these leave no rank open."""
    for found in walked(node):
        match found:
            case ast.Call(
                func=ast.Attribute(attr="einsum") | ast.Name(id="einsum"),
                args=[ast.Constant(value=str(equation)), *operands],
            ):
                terms = equation.replace(" ", "").partition("->")[0].split(",")
                pairs = zip(terms, operands, strict=False)
                yield from ((letters, each) for letters, each in pairs if "." not in letters)


def _vectors_contracted(node: ast.AST) -> Iterator[str]:
    """Yield ``m`` and ``w`` of ``einsum("n..., n -> n...", x, k)`` for ``k = m[j] * w``.

    What is combined entry by entry has no more axes than the result.
    """
    values: dict[str, list[ast.expr]] = {}
    for found in walked(node):
        if isinstance(found, ast.Assign) and isinstance(found.targets[0], ast.Name):
            values.setdefault(found.targets[0].id, []).append(found.value)
    for letters, operand in _terms(node):
        if len(letters) == 1:
            yield from _combined(operand, values) or ()


def _combined(node: ast.expr, values: Mapping[str, list[ast.expr]]) -> list[str] | None:
    """The names that an expression combines entry by entry; None where it does more.

    Args:
        node: The expression.
        values: What local names are assigned.
    """
    match node:
        case ast.Name(id=name) if name in values:
            others = {each: given for each, given in values.items() if each != name}
            parts = values[name]
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name), slice=ast.Name()):
            return [name]
        case ast.BinOp(left=one, op=ast.Mult() | ast.Div() | ast.Add() | ast.Sub(), right=other):
            others, parts = dict(values), [one, other]
        case _:
            return None
    found = [_combined(each, others) for each in parts]
    return None if None in found else [name for each in found for name in each or ()]


def _indexed(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield names with the number of dimensions that an index has: three for ``x[:, 0, ...]``."""
    for found in walked(node):
        match found:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=parts)):
                added = [p for p in parts if isinstance(p, ast.Constant) and p.value is None]
                yield name, len(parts) - len(added)


def _required(node: ast.AST) -> Iterator[Condition]:
    """Yield what has to hold: what is asserted, or is not so where an ``if`` raises."""
    for found in walked(node):
        match found:
            case ast.Assert(test=test):
                yield from conditions(test, holds=True)
            case ast.If(test=test, body=body) if any(isinstance(s, ast.Raise) for s in body):
                yield from conditions(test, holds=False)


def _unpacked(facts: ShapeFacts, target: ast.expr, value: ast.expr) -> None:
    """Read ``b, n, d = x.shape`` and ``n = x.shape[0]``."""
    if isinstance(value, ast.Tuple) and isinstance(target, ast.Tuple):
        for one, other in zip(target.elts, value.elts, strict=False):
            _unpacked(facts, one, other)
        return
    name = whole_shape_of(value)
    if name is not None and isinstance(target, ast.Tuple):
        if all(isinstance(each, ast.Name) for each in target.elts):
            own = [each.id for each in target.elts if isinstance(each, ast.Name)]
            facts.shape(
                name, [f"{name}.{i}" if n.startswith("_") else n for i, n in enumerate(own)]
            )
    elif isinstance(target, ast.Name) and (place := extent_of(value)):
        facts.extent(*place, target.id)


def whole_shape_of(node: ast.expr) -> str | None:
    """The name ``x`` of ``x.shape`` or ``x.size()``."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr="shape"):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="size"), args=[]):
            return name
    return None


def extent_of(node: ast.expr) -> tuple[str, int] | None:
    """The name and the axis of ``x.shape[1]``, ``x.size(1)`` or ``x.numel()``."""
    match node:
        case ast.Subscript(value=value, slice=index) if name := whole_shape_of(value):
            axis = integer(index)
            return None if axis is None else (name, axis)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="size"), args=[index]):
            axis = integer(index)
            return None if axis is None else (name, axis)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="numel"), args=[]):
            return name, 0
    return None


def integer(node: ast.expr) -> int | None:
    """The whole number that an expression is."""
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
    return None


def constant_slice(low: ast.expr | None, high: ast.expr | None) -> slice | None:
    """The slice between two expressions that may be missing; None if one is no integer."""
    ends = [None if end is None else integer(end) for end in (low, high)]
    if (ends[0] is None) is not (low is None) or (ends[1] is None) is not (high is None):
        return None
    return slice(*ends)


def _extent(node: ast.expr) -> Extent | None:
    """An extent as it is written: a number, a name, or an expression of both."""
    number = integer(node)
    if number is not None:
        return number
    text = ast.unparse(node)
    return text if re.fullmatch(r"[\w\s+*/-]+", text) else None


def rank_of(node: ast.expr) -> str | None:
    """The name ``x`` of ``x.dim()``, ``x.ndim`` or ``len(x.shape)``."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="dim" | "ndimension")):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr="ndim"):
            return name
        case ast.Call(func=ast.Name(id="len"), args=[inner]):
            return whole_shape_of(inner)
    return None


def _compared(facts: ShapeFacts, condition: Condition) -> None:
    """Read a comparison that has to hold."""
    for each in (condition, condition.mirrored()):
        if each is None or each.right is None:
            continue
        if each.operator is ast.Eq:
            _equal(facts, each.left, each.right)
        elif each.operator is ast.GtE and (name := rank_of(each.left)):
            facts.rank(name, integer(each.right) or 0)


def _equal(facts: ShapeFacts, one: ast.expr, other: ast.expr) -> None:
    name, rank = rank_of(one), integer(other)
    if name and rank is not None:
        facts.rank(name, rank)
        return
    place = extent_of(one)
    if place:
        there = extent_of(other)
        if there and there[0] in facts.names:
            facts.rank(there[0], _least_rank(there[1]))
            facts.extent(*place, f"{there[0]}[{there[1]}]")
            facts.extent(*there, f"{there[0]}[{there[1]}]")
        elif extent := _extent(other):  # A test for no elements is there to refuse them.
            facts.extent(*place, extent)
        return
    whole = whole_shape_of(one)
    if whole and isinstance(other, ast.Tuple):
        extents = [_extent(each) for each in other.elts]
        facts.shape(whole, [f"{whole}.{i}" if e is None else e for i, e in enumerate(extents)])
    elif whole and (computed := _computed_shape(facts, other)) is not None:
        facts.shape(whole, computed)
    else:
        _part(facts, one, other)


def _computed_shape(facts: ShapeFacts, node: ast.expr) -> list[Extent] | None:
    """The extents of ``x.shape``, ``x.shape[1:]`` and ``x.shape * 2`` if ``x`` has known ones."""
    name = whole_shape_of(node)
    if name is not None:
        return None if name in facts.weak else facts.shapes.get(name)
    match node:
        case ast.Subscript(value=value, slice=ast.Slice(lower=low, upper=high, step=None)):
            known = _computed_shape(facts, value)
            part = constant_slice(low, high)
            return None if known is None or part is None else known[part]
        case ast.BinOp(left=value, op=ast.Mult(), right=ast.Constant(value=int(times))):
            known = _computed_shape(facts, value)
            return None if known is None else known * times
    return None


def _least_rank(axis: int) -> int:
    return axis + 1 if axis >= 0 else max(2, -axis)


def _part(facts: ShapeFacts, one: ast.expr, other: ast.expr) -> None:
    """Read ``x.shape[:2] == (b, h)`` and ``x.shape[2:] == (3, 3)``."""
    match one, other:
        case ast.Subscript(value=value, slice=ast.Slice(lower=low)), ast.Tuple(elts=elts):
            name, start = whole_shape_of(value), 0 if low is None else integer(low)
            if name is None or start is None:
                return
            if name not in facts.shapes:
                facts.rank(name, start + len(elts) if start >= 0 else len(elts))
            for at, each in enumerate(elts):
                extent = _extent(each)
                if extent is not None:
                    facts.extent(name, start + at, extent)


_TERM = r"[\w*]+(?:\s*[-+*/]+\s*\w+)?"
_BRACKETED = rf"[\(\[]\s*({_TERM}(?:\s*(?:,|\bx\b)\s*{_TERM})*,?)\s*[\)\]]"
_JOINT = re.compile(rf"(?<![\w.])(\w+)((?:\s*[,/]\s*\w+)+)\s*:[^\n;]*?{_BRACKETED}")
_CROSSES = re.compile(r"\b([A-Z](?:x[A-Z])+)\b")
_WORDS = {"optional", "tensor", "int", "float", "bool", "default", "str", "list", "tuple", "none"}


def _written(text: str, names: tuple[str, ...]) -> Iterator[tuple[str, list[Extent]]]:
    """Yield shapes written beside a name, in a docstring or comment, or in a message."""
    for name in names if ":" in text else ():
        beside = rf"(?<![\w.]){re.escape(name)}(?:\s*[,/]\s*\w+)*\s*:[^\n;]*?{_BRACKETED}"
        for found in re.finditer(beside, text):
            extents = _extents(found.group(1))
            if extents:
                yield name, extents
                break
    crossed = _CROSSES.search(text)
    if crossed and len(names) == 1:
        yield names[0], list(crossed.group(1).split("x"))
    for found in _JOINT.finditer(text):
        extents = _extents(found.group(3))
        for name in re.findall(r"\w+", found.group(1) + found.group(2)):
            if extents and name in names:
                yield name, extents


_LAST = rf"[\(\[]\s*\.\.\.\s*,\s*({_TERM}(?:\s*,\s*{_TERM})*)\s*[\)\]]"
"""Matches ``(..., n, 3)``, which leaves the rank open."""


def _last_written(text: str, names: tuple[str, ...]) -> Iterator[tuple[str, list[Extent]]]:
    """Yield the last extents that are written beside a name, as in ``x: (..., dim)``."""
    for name in names if "..." in text else ():
        beside = rf"(?<![\w.]){re.escape(name)}(?:\s*[,/]\s*\w+)*\s*:[^\n;(\[]*{_LAST}"
        if found := re.search(beside, text):
            yield name, _extents(f"{found[1]},")


def _extents(text: str) -> list[Extent]:
    """The extents of ``B, 3, rotary_dim / 2``; none where a word of another meaning is there."""
    parts = [part.strip() for part in re.split(r",|\bx\b", text) if part.strip()]
    if any(part.lower() in _WORDS for part in parts) or (len(parts) == 1 and "," not in text):
        single = parts[0] if len(parts) == 1 and parts[0].lower() not in _WORDS else ""
        return [single] if re.fullmatch(r"[A-Z]\w?", single) else []
    return [int(part) if part.isdigit() else part for part in parts if part != "*"]
