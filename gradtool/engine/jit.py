"""``torch.jit``, which returns functions and Modules unchanged: the engine has no compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from typing import Final as Final  # torch.jit.Final marks attributes as constants

__all__ = [
    "annotate",
    "export",
    "ignore",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "script",
    "script_if_tracing",
    "trace",
    "unused",
]

_T = TypeVar("_T")
_isinstance = isinstance


def script(obj: _T, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, **_: Any) -> _T:
    """Return `obj` unchanged."""
    return obj


def script_if_tracing(fn: _T) -> _T:
    """Return `fn` unchanged."""
    return fn


def trace(func: _T, example_inputs: Any = None, **_: Any) -> _T:
    """Return `func` unchanged."""
    return func


def export(fn: _T) -> _T:
    """Return `fn` unchanged."""
    return fn


def unused(fn: _T) -> _T:
    """Return `fn` unchanged."""
    return fn


def ignore(drop: Any = False, **_: Any) -> Any:
    """Return the decorated function unchanged, with arguments or without."""
    return drop if callable(drop) else _same


def _same(fn: Callable[..., Any]) -> Callable[..., Any]:
    return fn


def is_scripting() -> bool:
    """Return False."""
    return False


def is_tracing() -> bool:
    """Return False."""
    return False


def annotate(the_type: Any, the_value: _T) -> _T:
    """Return `the_value`."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Call Python's ``isinstance``."""
    return _isinstance(obj, target_type)
