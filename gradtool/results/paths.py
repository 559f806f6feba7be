"""Paths and node ids, as reports and command lines spell them.

A node id is ``file.py``, ``file.py::Function`` or ``file.py::Function[case]``.
"""

from __future__ import annotations

import os
from pathlib import Path

from gradtool.errors import UsageError


def real_path(path: Path) -> Path:
    """Return the absolute path without links, as far as they lead anywhere.

    Unlike ``Path.resolve``, it does not raise where links form a circle.
    """
    return Path(os.path.realpath(path))


def shown_path(path: Path) -> str:
    """`path` with forward slashes, relative to the current folder when it lies below it."""
    try:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
        here = Path.cwd()
    except FileNotFoundError:  # The current folder was removed.
        return path.as_posix()
    return (absolute.relative_to(here) if absolute.is_relative_to(here) else absolute).as_posix()


def split_path(node: str) -> tuple[str, str, str]:
    """Split a node id into its file, ``::`` if more follows, and the rest."""
    if node.endswith(".py"):
        return node, "", ""
    path, separator, rest = node.rpartition(".py::")
    return (f"{path}.py", "::", rest) if separator else node.partition("::")


def split_node_id(node: str) -> tuple[str, str | None, str | None]:
    """Split a node id into path, Function and case; the file's name may hold ``::`` too.

    Raises:
        UsageError: A part is empty or a bracket is missing.
    """
    path, separator, rest = split_path(node)
    if not separator:
        return path, None, None
    function, bracket, case = rest.partition("[")
    if not path or not function or (bracket and (not case.endswith("]") or case == "]")):
        raise UsageError(f"{node!r} must be file.py::Function or file.py::Function[case]")
    return path, function, case[:-1] if bracket else None
