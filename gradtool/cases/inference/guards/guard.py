"""Guards: what refuses arguments in the source, an ``if`` that raises or an assertion."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from gradtool.cases.inference.evaluation import Scope, parameters_of
from gradtool.cases.inference.guards.conditions import Condition, conditions, replaced
from gradtool.cases.inference.guards.refusal import Refusal, Scene

_DEPTH = 4
"""Local names that are followed to what they were assigned."""


class Guard(msgspec.Struct, frozen=True):
    """A test that accepts or refuses arguments."""

    test: ast.expr
    holds: bool
    """What the test has to be for arguments to be accepted."""
    scope: ast.FunctionDef
    """The function that it is in."""
    statements: tuple[ast.stmt, ...] = ()
    """Those that are reached when it refuses."""

    def conditions(self) -> list[Condition]:
        """List what has to hold, by parameters where local names stand for them."""
        return list(conditions(in_parameters(self.test, self.scope), holds=self.holds))

    def refuses_at(self, line: int) -> bool:
        """Return True for a line at which it refuses."""
        return any(each.lineno <= line <= (each.end_lineno or 0) for each in self.statements)


def guard_of(tree: ast.Module, refusal: Refusal) -> tuple[Guard, Scene] | None:
    """The guard that refused arguments, with the call in which its names have values.

    A helper that only gets the truth of a test, ``require(x.dim() == 2, "...")``, has its guard
    where it is called.
    """
    *callers, scene = refusal.scenes
    found = next((each for each in _guards(tree) if each.refuses_at(scene.line)), None)
    if found is None:
        return None
    passed = _passed(tree, found, callers[-1]) if callers else None
    return (found, scene) if passed is None else (passed, callers[-1])


def guards_of(tree: ast.Module, scope: ast.FunctionDef) -> list[Guard]:
    """All guards of one function."""
    return [guard for guard in _guards(tree) if guard.scope is scope]


@lru_cache(maxsize=1)
def _guards(tree: ast.Module) -> tuple[Guard, ...]:
    """All guards of a module, those of inner functions once for each function around them."""
    scopes = (scope for scope in ast.walk(tree) if isinstance(scope, ast.FunctionDef))
    return tuple(
        guard for scope in scopes for node in ast.walk(scope) for guard in _at(node, scope)
    )


def _at(node: ast.AST, scope: ast.FunctionDef) -> Iterator[Guard]:
    """Yield the guards that a statement is."""
    match node:
        case ast.If(test=test, body=body, orelse=orelse):
            for branch, holds in ((body, False), (orelse, True)):
                raising = tuple(each for each in branch if isinstance(each, ast.Raise))
                if raising:
                    yield Guard(test, holds, scope, raising)
        case ast.Assert(test=test):
            yield Guard(test, True, scope, (node,))
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[test, *_])):
            if name.startswith("_check"):
                yield Guard(test, True, scope, (node,))


def _passed(tree: ast.Module, guard: Guard, caller: Scene) -> Guard | None:
    """The guard in a caller, if that passes the truth of the test for a parameter."""
    inner, holds = guard.test, guard.holds
    while isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
        inner, holds = inner.operand, not holds
    names = list(parameters_of(guard.scope))
    if not isinstance(inner, ast.Name) or inner.id not in names:
        return None
    at = names.index(inner.id)
    for scope in ast.walk(tree):
        if isinstance(scope, ast.FunctionDef):
            calls = (each for each in ast.walk(scope) if isinstance(each, ast.Call))
            for call in calls:
                if _is_call_at(call, guard.scope.name, caller.line) and at < len(call.args):
                    return Guard(call.args[at], holds, scope)
    return None


def _is_call_at(call: ast.Call, name: str, line: int) -> bool:
    called = getattr(call.func, "attr", getattr(call.func, "id", None))
    return called == name and call.lineno <= line <= (call.end_lineno or 0)


def in_parameters(node: ast.expr, scope: Scope) -> ast.expr:
    """The expression with local names replaced by what was assigned to them, once each."""
    values = dict(_assigned_once(scope))
    for _ in range(_DEPTH):
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        if not names & values.keys():
            break
        node = replaced(node, values)
    return node


def _assigned_once(scope: Scope) -> Iterator[tuple[str, ast.expr]]:
    """Yield the local names that one assignment binds, with its value."""
    stored = [
        each.id
        for each in ast.walk(scope)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    ]
    own = parameters_of(scope)
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            for name, value in _bound(node.targets[0], node.value):
                if stored.count(name) == 1 and name not in own:
                    yield name, value


def _bound(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names of a target with their values: of ``a, b = x, y`` and ``b, n = x.shape``."""
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values):
            for one, other in zip(targets, values, strict=False):
                yield from _bound(one, other)
        case ast.Tuple(elts=targets), ast.Attribute(attr="shape"):
            for at, one in enumerate(targets):
                if isinstance(one, ast.Name):
                    yield one.id, ast.Subscript(value, ast.Constant(at), ast.Load())
