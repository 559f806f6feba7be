"""Where in a Function's source a mutation may go, and what the names there mean."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.mutation.originals import METHODS, methods

_NO_CODE = frozenset({"annotation", "returns", "decorator_list", "type_params", "type_comment"})
_INNER = ("body", "orelse")


@dataclass(frozen=True)
class Scope:
    """What the names in one method mean."""

    method: str
    """The method, or ``helper`` for what only backward uses."""
    context: str | None
    """The name of ctx."""
    incoming: tuple[str, ...]
    """Names of the gradients of outputs, or of the tangents of inputs."""
    variables: tuple[str, ...]
    """Parameters and local names in the order of their first appearance."""
    attributes: tuple[str, ...]
    """Attributes that the Function sets on ctx."""

    def is_context(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == self.context

    def is_value(self, node: ast.AST) -> bool:
        """Whether `node` is the name of a variable whose value is used."""
        return (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Load)
            and node.id in self.variables
        )


@dataclass(frozen=True)
class Place:
    """One node, and where it hangs."""

    scope: Scope
    statement: ast.stmt
    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST

    @contextmanager
    def holding(self, node: ast.AST | None) -> Iterator[None]:
        """In this context `node` is in this place; None: nothing is."""
        whole = list(getattr(self.parent, self.field)) if self.index is not None else self.node
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            new = [node] if node is not None else []
            getattr(self.parent, self.field)[self.index : self.index + 1] = new
        try:
            yield
        finally:
            if self.index is None:
                setattr(self.parent, self.field, whole)
            else:
                getattr(self.parent, self.field)[:] = whole

    def text(self) -> str:
        """The statement at this place as it is now: of a compound one its first line."""
        if not isinstance(self.node, ast.stmt) or self.index is None:
            return heading(self.statement)
        return heading(getattr(self.parent, self.field)[self.index])


def heading(statement: ast.AST) -> str:
    """The source of a statement without the statements inside it, in one line."""
    return " ".join(_heading(statement).split("\n"))


def _heading(statement: ast.AST) -> str:
    if isinstance(statement, ast.Pass):
        return "nothing"
    if not hasattr(statement, "body"):
        return ast.unparse(statement)
    shallow = copy.copy(statement)
    shallow.body = [ast.Pass()]
    if hasattr(shallow, "orelse"):
        shallow.orelse = []
    return ast.unparse(ast.fix_missing_locations(shallow)).removesuffix("\n    pass")


def places(source: ast.Module) -> Iterator[Place]:
    """Every node that belongs to how the Function of `source` computes gradients.

    Of ``forward`` these are only the statements that speak of ctx. A helper of backward, and a
    Function that it applies, counts with everything in it.
    """
    node = source.body[0]
    assert isinstance(node, ast.ClassDef)
    own = methods(node)
    attributes = tuple(dict.fromkeys(_attributes(own)))
    for name in METHODS:
        if name in own:
            has_context = name != "forward" or "setup_context" not in own
            scope = _scope(own[name], name, attributes, has_context=has_context)
            yield from _in_method(own[name], scope)
    for helper in source.body[1:]:
        yield from _in_helper(helper)


def _in_helper(helper: ast.stmt) -> Iterator[Place]:
    inner = list(methods(helper).values()) if isinstance(helper, ast.ClassDef) else [helper]
    for method in inner:
        assert isinstance(method, ast.FunctionDef)
        has_context = isinstance(helper, ast.ClassDef)
        yield from _in_function(method, _scope(method, "helper", (), has_context=has_context))


def _in_method(method: ast.FunctionDef, scope: Scope) -> Iterator[Place]:
    for place in _in_function(method, scope):
        if scope.method != "forward" or _speaks_of_context(place.statement, scope):
            yield place


def _speaks_of_context(statement: ast.stmt, scope: Scope) -> bool:
    if isinstance(statement, ast.Return | ast.FunctionDef):
        return False
    return any(scope.is_context(node) for node in ast.walk(statement))


def _in_function(method: ast.FunctionDef, scope: Scope) -> Iterator[Place]:
    for index, decorator in enumerate(method.decorator_list):
        yield Place(scope, method, method, "decorator_list", index, decorator)
    yield from _statements(method, scope)


def _statements(parent: ast.AST, scope: Scope) -> Iterator[Place]:
    for field in _INNER:
        for index, statement in enumerate(getattr(parent, field, ())):
            if _is_docstring(statement):
                continue
            yield Place(scope, statement, parent, field, index, statement)
            yield from _below(statement, statement, scope)
            yield from _statements(statement, scope)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _below(node: ast.AST, statement: ast.stmt, scope: Scope) -> Iterator[Place]:
    """The expressions of a statement; statements inside it are places of their own."""
    for field, value in ast.iter_fields(node):
        if field in _NO_CODE:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.expr | ast.keyword | ast.comprehension | ast.withitem):
                yield Place(scope, statement, node, field, index, child)
                yield from _below(child, statement, scope)


def _scope(
    method: ast.FunctionDef, name: str, attributes: tuple[str, ...], *, has_context: bool
) -> Scope:
    parameters = [each.arg for each in method.args.args]
    parameters += [method.args.vararg.arg] if method.args.vararg else []
    context = parameters.pop(0) if has_context and parameters else None
    stored = [
        node.id
        for node in ast.walk(method)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return Scope(
        method=name,
        context=context,
        incoming=tuple(parameters) if name in {"backward", "vjp", "jvp"} else (),
        variables=tuple(dict.fromkeys([*parameters, *stored])),
        attributes=attributes,
    )


def _attributes(own: dict[str, ast.FunctionDef]) -> Iterator[str]:
    """What the methods set on their first parameter, which is ctx where they do."""
    for method in own.values():
        first = method.args.args[0].arg if method.args.args else None
        for node in ast.walk(method):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                of_first = isinstance(node.value, ast.Name) and node.value.id == first
                yield from [node.attr] if of_first else ()
