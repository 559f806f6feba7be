"""The purpose of a Function that is not checked: an abstract base, no gradient, half an operation.

A method that does nothing but raise says so on purpose; a misspelt name of a method does not.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from typing import Any

from gradtool.adapters.common.parsed_source import own_source
from gradtool.adapters.library import library
from gradtool.collect.halves import half_of
from gradtool.collect.instructions import may_raise
from gradtool.collect.unchecked import Purpose, Unchecked
from gradtool.spelling import nearest

_ALWAYS_RUN = (ast.Assert, ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
"""Statements all of which run, or one of them ends the body."""

_BACKWARDS = ("backward", "vjp", "jvp")
_OPTIONAL = frozenset({*_BACKWARDS, "vmap", "setup_context", "symbolic"})


def unchecked(cls: type[Any]) -> Unchecked | None:
    """Return why a Function cannot be checked; None for one that can."""
    if not _defines(cls, "forward"):
        return _without_forward(cls)
    abstract = next(_abstract_methods(cls), None)
    if abstract is not None:
        return Unchecked(Purpose.ABSTRACT, f"is abstract: {abstract} is left to its subclasses")
    if not any(_defines(cls, name) for name in _BACKWARDS):
        return _without_backward(cls)
    if not any(_defines(cls, name) for name in ("vjp", "jvp")) and _refuses(cls.backward):
        return Unchecked(Purpose.NO_GRADIENT, "has no gradient: its backward only raises")
    half = half_of(cls)
    return None if half is None else _as_half(half)


def _without_forward(cls: type[Any]) -> Unchecked:
    misspelt = _near("forward", cls)
    if misspelt:
        return _misspelt("forward", misspelt)
    return Unchecked(Purpose.ABSTRACT, "is abstract: forward is left to its subclasses")


def _without_backward(cls: type[Any]) -> Unchecked:
    misspelt = _near("backward", cls)
    if misspelt:
        return _misspelt("backward", misspelt)
    hint = "write a backward, or mark the outputs with ctx.mark_non_differentiable"
    return Unchecked(Purpose.NO_BACKWARD, "has no backward, so it cannot be differentiated", hint)


def _as_half(carrier: str) -> Unchecked:
    how = f"its gradient passes through `{carrier}` to or from another Function"
    hint = "check a callable that calls both halves: gradtool check FILE.py::CALLABLE"
    return Unchecked(Purpose.HALF, f"is half of an operation: {how}", hint)


def _misspelt(name: str, written: str) -> Unchecked:
    hint = f"rename {written} if it is meant to be {name}"
    return Unchecked(Purpose.MISSPELT, f"has no {name}, only a method {written!r}", hint)


def _near(name: str, cls: type[Any]) -> str | None:
    own = [each for each in vars(cls) if not each.startswith("_") and each not in _OPTIONAL]
    return nearest(name, [each for each in own if each not in ("forward", "backward")])


def _defines(cls: type[Any], name: str) -> bool:
    """Return True for a method that the user wrote, in the class or a base of it."""
    return getattr(cls, name, None) is not getattr(library().Function, name)


def _abstract_methods(cls: type[Any]) -> Iterator[str]:
    """Names of the methods that a subclass has to define."""
    for name in sorted(_own_names(cls)):
        method = inspect.getattr_static(cls, name, None)
        if getattr(method, "__isabstractmethod__", False) and _is_needed(name, cls):
            yield name
    for name in _own_methods(cls):
        method = inspect.getattr_static(cls, name, None)
        if name not in _OPTIONAL and _is_left_open(method) and _is_needed(name, cls):
            yield name
    yield from _lacking(cls)


def _lacking(cls: type[Any]) -> Iterator[str]:
    """Names that forward always takes from its class, and that only subclasses have."""
    forward = inspect.getattr_static(cls, "forward", None)
    if not isinstance(forward, classmethod):
        return
    own = inspect.unwrap(forward.__func__).__code__.co_varnames[0]
    for statement in _body(forward):
        if not isinstance(statement, _ALWAYS_RUN):
            return  # What follows may not run.
        for name in _attributes_of(own, statement):
            subclasses = type.__subclasses__(cls)
            if not hasattr(cls, name) and any(hasattr(each, name) for each in subclasses):
                yield name


def _attributes_of(owner: str, statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == owner:
                yield attribute


def _is_needed(name: str, cls: type[Any]) -> bool:
    """Return True for a method that the check of a class runs, or that a subclass replaces."""
    is_replaced = any(name in vars(each) for each in type.__subclasses__(cls))
    if is_replaced or name in ("forward", "backward"):
        return True
    methods = (inspect.getattr_static(cls, each, None) for each in _own_methods(cls))
    functions = (inspect.unwrap(getattr(each, "__func__", each)) for each in methods)
    return any(name in each.__code__.co_names for each in functions if inspect.isfunction(each))


def _own_methods(cls: type[Any]) -> Iterator[str]:
    return (name for name in _own_names(cls) if not name.startswith("__"))


def _own_names(cls: type[Any]) -> Iterable[str]:
    """The attributes of a class and of its bases but those of the library."""
    library_classes = library().Function.__mro__
    bases = (base for base in cls.__mro__ if base not in library_classes)
    return dict.fromkeys(name for base in bases for name in vars(base))


_REFUSAL = re.compile(r"differentia|support|implement|gradient|backward|inference", re.I)
"""In the text of an exception: it is raised because there is no gradient."""


def _refuses(function: Any) -> bool:
    """Return True for a body that only raises an error that says why."""
    body = _body(function) if may_raise(function) else []
    if len(body) != 1 or not isinstance(body[0], ast.Raise) or body[0].exc is None:
        return False
    return bool(_REFUSAL.search(ast.unparse(body[0].exc)))


def _is_left_open(function: Any) -> bool:
    """Return True for a body that only raises NotImplementedError."""
    body = _body(function) if may_raise(function) else []
    if len(body) != 1 or not isinstance(body[0], ast.Raise):
        return False
    raised = body[0].exc
    name = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(name, ast.Name) and name.id == "NotImplementedError"


def _body(function: Any) -> list[ast.stmt]:
    """The statements of a function without its docstring; none where there is no source."""
    function = inspect.unwrap(getattr(function, "__func__", function))
    if not inspect.isfunction(function):
        return []
    try:
        _, tree = own_source(function)
    except (OSError, TypeError, SyntaxError):
        return []
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        return []
    return [each for each in definition.body if not _is_docstring(each)]


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
