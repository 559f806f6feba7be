"""Function classes that the user's functions define, made without calling these.

A class that uses nothing of the functions around it, but for what they import, is the same wherever
its statement runs.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from gradtool.collect.declared import Declared

_MAKER = "lifted"

_ALIVE: WeakKeyDictionary[ModuleType, list[Any]] = WeakKeyDictionary()
"""The classes, which nothing else refers to."""


def lift(declared: Declared, module: ModuleType) -> None:
    """Make a class that functions define, if it needs nothing of them.

    What its statement raises is of no concern: the Function is then not made.
    """
    node = declared.node
    if not isinstance(node, ast.ClassDef) or not _is_independent(declared, module):
        return
    imports = [each for outer in declared.within for each in _imports(outer)]
    returned = ast.Return(ast.Name(node.name, ast.Load()))
    maker = ast.FunctionDef(_MAKER, _NO_ARGUMENTS, [*imports, node, returned], [])
    ast.fix_missing_locations(ast.copy_location(maker, node))
    ast.copy_location(returned, node)
    ast.fix_missing_locations(returned)
    scratch: dict[str, Any] = {}
    try:
        code = compile(ast.Module([maker], []), str(module.__file__), "exec")
        exec(code, vars(module), scratch)
        cls = scratch[_MAKER]()
        cls.__qualname__ = _qualified(declared)
    except Exception:  # The statement may use what is not installed.
        return
    _ALIVE.setdefault(module, []).append(cls)


_NO_ARGUMENTS = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def _qualified(declared: Declared) -> str:
    """The name that Python gives a class which is made in functions."""
    outer = {each.name for each in declared.within}
    *parts, last = declared.name.split(".")
    return ".".join([*(f"{e}.<locals>" if e in outer else e for e in parts), last])


def _is_independent(declared: Declared, module: ModuleType) -> bool:
    """Return True if a class uses only its own names, those of the module, and imported ones."""
    own = set(_bound([declared.node])) | {declared.name.rpartition(".")[2]}
    used = {
        node.id
        for node in ast.walk(declared.node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    imported = {name for outer in declared.within for each in _imports(outer) for name in _of(each)}
    around = {name for outer in declared.within for name in _bound(_without(outer, declared.node))}
    known = vars(module).keys() | vars(builtins).keys() | imported
    uses_super = "__class__" in used or "super" in used
    return not uses_super and used - own <= known and not (used - own - imported) & around


def _without(outer: ast.AST, node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function but for those of a class in it."""
    inside = set(map(id, ast.walk(node)))
    yield from (each for each in ast.walk(outer) if id(each) not in inside)


def _bound(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that statements bind: parameters, what is assigned, and definitions."""
    for top in nodes:
        for node in ast.walk(top) if isinstance(top, ast.ClassDef) else (top,):
            match node:
                case ast.arg(arg=name):
                    yield name
                case ast.Name(id=name, ctx=ast.Store()):
                    yield name
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    yield name


def _imports(outer: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports in a function, each of which stands for itself."""
    for node in ast.walk(outer):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node


def _of(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    yield from (each.asname or each.name.partition(".")[0] for each in node.names)
