"""Calls of the user's functions that make a Function and return it, so that it exists."""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from gradtool.collect.declared import Declared, dotted

_MOST_CALLS = 8
"""Sets of arguments that a factory is tried with."""


def call_factory(declared: Declared, module: ModuleType, tree: ast.Module) -> Any:
    """Return what the function gives that makes a Function, if it is one that returns it.

    It is called without arguments, with those of calls in the same file, or with values of the
    types that it annotates. What it raises is of no concern: the Function is then not made.
    """
    factory = declared.within[0]
    if len(declared.within) > 1 or not _returns(factory, declared.name.rpartition(".")[2]):
        return None
    function = _resolved(module, declared)
    if function is None:
        return None
    for args, kwargs in itertools.islice(_arguments(function, factory, tree, module), _MOST_CALLS):
        try:
            return function(*args, **kwargs)
        except Exception:  # the next arguments may do
            continue
    return None


def call_to_write(declared: Declared) -> str | None:
    """The call at module level that makes a Function; None where it takes an object to call it."""
    factory, *inner = declared.within
    maker = declared.name.rpartition(".")[0]
    is_method = "." in maker
    if inner or (is_method and _takes_self(factory)):
        return None
    if not _returns(factory, declared.name.rpartition(".")[2]):
        return None
    given = [*factory.args.posonlyargs, *factory.args.args]
    bound = 1 if is_method and given and given[0].arg == "cls" else 0
    filled = len(factory.args.defaults)
    required = [each.arg for each in given[bound : len(given) - filled]]
    return f"made = {maker}({', '.join(f'{name}=...' for name in required)})"


def _returns(factory: ast.AST, name: str) -> bool:
    """Return True if a function returns the class `name`, its ``apply`` or what uses it."""
    users = {name}
    for node in ast.walk(factory):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node is not factory:
            if _mentions(node, {name}):
                users.add(node.name)
        elif isinstance(node, ast.Assign) and _mentions(node.value, {name}):
            users |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    returned = [node.value for node in ast.walk(factory) if isinstance(node, ast.Return)]
    return any(value is not None and _mentions(value, users) for value in returned)


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node))


def _resolved(module: ModuleType, declared: Declared) -> Any:
    """The factory itself: a function of the module, or a static or class method."""
    parts = declared.name.split(".")[:-1]
    value: Any = module
    for part in parts:
        value = getattr(value, part, None)
    is_bound = len(parts) == 1 or not _takes_self(declared.within[0])
    return value if callable(value) and is_bound else None


def _takes_self(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    decorators = {dotted(each) for each in method.decorator_list}
    return not decorators & {"staticmethod", "classmethod"}


Call = tuple[tuple[Any, ...], dict[str, Any]]


def _arguments(
    function: Any,
    factory: ast.FunctionDef | ast.AsyncFunctionDef,
    tree: ast.Module,
    module: ModuleType,
) -> Iterator[Call]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    required = [
        each
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    if not required:
        yield (), {}
        return
    yield from _written_calls(factory.name, tree, module)
    values = [_by_annotation(each.annotation) for each in required]
    if all(values):
        for chosen in zip(*values, strict=False):
            yield (), {each.name: value for each, value in zip(required, chosen, strict=True)}


def _written_calls(name: str, tree: ast.Module, module: ModuleType) -> Iterator[Call]:
    """Arguments of calls in the file: literals, and names of the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (dotted(node.func) or "").rpartition(".")[2] == name:
            try:
                args = tuple([_value(each, module) for each in node.args])
                yield args, {str(each.arg): _value(each.value, module) for each in node.keywords}
            except (ValueError, KeyError, AttributeError):
                continue


def _value(node: ast.expr, module: ModuleType) -> Any:
    """The value of a literal or of a dotted name of the module.

    Raises:
        ValueError: It is neither.
        KeyError, AttributeError: The module has no such name.
    """
    written = dotted(node)
    if written is None:
        return ast.literal_eval(node)
    first, *rest = written.split(".")
    value = vars(module)[first]
    for part in rest:
        value = getattr(value, part)
    return value


_VALUES: dict[str, list[Any]] = {"float": [0.5, 2.0], "int": [2, 1], "bool": [True, False]}


def _by_annotation(annotation: Any) -> list[Any]:
    """Values of an annotated type; none for a type that may be anything."""
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return _VALUES.get(name, [])
