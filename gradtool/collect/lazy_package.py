"""Packages whose own code is left out: what they import is imported when it is asked for.

The ``__init__.py`` of a package may fail, or take too long, where the part of it that a module
needs would not.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any

SOURCE = b"""
import sys
from gradtool.collect.lazy_package import LazyPackage
sys.modules[__name__].__class__ = LazyPackage
"""
"""The code that takes the place of that of a package."""


class LazyPackage(ModuleType):
    """A package that imports what it binds to a name when that is asked for."""

    def __getattr__(self, name: str) -> Any:
        """Import what the package binds to a name.

        Raises:
            AttributeError: It binds nothing to it, and has no such module.
        """
        return attribute(self.__name__, str(self.__file__), name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute, but for a module that the package binds something else to.

        Python sets each module of a package when it is imported, before the package's own code
        goes on to bind ``from .solve import solve``.
        """
        if not (isinstance(value, ModuleType) and _binds_other(self, name)):
            super().__setattr__(name, value)


def _binds_other(package: ModuleType, name: str) -> bool:
    """Return True if a package imports what it binds to a name from one of its modules."""
    source = next(_sources(package.__name__, str(package.__file__), name), None)
    return source is not None and source[1] is not None


def attribute(package: str, file: str, name: str) -> Any:
    """Import what a package binds to a name by an import, or its module of that name.

    Raises:
        AttributeError: There is neither.
    """
    for module, original in _sources(package, file, name):
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            continue
        if original is None:
            return found
        if hasattr(found, original):
            return getattr(found, original)
    raise AttributeError(f"module {package!r} has no attribute {name!r}")


def _sources(package: str, file: str, name: str) -> Iterator[tuple[str, str | None]]:
    """Yield modules that a name may come from, and its name there; None for the module itself."""
    if name.startswith("__"):  # Python asks for these to learn what a module supports.
        return
    imports = _imports(file)
    for statement, alias in imports:
        if (alias.asname or alias.name) == name:
            module = _module(package, statement)
            is_part = module == package  # It would be asked for itself.
            yield (f"{package}.{alias.name}", None) if is_part else (module, alias.name)
    yield f"{package}.{name}", None
    for statement, alias in imports:
        if alias.name == "*":
            yield _module(package, statement), name


def _module(package: str, statement: ast.ImportFrom) -> str:
    return resolve_name("." * statement.level + (statement.module or ""), package)


@cache
def _imports(file: str) -> list[tuple[ast.ImportFrom, ast.alias]]:
    """The names that a file imports from modules, with their statements."""
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return []
    found = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return [(statement, alias) for statement in found for alias in statement.names]
