"""Other modules of the package of a Function that import it, and may call it.

Layers are often kept apart from the Functions that they apply.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from gradtool.adapters.common.parsed_source import forward_of, parsed
from gradtool.cases.inference.trials import silenced
from gradtool.sandbox.timeout import TimedOut, time_limit

_MOST_FILES = 60
"""Files that are read."""

_MOST_BYTES = 200_000
"""Size of a file beyond which it is not read."""

_MOST_IMPORTED = 3
"""Modules that are imported."""

_SECONDS = 5.0
"""Time that the import of one may take."""

_DOES_MORE = re.compile(r"(test|bench|train|demo|example|setup|conf|plot)\w*|__main__")
"""Names of modules that do more than define what others use."""


def importers(function: Any) -> Iterator[tuple[ast.Module, Mapping[str, Any]]]:
    """Yield the trees and the globals of modules that use a Function, the nearest first."""
    forward = inspect.unwrap(forward_of(function))
    package = getattr(forward, "__module__", "").rpartition(".")[0]
    file = Path(inspect.getsourcefile(forward) or "")
    if package not in sys.modules:  # Without one, imports would run scripts.
        return
    imported = 0
    for path, dotted in _around(file, package):
        text = _read(path)
        if imported == _MOST_IMPORTED or not imports(text, function.__qualname__, file.stem):
            continue
        imported += 1
        module = _module(dotted)
        if module is not None:
            yield parsed(text), vars(module)


def imports(text: str, name: str, module: str) -> bool:
    """Return True for a file that takes the Function from its module, and not one of its name."""
    imported = rf"from\s+[\w.]*\b{re.escape(module)}\s+import\s+[^#]*?\b{re.escape(name)}\b"
    return f"{module}.{name}" in text or bool(re.search(imported, text, re.DOTALL))


def _around(file: Path, package: str) -> Iterator[tuple[Path, str]]:
    """Yield the modules of a file's package, and of the one that holds it, with their names."""
    folder, count = file.parent, 0
    while package and count < _MOST_FILES and (folder / "__init__.py").is_file():
        for path in sorted(folder.glob("*.py")):
            count += 1
            if path != file and not _DOES_MORE.fullmatch(path.stem):
                stem = "" if path.stem == "__init__" else f".{path.stem}"
                yield path, f"{package}{stem}"
        folder, package = folder.parent, package.rpartition(".")[0]


def _read(path: Path) -> str:
    """The text of a file; "" for one that is no regular file, or too large."""
    try:
        # A pipe would be waited for.
        is_read = path.is_file() and path.stat().st_size <= _MOST_BYTES
        return path.read_text(encoding="utf-8") if is_read else ""
    except (OSError, ValueError):
        return ""


def _module(name: str) -> ModuleType | None:
    """The module of a name; None if it fails to import."""
    try:
        with silenced(), time_limit(_SECONDS):
            return importlib.import_module(name)
    except (Exception, TimedOut):  # The user's module may raise anything.
        return None
