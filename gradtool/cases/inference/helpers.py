"""Helpers: the functions that forward calls, of its module or class, imported, or of a factory."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from gradtool.adapters.common.parsed_source import own_source, walked


class Helper(msgspec.Struct, frozen=True):
    """A function that forward calls."""

    node: ast.FunctionDef
    text: str
    """Its source, with comments."""
    inner: Mapping[str, Helper] = msgspec.field(default_factory=dict)
    """The functions that it calls itself, of those that are imported or of a factory."""


def passed_to(helper: Helper, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters of a helper with what a call passes for them."""
    for name, argument in zip(parameters_of(helper), call.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        yield name, argument
    yield from ((each.arg, each.value) for each in call.keywords if each.arg)


def parameters_of(helper: Helper) -> tuple[str, ...]:
    """The names of the parameters of a helper, those last that are passed by name."""
    given = helper.node.args
    return tuple(each.arg for each in (*given.args, *given.kwonlyargs))


def helpers_of(
    forward: ast.AST, cls: ast.ClassDef, module: ast.Module, text: str, namespace: Mapping[str, Any]
) -> dict[str, Helper]:
    """The functions that forward calls, by the expressions that it calls them by.

    Args:
        forward: The method that calls them.
        cls: The class that it is defined in.
        module: The module around that.
        text: The source of the module.
        namespace: The globals of forward, and the variables of the functions around it.
    """
    own = {each.name: each for each in module.body if isinstance(each, ast.FunctionDef)}
    own |= {f"{cls.name}.{e.name}": e for e in cls.body if isinstance(e, ast.FunctionDef)}
    return _Module(own, text, namespace).called_by(forward, _LEVELS)


_LEVELS = 2
"""Calls that are followed from forward."""


class _Module(msgspec.Struct, frozen=True):
    """The functions of a module, with its text and its globals."""

    own: Mapping[str, ast.FunctionDef]
    text: str
    namespace: Mapping[str, Any]

    def called_by(self, node: ast.AST, levels: int) -> dict[str, Helper]:
        """The functions that a body calls, its own and imported ones, by as many levels."""
        calls = (each for each in walked(node) if isinstance(each, ast.Call) and levels)
        names = dict.fromkeys(ast.unparse(each.func) for each in calls)
        made = {name: self._helper(name, levels) for name in names}
        return {name: each for name, each in made.items() if each is not None}

    def _helper(self, name: str, levels: int) -> Helper | None:
        if name not in self.own:
            return _imported(called(name, self.namespace), levels)
        node = self.own[name]
        text = ast.get_source_segment(self.text, node) or ""
        return Helper(node, text, self.called_by(node, levels - 1))


def called(name: str, namespace: Mapping[str, Any]) -> Any:
    """The function of a name, or of a module: ``kernels.add``. None if there is none."""
    first, *rest = name.split(".")
    found = namespace.get(first)
    for part in rest:
        found = vars(found).get(part) if inspect.ismodule(found) else None
    is_of_users = inspect.isfunction(found) and not found.__module__.startswith(_LIBRARIES)
    return found if is_of_users else None


_LIBRARIES = ("gradtool.", "numpy.", "torch.")
"""Modules whose functions take whatever the arguments of a Function are."""


def _imported(function: Any, levels: int) -> Helper | None:
    text, node = definition(function) if function is not None and levels else ("", None)
    if not isinstance(node, ast.FunctionDef):
        return None
    calls = (each for each in walked(node) if isinstance(each, ast.Call))
    names = dict.fromkeys(ast.unparse(each.func) for each in calls)
    made = {name: _imported(called(name, function.__globals__), levels - 1) for name in names}
    return Helper(node, text, {name: each for name, each in made.items() if each is not None})


def definition(function: Any) -> tuple[str, ast.stmt | None]:
    """The source of a function, and its statement; None without source.

    The statement has no annotations of variables. Nobody may change it.
    """
    try:
        text, tree = own_source(inspect.unwrap(function))
        return text, _unannotated(tree)
    except (OSError, TypeError, SyntaxError, IndexError, ValueError):
        return "", None


@lru_cache(maxsize=256)
def _unannotated(tree: ast.Module) -> ast.stmt:
    """The only statement of a source, copied where that is to change."""
    statement = tree.body[0]
    if not any(isinstance(node, ast.AnnAssign) for node in ast.walk(statement)):
        return statement
    changed: ast.stmt = _Unannotated().visit(copy.deepcopy(statement))
    return changed


class _Unannotated(ast.NodeTransformer):
    """Writes ``solver = ctx.solver`` for ``solver: Solver = ctx.solver``."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Leave the annotation out, if the statement assigns a value."""
        if node.value is None:
            return node
        return ast.copy_location(ast.Assign([node.target], node.value), node)
