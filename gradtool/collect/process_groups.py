"""Globals that hold a process group once a function of their module has set it.

Packages keep such a group for each kind of parallelism. Nothing has set them here, so they get the
group of this one process.
"""

from __future__ import annotations

import dis
import re
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from gradtool.adapters.library import library

_GROUP = re.compile(r"(\w*_)?group", re.IGNORECASE)


def set_groups(module: ModuleType) -> None:
    """Set the groups of a module, and of those of its package that it takes functions from."""
    for space in _spaces(module):
        for name in [name for name, value in space.items() if value is None]:
            if _GROUP.fullmatch(name) and _is_set_by_function(space, name):
                space[name] = library().torch.distributed.group.WORLD


def _spaces(module: ModuleType) -> Iterator[dict[str, Any]]:
    package = module.__name__.partition(".")[0]
    spaces = {id(vars(module)): vars(module)}
    for value in vars(module).values():
        if isinstance(value, FunctionType) and value.__module__.partition(".")[0] == package:
            spaces[id(value.__globals__)] = value.__globals__
    yield from spaces.values()


def _is_set_by_function(space: dict[str, Any], name: str) -> bool:
    """Return True if a function assigns a global: ``global GROUP; GROUP = new_group(ranks)``."""
    functions = (each for each in space.values() if isinstance(each, FunctionType))
    return any(
        step.opname == "STORE_GLOBAL" and step.argval == name
        for function in functions
        if function.__globals__ is space and name in function.__code__.co_names
        for step in dis.get_instructions(function)
    )
