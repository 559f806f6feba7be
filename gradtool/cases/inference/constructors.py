"""Objects of the user's classes, made with the likeliest arguments of their constructors."""

from __future__ import annotations

import enum
import inspect
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from gradtool.adapters.library import library
from gradtool.cases.inference.annotations import class_of
from gradtool.cases.inference.roles import is_callable, plain_values, takes_tensor
from gradtool.cases.inference.stand_ins import SmoothFunction, matrices

_EXTENTS = (4, 6, 8)
"""Numbers in place of extents such as ``in_features``, a different one for each."""


def constructed(cls: type[Any]) -> Any:
    """An object of a class, made with defaults if these suffice; None if its constructor raises.

    Subclasses of Tensor are left out: their constructors do not make the data.
    """
    if issubclass(cls, library().Tensor):
        return None
    for make in (_no_arguments, likely_arguments):
        try:
            return cls(**make(cls))
        except Exception:  # The user's constructor may raise anything.
            continue
    return None


_DEPTH = 2
"""Objects within an object that are made for its constructor."""

_REACHES_OUT = re.compile(r"(load|open|read|download|fetch|from_file|save|connect)(_.*)?")
"""Names of functions that need a file or a network."""


def made_by_functions(cls: type[Any]) -> Iterator[Any]:
    """Yield objects of a class that functions of its module return, as their annotations say.

    A constructor may take what only such a function computes.
    """
    module = sys.modules.get(cls.__module__)
    for name, function in list(vars(module).items()) if module else ():
        if not isinstance(function, FunctionType) or _REACHES_OUT.fullmatch(name):
            continue
        if function.__annotations__.get("return") in (cls, cls.__name__):
            try:
                made = function(**likely_arguments(function))
            except Exception:  # The user's function may raise anything.
                continue
            if isinstance(made, cls):
                yield made


def made_by_methods(cls: type[Any]) -> list[Any]:
    """Objects that the class methods of a class make of a tensor, such as a matrix.

    Such a class is not constructed by its name: that may leave it half prepared if it is abstract.
    """
    methods = inspect.getmembers(cls, inspect.ismethod)
    made = [_made_of_tensor(method) for name, method in methods if _may_make(name)]
    return [each for each in made if isinstance(each, cls)]


def _may_make(name: str) -> bool:
    return not name.startswith("_") and not _REACHES_OUT.fullmatch(name)


def _made_of_tensor(method: Callable[..., Any]) -> Any:
    """Result of a method for a tensor; None if it takes none, or raises."""
    try:
        first = next(iter(inspect.signature(method).parameters.values()), None)
        is_maker = first is not None and takes_tensor(first)
        return method(**likely_arguments(method)) if is_maker else None
    except Exception:  # The user's method may raise anything.
        return None


def _no_arguments(_: type[Any]) -> dict[str, Any]:
    return {}


def likely_arguments(function: Callable[..., Any], depth: int = _DEPTH) -> dict[str, Any]:
    """Values for the parameters of a constructor or a function that have no default."""
    extents = itertools.cycle(_EXTENTS)
    single = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {
        name: _likely(parameter, extents, namespace_of(function), depth)
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is parameter.empty and parameter.kind in single
    }


def namespace_of(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The globals of the module that defines a class or a function."""
    return vars(sys.modules.get(function.__module__, object))


def _likely(
    parameter: inspect.Parameter, extents: Iterator[int], namespace: Mapping[str, Any], depth: int
) -> Any:
    """A value for a parameter by its name or its annotation; else an extent.

    That is a matrix, a plain value, a function, or an object of another class.
    """
    if takes_tensor(parameter):
        entries = matrices("positive definite", (_EXTENTS[0], _EXTENTS[0]))
        return library().tensor(np.array(entries)).requires_grad_()
    if is_callable(parameter):
        return SmoothFunction()
    cls = class_of(parameter, namespace) if depth else None
    if cls is not None:
        return next(iter(cls)) if issubclass(cls, enum.Enum) else _nested(cls, depth - 1)
    values = plain_values(parameter)
    return next(extents) if not values else values[0]


def _nested(cls: type[Any], depth: int) -> Any:
    """An object of a class for the constructor of another; None if its own raises."""
    try:
        return cls(**likely_arguments(cls, depth))
    except Exception:  # The user's constructor may raise anything.
        return None
