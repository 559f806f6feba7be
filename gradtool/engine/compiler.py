"""torch.compile and torch.compiler: the engine compiles nothing, so functions stay as they are."""

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
    """`model` itself; without it, a decorator that returns what it decorates."""
    return _same if model is None else model


def disable(fn: Any = None, recursive: bool = True, **_: Any) -> Any:
    """`fn` itself; without it, a decorator that returns what it decorates."""
    return _same if fn is None else fn


def allow_in_graph(fn: _T) -> _T:
    """`fn` itself."""
    return fn


def assume_constant_result(fn: _T) -> _T:
    """`fn` itself."""
    return fn


def is_compiling() -> bool:
    """Never."""
    return False


def is_dynamo_compiling() -> bool:
    """Never."""
    return False


def is_exporting() -> bool:
    """Never."""
    return False


def reset() -> None:
    """There is no compiled code to forget."""


def _same(fn: Callable[..., Any]) -> Callable[..., Any]:
    return fn
