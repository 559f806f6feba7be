"""Discovery of the Functions of a loaded module, in the order of its source."""

from __future__ import annotations

import ast
import inspect
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from gradtool.adapters.common.binding import function_class
from gradtool.adapters.common.custom_op import (
    function_of,
    has_gradient,
    implementation,
    is_custom_op,
)
from gradtool.adapters.common.module_call import is_module, is_module_class
from gradtool.collect.checkable import Checkable, is_function, reason_not_to_check
from gradtool.collect.inventory import Entry
from gradtool.collect.loader import LoadedModule
from gradtool.collect.unchecked import Purpose, Unchecked
from gradtool.errors import UsageError
from gradtool.results.paths import real_path, shown_path
from gradtool.results.report import Location
from gradtool.spelling import did_you_mean


def discover(loaded: LoadedModule, shown: str, configured: Iterable[str] = ()) -> list[Checkable]:
    """Find the Functions, and operators with a gradient, that the module itself defines.

    Imported ones belong to their own module. Nested and private ones are among them, and so are
    those that cannot be checked, with the reason. Modules and plain callables are found only if
    they are `configured`.
    """
    checkables = [_entered(loaded, shown, entry) for entry in loaded.inventory]
    checkables += [
        _checkable(loaded, shown, name, value)
        for name, value in _own_operators(loaded)
        if not name.startswith("_")
    ]
    known = {checkable.name for checkable in checkables}
    checkables += [
        _checkable(loaded, shown, name, value)
        for name in configured
        if name not in known and _is_described(value := getattr(loaded.module, name, None))
    ]
    return sorted(checkables, key=lambda checkable: checkable.location.line or 0)


def _entered(loaded: LoadedModule, shown: str, entry: Entry) -> Checkable:
    """The Function of an entry, or what is known of it: looked at once, and asked for often."""
    key = shown, entry.name
    if key not in loaded.checkables:
        loaded.checkables[key] = _looked_at(loaded, shown, entry)
    return loaded.checkables[key]


def _looked_at(loaded: LoadedModule, shown: str, entry: Entry) -> Checkable:
    if entry.value is not None:
        return _checkable(loaded, shown, entry.name, entry.value)
    location = Location(path=shown, line=entry.line)
    return Checkable(entry.name, None, loaded.path, location, unchecked=_not_made(entry))


def _not_made(entry: Entry) -> Unchecked:
    if entry.maker is None:
        message = "is declared in code that did not run when the module was imported"
        hint = "run the check where the condition around the class is true"
    else:
        message = f"is defined inside {entry.maker}, which was not called"
        call = f"add `{entry.call}`" if entry.call else "call it"
        hint = f"{call} at module level, or move the class out of the function"
    return Unchecked(Purpose.NOT_MADE, message, hint)


def named(loaded: LoadedModule, shown: str, names: Iterable[str]) -> list[Checkable]:
    """Look up Functions, modules or callables by name, wherever they were defined.

    Raises:
        UsageError: The module has no such name, or its value cannot be checked.
    """
    entries = {entry.name: entry for entry in loaded.inventory}
    return [
        _entered(loaded, shown, entries[name])
        if name in entries
        else _checkable(loaded, shown, name, _look_up(loaded, shown, name))
        for name in names
    ]


def can_define_functions(tree: ast.Module) -> bool:
    """Return True for source with a class that has a base, or that may be made otherwise.

    A walk does not import other files, such as scripts, settings and ``setup.py``.
    """
    return any(map(_can_define, ast.walk(tree)))


def _can_define(node: ast.AST) -> bool:
    match node:
        case ast.ClassDef(bases=bases):
            return bool(bases)
        case ast.Call(func=ast.Name(id="type") | ast.Call(func=ast.Name(id="type")), args=args):
            return len(args) == _OF_A_CLASS
        case ast.Call(func=ast.Name(id=name)):
            return name == "exec"
        case ast.Attribute(attr=name) | ast.alias(name=name):
            return name in _MAKERS
    return False


_MAKERS = ("custom_op", "triton_op", "new_class")
"""Functions that make an operator or a class."""

_OF_A_CLASS = 3
"""Arguments with which `type`, or the type of a class, makes a class."""


def _is_described(value: object) -> bool:
    """Return True for an ``nn.Module`` class or a callable, which a configuration can describe."""
    return is_module_class(value) if isinstance(value, type) else callable(value)


def _own_operators(loaded: LoadedModule) -> list[tuple[str, Any]]:
    """Operators with a gradient that the module defines, each once, by name."""
    unique = {
        id(value): (name, value)
        for name, value in vars(loaded.module).items()
        if is_custom_op(value)
        and has_gradient(value)
        and implementation(value).__module__ == loaded.module.__name__
    }
    return list(unique.values())


def _look_up(loaded: LoadedModule, shown: str, name: str) -> Any:
    value: Any = loaded.module
    for part in name.split("."):
        value = getattr(value, part, None)
    if value is None:
        known = [checkable.name for checkable in discover(loaded, shown)]
        callables = [key for key, found in vars(loaded.module).items() if callable(found)]
        hint = did_you_mean(name, known) or did_you_mean(name, callables)
        raise UsageError(f"{shown} has no Function {name!r}{hint}")
    is_checked = is_function(value) or reason_not_to_check(value) or is_module_class(value)
    if isinstance(value, type) and not is_checked:
        problem = "is a class but neither a Function with a forward nor an nn.Module"
        raise UsageError(f"{shown}::{name} {problem}")
    if is_custom_op(value) and not has_gradient(value):
        raise UsageError(f"{shown}::{name} has no gradient: register_autograd was not called")
    if not callable(value):
        raise UsageError(f"{shown}::{name} is neither a Function nor a callable")
    return value


def _checkable(loaded: LoadedModule, shown: str, name: str, value: Any) -> Checkable:
    node = definition(loaded.tree, implementation(value) if is_custom_op(value) else value)
    location = Location(path=shown, line=node.lineno if node else None)
    why = reason_not_to_check(value)
    return Checkable(name, function_of(value) or value, loaded.path, location, unchecked=why)


def checkable_of(function: Any) -> Checkable:
    """Take a Function, its ``apply``, an operator, a module or a callable that was imported.

    Raises:
        TypeError: It is none of these.
    """
    target = function_class(function) or function_of(function) or function
    has_forward = is_function(target) or is_module_class(target) or is_module(target)
    if not callable(target) or (isinstance(target, type) and not has_forward):
        raise TypeError(f"{function!r} is neither a Function with a forward nor a callable")
    located = function_location(target.forward if has_forward else target)
    file = real_path(Path(located.path)) if located else Path("<unknown>")
    name = getattr(target, "__name__", type(target).__name__)
    return Checkable(name, target, file, located or Location(path=str(file)))


_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def definition(tree: ast.Module, value: Any) -> _Definition | None:
    """Find the statement in `tree` that defines the class or function `value`.

    Of several definitions of one name, the one that holds the code of `value` is returned.
    """
    name = getattr(value, "__name__", None)
    found = [node for node in _definitions(tree) if node.name == name]
    lines = list(_code_lines(value))
    holding = [node for node in found if any(_holds(node, line) for line in lines)]
    return next(iter([*holding, *found]), None)


def function_location(function: Any) -> Location | None:
    """File and line of a function's ``def``, past its decorators; None without source."""
    function = inspect.unwrap(function)
    try:
        lines, first = inspect.getsourcelines(function)
        path = inspect.getsourcefile(function)
    except (OSError, TypeError):
        return None
    offsets = (i for i, line in enumerate(lines) if line.lstrip().startswith(("def ", "async ")))
    return Location(path=shown_path(Path(str(path))), line=first + next(offsets, 0))


@lru_cache(maxsize=1)  # The Functions of a module are found one after the other.
def _definitions(tree: ast.Module) -> list[_Definition]:
    found: list[_Definition] = []
    todo = deque[ast.AST]([tree])
    while todo:
        node = todo.popleft()
        if isinstance(node, _Definition):
            found.append(node)
        # Expressions, which most nodes are, hold no definitions.
        todo.extend(each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.expr))
    return found


def _code_lines(value: Any) -> Iterator[int]:
    """First lines of a function's code, or of the functions in a class's body."""
    members = list(vars(value).values()) if isinstance(value, type) else [value]
    for member in members:
        code = getattr(inspect.unwrap(getattr(member, "__func__", member)), "__code__", None)
        if code is not None:
            yield code.co_firstlineno


def _holds(node: _Definition, line: int) -> bool:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return first <= line <= (node.end_lineno or node.lineno)
