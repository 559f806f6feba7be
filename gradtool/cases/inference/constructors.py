"""Objects of the user's classes, made with the likeliest arguments of their constructors."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from typing import Any

from gradtool.adapters.library import library
from gradtool.cases.inference.roles import plain_values

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


def _no_arguments(_: type[Any]) -> dict[str, Any]:
    return {}


def likely_arguments(cls: type[Any]) -> dict[str, Any]:
    """Values for the parameters of a constructor that have no default."""
    extents = itertools.cycle(_EXTENTS)
    single = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {
        name: _likely(parameter, extents)
        for name, parameter in inspect.signature(cls).parameters.items()
        if parameter.default is parameter.empty and parameter.kind in single
    }


def _likely(parameter: inspect.Parameter, extents: Iterator[int]) -> Any:
    """A plain value for a parameter by its name or its annotation; else an extent."""
    values = plain_values(parameter)
    return next(extents) if not values else values[0]
