"""The Functions that a source declares, by its syntax tree, including nested and local ones.

A base is followed through imports and assignments of names to PyTorch's ``Function``. One that
comes from elsewhere is looked up in the loaded module, where there is one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

import msgspec

_BASES = frozenset({"Function", "InplaceFunction", "NestedIOFunction"})
_LIBRARIES = frozenset({"torch", "gradtool"})
_HERE = "<here>"
"""First part of the origin of a Function that the source itself declares."""

IsFunction = Callable[[str], bool]
"""Returns True for a dotted name that is a Function in the namespace of the loaded module."""

Scoped = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Declared(msgspec.Struct, frozen=True):
    """A class statement, or a call to ``type``, that makes a Function."""

    name: str
    """Dotted, as ``Holder.Inner`` and ``make.Inner``."""
    node: ast.ClassDef | ast.Call
    within: tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...] = ()
    """The functions that it is made in, the outermost first."""

    @property
    def line(self) -> int:
        """The line of the statement."""
        return self.node.lineno


def declared_functions(tree: ast.Module, is_function: IsFunction | None = None) -> list[Declared]:
    """List the Functions that `tree` declares, in the order of the source.

    Args:
        tree: The module.
        is_function: Says of a base that the module imports from elsewhere if it is a Function;
            without it, one is if the class has the ``forward`` and ``backward`` of a Function.
    """
    reader = _Reader(is_function)
    reader.read(tree.body, _Scope())
    return sorted(reader.found, key=lambda each: each.line)


class _Scope(msgspec.Struct):
    """The names of one module, class or function, and what they stand for."""

    origins: dict[str, str] = msgspec.field(default_factory=dict)
    outer: _Scope | None = None
    path: str = ""
    """Prefix of the names of the classes in it."""
    within: tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...] = ()
    is_class: bool = False

    def origin(self, name: str) -> str | None:
        """Return what a name stands for; None if it is not known."""
        scope: _Scope | None = self
        while scope is not None:
            # The names of a class are not seen in the functions below it.
            if name in scope.origins and (scope is self or not scope.is_class):
                return scope.origins[name]
            scope = scope.outer
        return None


class _Reader:
    """Reads statements; bodies of functions come after the scope that they see is complete."""

    def __init__(self, is_function: IsFunction | None) -> None:
        self.found: list[Declared] = []
        self._is_function = is_function

    def read(self, body: Iterable[ast.stmt], scope: _Scope) -> None:
        """Read the statements of one scope."""
        later: list[tuple[list[ast.stmt], _Scope]] = []
        for statement in body:
            self._read(statement, scope, later)
        for inner, its_scope in later:
            self.read(inner, its_scope)

    def _read(
        self, node: ast.AST, scope: _Scope, later: list[tuple[list[ast.stmt], _Scope]]
    ) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                scope.origins.update(_imported(node))
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._assign(name, value, scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                scope.origins[node.name] = f"{_HERE}()"
                inner = _Scope({}, scope, f"{scope.path}{node.name}.", (*scope.within, node))
                later.append((node.body, inner))
            case ast.ClassDef():
                self._class(node, scope, later)
            case _:
                self._calls_of_type(node, scope)
                for child in _statements(node):
                    self._read(child, scope, later)

    def _assign(self, name: str, value: ast.expr, scope: _Scope) -> None:
        made = self._made_by_type(value, scope, name)
        if made is not None:
            self._add(made, scope)
            return
        origin = self._origin(value, scope)
        if origin is not None:
            scope.origins[name] = origin
        self._calls_of_type(value, scope)

    def _class(
        self, node: ast.ClassDef, scope: _Scope, later: list[tuple[list[ast.stmt], _Scope]]
    ) -> None:
        if self._makes_function(node.bases, scope) or self._looks_like_one(node):
            self._add(Declared(scope.path + node.name, node, scope.within), scope)
            scope.origins[node.name] = f"{_HERE}.Function"
        else:
            scope.origins.pop(node.name, None)
        inner = _Scope({}, scope, f"{scope.path}{node.name}.", scope.within, is_class=True)
        for statement in node.body:
            self._read(statement, inner, later)

    def _add(self, declared: Declared, scope: _Scope) -> None:
        self.found.append(declared)
        scope.origins[declared.name.rpartition(".")[2]] = f"{_HERE}.Function"

    def _calls_of_type(self, node: ast.AST, scope: _Scope) -> None:
        """Find calls to ``type`` in the expressions of a statement."""
        for child in _expressions(node):
            made = self._made_by_type(child, scope, None)
            if made is not None:
                self.found.append(made)

    def _made_by_type(self, node: ast.expr, scope: _Scope, name: str | None) -> Declared | None:
        match node:
            case ast.Call(func=ast.Name(id="type"), args=[first, ast.Tuple(elts=bases), *_]) | (
                ast.Call(
                    func=ast.Attribute(attr="new_class"), args=[first, ast.Tuple(elts=bases), *_]
                )
            ) if self._makes_function(bases, scope):
                written = ast.unparse(first).strip("'") if _is_text(first) else name or "type(...)"
                return Declared(f"{scope.path}{written}", node, scope.within)
        return None

    def _makes_function(self, bases: Iterable[ast.expr], scope: _Scope) -> bool:
        return any(self._is_base(base, scope) for base in bases)

    def _is_base(self, base: ast.expr, scope: _Scope) -> bool:
        if isinstance(base, ast.Subscript):
            base = base.value
        written, origin = dotted(base), self._origin(base, scope)
        if origin is not None:
            first, _, rest = origin.partition(".")
            if first in (*_LIBRARIES, _HERE):
                return rest.rpartition(".")[2] in _BASES
        if self._is_function is None or written is None:
            return False
        return self._is_function(written)

    def _origin(self, node: ast.expr, scope: _Scope) -> str | None:
        written = dotted(node)
        if written is None:
            return None
        first, point, rest = written.partition(".")
        found = scope.origin(first)
        return None if found is None else f"{found}{point}{rest}"

    def _looks_like_one(self, node: ast.ClassDef) -> bool:
        """Return True for a class with the methods of a Function and a base of unknown origin."""
        if self._is_function is not None or not node.bases:
            return False
        methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
        return all(
            name in methods and _is_static(methods[name]) for name in ("forward", "backward")
        )


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_static(method: ast.FunctionDef) -> bool:
    return any(dotted(each) in ("staticmethod", "classmethod") for each in method.decorator_list)


def dotted(node: ast.expr) -> str | None:
    """``a.b.c`` for the expression of that form; None for another."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """The names that an import binds, and what they stand for."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{'.' * node.level}{node.module or ''}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            first = alias.name.partition(".")[0]
            yield first, first


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements directly below a statement, in the same scope."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from _statements(child)


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a statement, without those of the statements below it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        if not isinstance(child, ast.stmt | Scoped):
            yield from _expressions(child)
