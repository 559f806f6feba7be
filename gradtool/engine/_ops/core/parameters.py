"""The names of a function's parameters, read from its code: a signature takes ten times as long.

The engine asks for those of a thousand functions while it is loaded.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType
from typing import Any


def positional_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The positional parameters."""
    if _is_plain(function):
        code = function.__code__
        return code.co_varnames[: code.co_argcount]
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return tuple(each.name for each in parameters if each.kind in kinds)


def parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """All parameters, in the order of the signature."""
    if _is_plain(function) and not function.__code__.co_flags & (CO_VARARGS | CO_VARKEYWORDS):
        code = function.__code__
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return tuple(inspect.signature(function).parameters)


def _is_plain(function: Callable[..., Any]) -> bool:
    """Return True for a function with no signature but that of its own code."""
    return isinstance(function, FunctionType) and function.__dict__.keys().isdisjoint(_OTHERS)


_OTHERS = ("__wrapped__", "__signature__")
