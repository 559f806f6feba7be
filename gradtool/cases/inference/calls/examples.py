"""Examples in docstrings as modules: ``>>> Cls.apply(x, 3)`` shows arguments of ``Cls``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def examples(tree: ast.Module, name: str) -> Iterator[ast.Module]:
    """Yield the examples of each docstring that has `name`, at the lines of the file."""
    for node in ast.walk(tree):
        if not isinstance(node, _DOCUMENTED) or name not in (ast.get_docstring(node) or ""):
            continue
        text = node.body[0].value  # type: ignore[attr-defined] # that of a docstring
        try:
            yield ast.parse(_code(text.value, text.lineno))
        except (SyntaxError, ValueError):  # They may show another language, or only a part.
            continue


def _code(text: str, line: int) -> str:
    """The code of the examples in a text that begins at a line, with blank lines around it."""
    import doctest  # It loads a debugger and `unittest`.

    lines: list[str] = []
    for example in doctest.DocTestParser().get_examples(text):
        lines += [""] * (line + example.lineno - 1 - len(lines))
        lines += example.source.splitlines()
    return "\n".join(lines)
