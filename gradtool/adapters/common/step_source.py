"""The source of a step: the user's line that a node of the graph was made at, and its expression.

In anomaly mode both libraries keep the stack of each node's making. The bundled engine also keeps
which expression was computed. With PyTorch it is found in the syntax tree of the line: the last
node of a statement is its value, and others are known by the operation that they are named after.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from gradtool.adapters.common.parsed_source import parsed
from gradtool.adapters.library import Place, Positions, library

_GRADTOOL = str(Path(__file__).parents[2]) + "/"

_RECORDING = str(Path(__file__).parents[1] / "torch") + "/"
"""Code that runs between the user's and PyTorch's."""

_SUFFIX = re.compile(r"(Inplace)?Backward\w*$")

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
    ast.MatMult: "mm",
    ast.USub: "neg",
}

_ATTRIBUTES: dict[str, frozenset[str]] = {
    "T": frozenset({"permute", "t", "transpose"}),
    "H": frozenset({"permute", "t", "transpose"}),
    "mT": frozenset({"transpose"}),
    "mH": frozenset({"transpose"}),
    "real": frozenset({"real"}),
    "imag": frozenset({"imag"}),
}
"""The operations behind attributes of a tensor that are computed from it."""


def place_of(node: Any, home: Path) -> Place | None:
    """Return the user's innermost expression that made a node; None if gradtool did."""
    engine = str(Path(library().torch.__file__).parent) + "/"
    for place in library().places(node):
        if place[0].startswith((engine, _RECORDING)):
            continue
        if place[0].startswith(_GRADTOOL):
            return None  # A user's code further out is what called gradtool.
        if place[0].startswith(str(home)):
            return place
    return None


def operation_of(node: Any) -> str:
    """Return the operation that a node is named after, in small letters."""
    name = _SUFFIX.sub("", str(node.name())).lower()
    return "sub" if name == "rsub" else name


@lru_cache(maxsize=8)
def module_source(path: str) -> ModuleSource:
    """Return the source of a file."""
    return ModuleSource(linecache.getlines(path))


class ModuleSource:
    """The statements of a file by their lines."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        """All nodes, from the outside to the inside."""
        try:
            return list(ast.walk(parsed("".join(self._lines))))
        except SyntaxError:
            return []

    @cached_property
    def _statements(self) -> dict[int, ast.stmt]:
        """The innermost statement at each line."""
        found = {}
        for node in self._nodes:
            if isinstance(node, ast.stmt):
                for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                    found[line] = node
        return found

    def statement(self, line: int) -> ast.stmt | None:
        """Return the innermost statement at a line; None if there is none."""
        return self._statements.get(line)

    @cached_property
    def _expressions(self) -> dict[Positions, ast.expr]:
        return {
            (each.lineno, each.end_lineno, each.col_offset, each.end_col_offset): each
            for each in self._nodes
            if isinstance(each, ast.expr)
        }

    def expression(self, positions: Positions | None) -> ast.expr | None:
        """Return the expression at a place; None if there is none, or the place is not known."""
        return None if positions is None else self._expressions.get(positions)

    def text(self, node: ast.AST) -> str | None:
        """Return the source of an expression or statement on one line."""
        first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        if first is None or first != last:
            return None
        columns = slice(node.col_offset, node.end_col_offset)  # type: ignore[attr-defined]
        segment: str = self._lines[first - 1].encode()[columns].decode()
        return segment


def target_of(statement: ast.stmt) -> str | None:
    """Return the variable that a statement assigns its value to; None unless it is a single one."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if not isinstance(
            value, ast.Tuple
        ):
            return name
        case ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return None


def value_of(statement: ast.stmt) -> ast.AST | None:
    """Return the expression that a statement computes, or all of it; None if it is several."""
    if isinstance(statement, ast.Assign | ast.Return) and isinstance(statement.value, ast.Tuple):
        return None
    if isinstance(statement, ast.Assign) and not isinstance(statement.targets[0], ast.Name):
        return statement
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return):
        return statement.value or statement
    return statement


def expressions(statement: ast.stmt, operation: str) -> list[ast.AST]:
    """Return the expressions in a statement that compute an operation, as they are evaluated.

    A call to ``norm`` makes a node of the operation ``linalg_vector_norm``.
    """
    every = list(_in_order(statement))
    return (
        [each for each in every if _computes(each, operation)]
        or [each for each in every if _is_call_of_part(each, operation)]
        or _only_call(every)
    )


def _only_call(every: Sequence[ast.AST]) -> list[ast.AST]:
    """The call that all operations of a statement are parts of, as those of an ``einsum`` are."""
    computed = [each for each in every if isinstance(each, ast.Call | ast.BinOp | ast.UnaryOp)]
    return [*computed] if len(computed) == 1 and isinstance(computed[0], ast.Call) else []


def _is_call_of_part(node: ast.AST, operation: str) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return operation.endswith(name) or operation.startswith(name)
    return False


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)
    yield node


def _computes(node: ast.AST, operation: str) -> bool:
    match node:
        case ast.BinOp(op=op) | ast.UnaryOp(op=op):
            return _OPERATORS.get(type(op)) == operation
        case ast.Call(func=ast.Attribute(attr="detach")) | ast.Attribute(attr="data"):
            return operation == "view"  # Where nothing hides a step they are views.
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name.strip("_") == operation
        case ast.Attribute(attr=name):
            return operation in _ATTRIBUTES.get(name, ())
    return False
