"""Globals that hold a process group once a function of their module has set it.

Packages keep such a group for each kind of parallelism. Nothing has set them here, so they get the
group of this one process, unless a Function asks whether there is one and does without.
"""

from __future__ import annotations

import dis
import inspect
import re
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from gradtool.adapters.library import library

_GROUP = re.compile(r"(\w*_)?group", re.IGNORECASE)


def set_groups(module: ModuleType) -> None:
    """Set the groups of a module, and of those of its package that it takes functions from."""
    called = set(_called_by_functions(module))
    for space in _spaces(module):
        for name in [name for name, value in space.items() if value is None]:
            if _GROUP.fullmatch(name) and _is_set(space, name) and not _asks(space, name) & called:
                space[name] = library().torch.distributed.group.WORLD


def _called_by_functions(module: ModuleType) -> Iterator[str]:
    """Yield the names that the methods of the module's Functions use."""
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, library().Function):
            for method in vars(value).values():
                function = inspect.unwrap(getattr(method, "__func__", method))
                if isinstance(function, FunctionType):
                    yield from function.__code__.co_names


def _spaces(module: ModuleType) -> Iterator[dict[str, Any]]:
    package = module.__name__.partition(".")[0]
    spaces = {id(vars(module)): vars(module)}
    for value in vars(module).values():
        if isinstance(value, FunctionType) and value.__module__.partition(".")[0] == package:
            spaces[id(value.__globals__)] = value.__globals__
    yield from spaces.values()


def _is_set(space: dict[str, Any], name: str) -> bool:
    """Return True if a function assigns a global: ``global GROUP; GROUP = new_group(ranks)``."""
    return any(
        step.opname == "STORE_GLOBAL" and step.argval == name
        for function in _with(space, name)
        for step in dis.get_instructions(function)
    )


def _asks(space: dict[str, Any], name: str) -> set[str]:
    """The functions that return whether a global is None, unlike those that refuse it."""
    return {
        function.__name__
        for function in _with(space, name)
        if any(step.opname == "IS_OP" for step in dis.get_instructions(function))
    }


def _with(space: dict[str, Any], name: str) -> Iterator[FunctionType]:
    """Yield the functions of a module that name a global."""
    for value in space.values():
        is_own = isinstance(value, FunctionType) and value.__globals__ is space
        if is_own and name in value.__code__.co_names:
            yield value
