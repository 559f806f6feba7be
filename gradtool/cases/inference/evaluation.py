"""Values of expressions at the place of a call, as far as they follow from the source alone.

An expression is evaluated if it consists of constants, names that lead to such expressions, and
calls to PyTorch, NumPy, ``math`` and builtins that compute. Nothing else of the user's is called,
but the constructor of the class around the call.
"""

from __future__ import annotations

import ast
import builtins
import math
import re
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, TypeGuard

import msgspec
import numpy as np

from gradtool.adapters.library import library
from gradtool.cases.inference.constructors import constructed

MISSING = object()
"""In place of a value that depends on more than the source shows."""

_DEPTH = 5
"""Names that are followed to where they are assigned."""

_MOST_ENTRIES = 1 << 20
"""Entries of a tensor beyond which it is not made."""

_BUILTINS = {"abs", "bool", "dict", "float", "getattr", "int", "len", "list", "max", "min", "range",
             "round", "set", "slice", "str", "sum", "tuple", "zip"}  # fmt: skip

_REACHES_OUT = re.compile(r".*(load|save|file|dump|hub|txt|set_default).*")
"""Names of functions of these libraries that do more than compute."""

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


class Place(msgspec.Struct, frozen=True):
    """A call, with the module, the function and the class around it."""

    call: ast.Call
    tree: ast.Module
    scope: Scope
    owner: ast.ClassDef | None
    namespace: Mapping[str, Any]
    """The globals of the module if it is imported; otherwise PyTorch and the like alone."""
    is_held: bool = False
    """What is called is an attribute that may be one of several Functions."""
    made: dict[type[Any], Any] = msgspec.field(default_factory=dict)
    """Objects of classes, which take time to construct: calls nearby share them."""


def outside() -> dict[str, Any]:
    """The names that are known in a module that is not imported."""
    torch = library().torch
    functional = torch.nn.functional
    return {"torch": torch, "F": functional, "nn": torch.nn, "np": np, "numpy": np, "math": math}


def value_at(place: Place, node: ast.expr, depth: int = _DEPTH) -> Any:
    """The value of an expression at `place`; `MISSING` where it depends on more."""
    if any(not _is_harmless(call, place) for call in _calls(node)):
        return MISSING
    local: dict[str, Any] = {}
    for name in _free(node):
        if _is_global(name, place):
            continue
        found = _named(name, place, depth)
        if found is MISSING:
            return MISSING
        local[name] = found
    try:
        # Names in the body of a lambda are looked up in the globals alone.
        code = compile(ast.Expression(node), "<argument>", "eval")
        return eval(code, {**place.namespace, **local})
    except Exception:  # The user's expression may raise anything.
        return MISSING


def _calls(node: ast.expr) -> Iterator[ast.Call]:
    return (each for each in ast.walk(node) if isinstance(each, ast.Call))


def _is_harmless(call: ast.Call, place: Place) -> bool:
    """Return True for a call to PyTorch and the like, or to a method of what these give."""
    numbers = [each.value for each in ast.walk(call) if isinstance(each, ast.Constant)]
    extents = [number for number in numbers if type(number) is int and number > 1]
    if math.prod(extents) > _MOST_ENTRIES:
        return False
    called = call.func
    if isinstance(called, ast.Name):
        return called.id in _BUILTINS and hasattr(builtins, called.id)
    if _REACHES_OUT.fullmatch(ast.unparse(called)):
        return False
    root = called
    while isinstance(root, ast.Attribute | ast.Call | ast.Subscript):
        root = root.func if isinstance(root, ast.Call) else root.value
    if not isinstance(called, ast.Attribute) or not isinstance(root, ast.Name):
        return isinstance(called, ast.Attribute)
    known = place.namespace.get(root.id)
    if known is None:
        return root.id != "self"
    return any(known is each for each in outside().values())


def _free(node: ast.expr) -> set[str]:
    """Names that the expression uses, but does not bind itself."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    bound = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    stored = (each for each in ast.walk(node) if isinstance(each, ast.Name))
    return names - bound - {each.id for each in stored if isinstance(each.ctx, ast.Store)}


def _is_global(name: str, place: Place) -> bool:
    if name == "self":
        return False
    scope = place.scope
    is_local = not isinstance(scope, ast.Module) and (
        name in parameters_of(scope) or assigned(name, scope) is not None
    )
    return not is_local and (name in place.namespace or hasattr(builtins, name))


def _named(name: str, place: Place, depth: int) -> Any:
    if depth <= 0:
        return MISSING
    if name == "self":
        return _owner(place)
    found = assigned(name, place.scope, place.call.lineno)
    default = parameters_of(place.scope).get(name)
    if found is None:
        found = default
    if found is None and name not in parameters_of(place.scope):
        found = assigned(name, place.tree)
    return _passed(name, place, depth) if found is None else value_at(place, found, depth - 1)


def _passed(name: str, place: Place, depth: int) -> Any:
    """The value that the first call to the function around passes for its parameter."""
    scope = place.scope
    if isinstance(scope, ast.Module) or name not in parameters_of(scope):
        return MISSING
    own = list(parameters_of(scope))
    for inner, outer in walked(place.tree, place.tree):
        if not (isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name)):
            continue
        if inner.func.id != scope.name:
            continue
        given = dict(zip(own, inner.args, strict=False))
        given |= {each.arg: each.value for each in inner.keywords if each.arg}
        if name in given:
            there = Place(inner, place.tree, outer, None, place.namespace)
            return value_at(there, given[name], depth - 1)
    return MISSING


def walked(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
    """Yield all nodes below `node`, each with the function around it."""
    for child in ast.iter_child_nodes(node):
        yield child, scope
        inner = child if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else scope
        yield from walked(child, inner)


def _owner(place: Place) -> Any:
    """An instance of the class around the call, or what its constructor shows of one."""
    cls = place.namespace.get(place.owner.name) if place.owner else None
    if not isinstance(cls, type):
        return _shown(place)
    if cls not in place.made:
        place.made[cls] = constructed(cls)
    found = place.made[cls]
    return _shown(place) if found is None else found


def _shown(place: Place) -> Any:
    """An object with the plain attributes that a constructor sets by itself or by its defaults."""
    body = place.owner.body if place.owner else []
    init = next((e for e in body if isinstance(e, ast.FunctionDef) and e.name == "__init__"), None)
    if init is None or place.scope is init:
        return MISSING
    there = Place(place.call, place.tree, init, place.owner, place.namespace)
    values = {
        node.targets[0].attr: value_at(there, node.value)
        for node in ast.walk(init)
        if isinstance(node, ast.Assign) and _is_own(node.targets[0])
    }
    plain = {name: value for name, value in values.items() if _is_plain(value)}
    return SimpleNamespace(**plain) if plain else MISSING


def _is_own(target: ast.expr) -> TypeGuard[ast.Attribute]:
    """Return True for ``self.scale``."""
    return isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self"


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return isinstance(value, bool | int | float | str)


def parameters_of(scope: Scope) -> dict[str, ast.expr | None]:
    """The parameters of a function with their defaults, None where there is none."""
    if isinstance(scope, ast.Module):
        return {}
    given = [*scope.args.posonlyargs, *scope.args.args]
    filled = [None] * (len(given) - len(scope.args.defaults)) + list(scope.args.defaults)
    named = zip(scope.args.kwonlyargs, scope.args.kw_defaults, strict=True)
    return {
        **{arg.arg: default for arg, default in zip(given, filled, strict=True)},
        **{arg.arg: default for arg, default in named},
    }


def assigned(name: str, scope: Scope, before: int | None = None) -> ast.expr | None:
    """The expression that a name of a scope was last assigned, before a line."""
    found = None
    for node, inner in walked(scope, scope):
        if inner is scope and isinstance(node, ast.Assign):
            if before is not None and node.lineno >= before:
                continue
            for target in node.targets:
                found = _part(target, node.value, name) or found
    return found


def _part(target: ast.expr, value: ast.expr, name: str) -> ast.expr | None:
    """The part of a value that an assignment gives to a name."""
    if isinstance(target, ast.Name):
        return value if target.id == name else None
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = zip(target.elts, value.elts, strict=False)
        return next((found for pair in pairs if (found := _part(*pair, name))), None)
    return None
