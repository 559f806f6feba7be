"""Classes of the user's that annotate parameters."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Mapping
from types import UnionType
from typing import Any, Union, get_args, get_origin

from gradtool.adapters.library import library

_OPTIONAL = re.compile(r"(?:typing\.)?Optional\[(.+)\]|(.+?) *\| *None")
"""Matches an annotation in quotes that allows None beside a class."""

_WITH_AXES = re.compile(r"[\w.]+\[\s*([\w.]+)\s*,\s*(['\"])[^'\"]*\2\s*\](?:\s*\|\s*None)?")
"""Matches ``Float[Tensor, "b n"]`` in quotes, with the class that it annotates."""

_NOT_OF_USERS = {"builtins", "collections", "gradtool", "torch", "typing"}


def class_named(parameter: inspect.Parameter, namespace: Mapping[str, Any]) -> str | None:
    """The class of the user's that annotates a parameter, or what derives from an abstract one."""
    cls = class_of(parameter, namespace)
    if cls is None:
        return None
    return f"a subclass of {cls.__name__}" if inspect.isabstract(cls) else cls.__name__


def class_of(parameter: inspect.Parameter, namespace: Mapping[str, Any]) -> type[Any] | None:
    """The class of the user's that annotates a parameter, such as that of a configuration.

    Args:
        parameter: The parameter.
        namespace: The globals of its function, of which a check of types alone may import some.
    """
    found = _annotated(parameter.annotation, namespace)
    return found if _is_of_users(found) else None


def _annotated(note: Any, namespace: Mapping[str, Any]) -> Any:
    """Class that an annotation names: ``Solver`` for ``Optional[Solver[Tensor]]``."""
    note = getattr(note, "array_type", note)  # That of jaxtyping holds the class and its axes.
    if isinstance(note, str):
        named_axes = _WITH_AXES.fullmatch(note)
        note = named_axes[1] if named_axes else note
        found = _OPTIONAL.fullmatch(note)
        name = ((found[1] or found[2]) if found else note).partition("[")[0]
        known = evaluated(name, namespace)
        return _annotated(_of_package(name, namespace) if known is None else known, namespace)
    origin = get_origin(note)
    if origin in (Union, UnionType):
        named = [each for each in get_args(note) if each is not type(None)]
        return _annotated(next(filter(_is_of_users, named), named[0]), namespace)
    return note if origin is None else origin


def _of_package(name: str, namespace: Mapping[str, Any]) -> Any:
    """The class of a name that a module of the same package defines."""
    package = str(namespace.get("__name__", "")).partition(".")[0]
    for module in list(sys.modules) if name.isidentifier() else ():
        if module.partition(".")[0] == package:
            found = vars(sys.modules.get(module, object)).get(name)
            if isinstance(found, type) and found.__module__ == module:
                return found
    return None


def _is_of_users(note: Any) -> bool:
    if not isinstance(note, type) or note is inspect.Parameter.empty:
        return False
    is_of_users = note.__module__.partition(".")[0] not in _NOT_OF_USERS
    return is_of_users and not issubclass(note, library().Tensor)


def hashable(value: Any) -> Any:
    """A constant in a tuple, or the text of an attribute such as ``Mode.ROW``."""
    return ast.unparse(value) if isinstance(value, ast.Attribute) else (value,)


def evaluated(value: Any, namespace: Mapping[str, Any]) -> Any:
    """The value of a constant, or of a member such as ``Mode.ROW``; None if there is none."""
    if isinstance(value, tuple):
        return value[0]
    found: Any = namespace.get(value.split(".")[0])
    for attribute in value.split(".")[1:]:
        found = getattr(found, attribute, None)
    return found
