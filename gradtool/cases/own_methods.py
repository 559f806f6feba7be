"""The methods of a Function, compared before and after code that only makes its arguments."""

from __future__ import annotations

import inspect
from typing import Any

_METHODS = ("forward", "backward", "setup_context", "vjp", "jvp", "vmap", "apply", "__call__")
_PARTS = ("__code__", "__defaults__", "__kwdefaults__")


class OwnMethods:
    """The methods that a check runs, as they are when this is made."""

    def __init__(self, checked: Any) -> None:
        self._checked = checked
        self._before = _methods(checked)

    def replaced(self) -> str | None:
        """The name of one that is another now, or has other code; None if all are the same."""
        now = _methods(self._checked)
        return next((name for name in _METHODS if _differ(now[name], self._before[name])), None)


def _methods(checked: Any) -> dict[str, list[object]]:
    """By name, the method of a class, or of the class of an object, and what its code is."""
    return {name: _code(inspect.getattr_static(checked, name, None)) for name in _METHODS}


def _code(method: Any) -> list[object]:
    function = getattr(method, "__func__", method)
    return [method, function, *(getattr(function, part, None) for part in _PARTS)]


def _differ(one: list[object], other: list[object]) -> bool:
    return any(a is not b for a, b in zip(one, other, strict=True))
