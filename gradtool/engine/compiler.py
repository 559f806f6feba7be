"""``torch.compile`` and ``torch.compiler``, which return functions unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "reset",
]

_T = TypeVar("_T")


def compile(model: Any = None, **_: Any) -> Any:
    """Return `model` unchanged; without it, a decorator that does so."""
    return _same if model is None else model


def disable(fn: Any = None, recursive: bool = True, **_: Any) -> Any:
    """Return `fn` unchanged; without it, a decorator that does so."""
    return _same if fn is None else fn


def allow_in_graph(fn: _T) -> _T:
    """Return `fn` unchanged."""
    return fn


def assume_constant_result(fn: _T) -> _T:
    """Return `fn` unchanged."""
    return fn


def is_compiling() -> bool:
    """Return False."""
    return False


def is_dynamo_compiling() -> bool:
    """Return False."""
    return False


def is_exporting() -> bool:
    """Return False."""
    return False


def reset() -> None:
    """Do nothing: there is no compiled code to drop."""


def _same(fn: Callable[..., Any]) -> Callable[..., Any]:
    return fn
