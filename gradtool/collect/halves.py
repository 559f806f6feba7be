"""Halves of an operation: Functions that pass a tensor on in an argument, past autograd.

Communication that overlaps with computation is split in two. The first half starts it and keeps
the result in an object; the second half gets that object and waits. Backward goes the other way:
the second half keeps the gradient in the object, where the first takes it. Neither computes a
derivative of its own inputs. The object may also be an attribute of the gradient.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any

import msgspec

from gradtool.adapters.common.parsed_source import own_source
from gradtool.adapters.library import library
from gradtool.collect.instructions import may_set_attributes


class _Body(msgspec.Struct, frozen=True):
    """A method, and what its names stand for."""

    node: ast.FunctionDef
    arguments: tuple[str, ...]
    """The parameters behind ctx."""
    objects: dict[str, str]
    """Arguments of forward, by the expressions that stand for them here."""


def half_of(cls: type[Any]) -> str | None:
    """Return what half of an operation passes its gradient on in; None for others.

    It is an argument, or an attribute of the gradient itself.
    """
    if not may_set_attributes(cls.forward):
        return None  # Backward finds nothing of forward's but saved tensors.
    forward, backward = (_definition(getattr(cls, name)) for name in ("forward", "backward"))
    if forward is None or backward is None:
        return None
    first = _Body(forward, _arguments(forward), {})
    kept = dict(_kept(first))
    second = _Body(backward, _arguments(backward), kept | _named_again(backward, kept))
    if (attribute := next(_on_gradient(second), None)) is not None:
        return attribute
    if not second.objects or _depends(second, set(second.arguments)):
        return None
    carriers = (
        name
        for name in second.objects.values()
        if _keeps_gradient(second, name)
        or _takes_gradient(first, second, name)
        or (_returns_nothing(backward) and _changes(second, name))
    )
    return next(carriers, None)


def _definition(function: Any) -> ast.FunctionDef | None:
    function = inspect.unwrap(getattr(function, "__func__", function))
    try:
        node = own_source(function)[1].body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    return node if isinstance(node, ast.FunctionDef) else None


def _arguments(node: ast.FunctionDef) -> tuple[str, ...]:
    starred = [node.args.vararg] if node.args.vararg else []
    return tuple(each.arg for each in (*node.args.posonlyargs, *node.args.args, *starred))[1:]


def _kept(forward: _Body) -> Iterator[tuple[str, str]]:
    """Yield ``ctx.request`` with ``request``, and the like."""
    for target, value in _assigned(forward.node):
        if isinstance(target, ast.Attribute) and ast.unparse(value) in forward.arguments:
            yield ast.unparse(target), ast.unparse(value)


def _named_again(backward: ast.FunctionDef, kept: dict[str, str]) -> dict[str, str]:
    """The local names of what the context keeps."""
    return {
        ast.unparse(target): kept[ast.unparse(value)]
        for target, value in _assigned(backward)
        if ast.unparse(value) in kept
    }


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    for found in ast.walk(node):
        if isinstance(found, ast.Assign):
            yield from ((target, found.value) for target in found.targets)
        elif isinstance(found, ast.AnnAssign) and found.value is not None:
            yield found.target, found.value


def _keeps_gradient(backward: _Body, name: str) -> bool:
    """Return True if backward keeps what it computes from the cotangent in an argument."""
    computed = _computed_from(backward, set(backward.arguments))
    return any(
        isinstance(target, ast.Attribute)
        and backward.objects.get(ast.unparse(target.value)) == name
        and _names(value) & computed
        for target, value in _assigned(backward.node)
    )


def _takes_gradient(forward: _Body, backward: _Body, name: str) -> bool:
    """Return True if an argument alone has both what forward returns and the gradient.

    Or if backward takes the gradient out of it, and forward returns nothing of the others.
    """
    others = set(forward.arguments) - {name}
    local = {each for each, of in backward.objects.items() if of == name}
    is_passed = _fills(forward, name) or _is_taken_out(backward, local)
    return is_passed and not _depends(forward, others) and _depends(backward, local)


def _on_gradient(backward: _Body) -> Iterator[str]:
    """Yield attributes that backward reads of its cotangent, or sets on a gradient, by name.

    Code asks a tensor in this way for what its class does not have.
    """
    computed = _computed_from(backward, set(backward.arguments))
    returned = (each.value for each in ast.walk(backward.node) if isinstance(each, ast.Return))
    gradients = {name for value in returned if value is not None for name in _names(value)}
    for found in ast.walk(backward.node):
        match found:
            case ast.Call(
                func=ast.Name(id="getattr" | "setattr" as function),
                args=[ast.Name(id=owner), ast.Constant(value=str(attribute)), *_],
            ):
                of = computed if function == "getattr" else gradients
                if owner in of and not hasattr(library().Tensor, attribute):
                    yield attribute


def _is_taken_out(backward: _Body, local: set[str]) -> bool:
    """Return True for ``portal.take()``: a method without arguments, whose result is used."""
    statements = (each for each in ast.walk(backward.node) if isinstance(each, ast.Expr))
    unused = {id(each.value) for each in statements}
    for found in ast.walk(backward.node):
        match found:
            case ast.Call(func=ast.Attribute(value=owner), args=[], keywords=[]):
                if ast.unparse(owner) in local and id(found) not in unused:
                    return True
    return False


def _changes(backward: _Body, name: str) -> bool:
    """Return True if backward puts something into an argument, by a method or an attribute."""
    local = {each for each, of in backward.objects.items() if of == name}
    for found in ast.walk(backward.node):
        match found:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner), args=[_, *_])):
                pass
            case ast.Attribute(value=owner, ctx=ast.Store()):
                pass
            case _:
                continue
        if ast.unparse(owner) in local:
            return True
    return False


def _returns_nothing(backward: ast.FunctionDef) -> bool:
    """Return True if a backward returns None for each argument."""
    empty = {
        ast.unparse(target) for target, value in _assigned(backward) if _is_empty(value, set())
    }
    returned = [each.value for each in ast.walk(backward) if isinstance(each, ast.Return)]
    return bool(returned) and all(each is None or _is_empty(each, empty) for each in returned)


def _is_empty(node: ast.expr, empty: set[str]) -> bool:
    """Return True for None, for a list of such, and for names of these."""
    match node:
        case ast.Constant(value=None):
            return True
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return all(_is_empty(each, empty) for each in elts)
        case ast.Call(func=ast.Name(id="tuple"), args=[inner]):
            return _is_empty(inner, empty)
    return ast.unparse(node) in empty


def _fills(forward: _Body, name: str) -> bool:
    """Return True if forward assigns attributes of an argument, or calls its methods for that."""
    for found in ast.walk(forward.node):
        match found:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=owner)), *_]):
                pass
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner)))):
                pass
            case _:
                continue
        if owner == name:
            return True
    return False


def _depends(body: _Body, names: set[str]) -> bool:
    """Return True if a method returns what it computes from some of its names."""
    computed = _computed_from(body, names)
    returned = (each.value for each in ast.walk(body.node) if isinstance(each, ast.Return))
    return any(_names(value) & computed for value in returned if value is not None)


def _computed_from(body: _Body, names: set[str]) -> set[str]:
    """The names of what is computed from some names, which are left out if replaced unread."""
    found = {name for name in names if not _is_replaced(body.node, name)}
    while True:
        new = {
            each.id
            for target, value in _assigned(body.node)
            if _names(value) & found
            for each in ast.walk(target)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        if new <= found:
            return found
        found |= new


def _is_replaced(node: ast.AST, name: str) -> bool:
    """Return True for a name that is assigned before it is read."""
    read = (each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name)
    lines = [each.lineno for each in read if isinstance(each.ctx, ast.Load)]
    new = (value.lineno for target, value in _assigned(node) if ast.unparse(target) == name)
    return any(line < min(lines, default=line) for line in new)


_OF_LAYOUT = {"device", "dtype"}
"""Attributes of a tensor that say nothing of its values."""


def _names(node: ast.AST) -> set[str]:
    """The names, and attributes of names, that an expression reads the values of."""
    if isinstance(node, ast.Attribute) and node.attr in _OF_LAYOUT:
        return set()
    is_name = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
    inner = (name for each in ast.iter_child_nodes(node) for name in _names(each))
    return {*inner, *({ast.unparse(node)} if is_name else ())}
