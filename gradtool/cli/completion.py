"""Completion of values in a shell: rules, formats and node ids.

Only a completion request calls these. None of them imports the user's code.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

Completions = list[tuple[str, str]]


def of(values: Iterable[str]) -> Callable[[str], Completions]:
    """Complete one of `values`."""
    known = tuple(values)
    return lambda incomplete: [(value, "") for value in known if value.startswith(incomplete)]


def rules(incomplete: str) -> Completions:
    """Complete the last of several rules with commas between them, by code or by name."""
    from gradtool.verify.rules import NAMES

    before, comma, last = incomplete.rpartition(",")
    by_code = [(code, name) for code, name in NAMES.items() if code.startswith(last.upper())]
    by_name = [(name, code) for code, name in NAMES.items() if name.startswith(last)]
    found = by_code or by_name
    return [(before + comma + word, about) for word, about in found]


def reports(incomplete: str) -> Completions:
    """Complete the format of ``FORMAT=PATH``; the shell completes the path."""
    from gradtool.report.formats import FORMATS

    if "=" in incomplete:
        return []
    return [(f"{name}=", "") for name in FORMATS if name.startswith(incomplete)]


def nodes(ctx: Any, incomplete: str) -> Completions:
    """Complete the Function of ``file.py::Function``; the shell completes the file.

    Bash takes a colon for the end of a word: there `incomplete` is what follows it, or the
    colons, and the file is among the words before.
    """
    file, colons, start = incomplete.rpartition("::")
    prefix = f"{file}{colons}"
    if not file:
        words = [*(ctx.params.get("paths") or ()), *ctx.args]
        before = [word for word in words if word != "::"]
        if not before or not (colons or words[-1] == "::"):
            return []
        file = before[-1]
    return [(prefix + name, "") for name in functions_in(Path(file)) if name.startswith(start)]


def after_colons(lines: str) -> str:
    """Completions as Bash inserts them, which keeps the colons before the cursor."""
    return "".join(line.removeprefix("::") for line in lines.splitlines(keepends=True))


def functions_in(path: Path) -> list[str]:
    """Names of the classes of a file that derive from a class named Function."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    return list(_functions(tree, ""))


def _functions(parent: ast.AST, prefix: str) -> Iterator[str]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.ClassDef):
            if any(_last_name(base) == "Function" for base in node.bases):
                yield prefix + node.name
            yield from _functions(node, f"{prefix}{node.name}.")


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
