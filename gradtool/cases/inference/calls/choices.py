"""Functions of which a caller calls one or the other: ``Solve = Old if VERSION < 2 else New``.

Both take the same arguments, so those that reach the one show those of the other.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from gradtool.adapters.common.parsed_source import forward_of
from gradtool.adapters.library import library
from gradtool.cases.inference.calls.call_sites import module_source, options


def chosen_beside(function: Any) -> list[Any]:
    """List the Functions with the same parameters that a choice of the module has beside one."""
    module, _ = module_source(function)
    forward = inspect.unwrap(forward_of(function))
    namespace: Mapping[str, Any] = getattr(forward, "__globals__", {})
    found = (namespace.get(name) for name in _beside(function.__qualname__, module))
    return [each for each in dict.fromkeys(found) if _is_alike(each, function)]


def _beside(name: str, module: ast.Module | None) -> Iterator[str]:
    for node in ast.walk(module) if module else ():
        if isinstance(node, ast.IfExp) and name in (names := list(options(node))):
            yield from (each for each in names if each != name)


def _is_alike(one: Any, other: Any) -> bool:
    if not isinstance(one, type) or not issubclass(one, library().Function) or one is other:
        return False
    return _parameters(one) == _parameters(other)


def _parameters(function: Any) -> list[str]:
    names = list(inspect.signature(function.forward).parameters)
    return names[1:] if names[:1] == ["ctx"] else names
