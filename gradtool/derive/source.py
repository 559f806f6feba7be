"""The source of a Function's class, of which single methods are replaced."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_SAVING = frozenset({"save_for_backward", "save_for_forward", "set_materialize_grads"})


@dataclass
class ClassSource:
    """The lines of a class, without its indentation, and its tree."""

    lines: list[str]
    tree: ast.ClassDef

    @classmethod
    def of(cls, target: Any) -> ClassSource:
        """Read the source of a class.

        Raises:
            OSError: It is not there.
        """
        text = textwrap.dedent(inspect.getsource(target))
        (tree,) = ast.parse(text).body
        if not isinstance(tree, ast.ClassDef):
            raise OSError("not a class")
        return cls(text.rstrip().splitlines(), tree)

    def method(self, name: str) -> ast.FunctionDef | None:
        """The definition of a method of this class itself."""
        found = [
            each
            for each in self.tree.body
            if isinstance(each, ast.FunctionDef) and each.name == name
        ]
        return found[-1] if found else None

    def text(self, node: ast.AST) -> list[str]:
        """The lines of a part of the class."""
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])  # type: ignore[attr-defined]
        return self.lines[first - 1 : node.end_lineno]  # type: ignore[attr-defined]

    def edited(
        self,
        method: ast.FunctionDef,
        ctx: str,
        added: Sequence[str],
        outputs: Sequence[str],
        *,
        at_top: bool,
    ) -> list[str]:
        """The lines of a method that saves other things.

        Args:
            method: The method.
            ctx: The name of its ctx.
            added: Statements in place of those that save.
            outputs: Names for the values that it returns; empty if it needs none.
            at_top: Put the statements first, not before the last ``return``.
        """
        dropped, kept = _saving_lines(method, ctx), []
        start = min([method.lineno, *(d.lineno for d in method.decorator_list)])
        last = method.body[-1]
        body = (
            method.body[1:]
            if ast.get_docstring(method) is not None and len(method.body) > 1
            else method.body
        )
        place = body[0].lineno if at_top else last.lineno
        for number in range(start, (method.end_lineno or start) + 1):
            if number == place:
                indent = " " * body[0].col_offset
                if outputs and isinstance(last, ast.Return):
                    kept += [indent + line for line in self._named_outputs(last, outputs)]
                kept += [indent + line for line in added]
                if outputs:
                    kept.append(f"{indent}return {', '.join(outputs)}")
            if number in dropped:
                if dropped[number]:
                    kept.append(
                        self.lines[number - 1][
                            : len(self.lines[number - 1]) - len(self.lines[number - 1].lstrip())
                        ]
                        + "pass"
                    )
                continue
            if outputs and number >= last.lineno:
                continue
            kept.append(self.lines[number - 1])
        return kept

    def _named_outputs(self, last: ast.Return, outputs: Sequence[str]) -> list[str]:
        assert last.value is not None
        source = "\n".join(self.lines)
        values = (
            last.value.elts
            if len(outputs) > 1 and isinstance(last.value, ast.Tuple)
            else [last.value]
        )
        lines = []
        for name, value in zip(outputs, values, strict=True):
            text = " ".join((ast.get_source_segment(source, value) or ast.unparse(value)).split())
            if text != name:
                lines.append(f"{name} = {text}")
        return lines


def saving_statements(method: ast.FunctionDef, ctx: str) -> list[tuple[list[ast.stmt], ast.stmt]]:
    """The statements that only save values on ctx, each with its block."""
    read = {
        each.attr
        for each in ast.walk(method)
        if isinstance(each, ast.Attribute)
        and isinstance(each.ctx, ast.Load)
        and _is_name(each.value, ctx)
    }
    blocks = [
        block
        for parent in ast.walk(method)
        for block in (getattr(parent, "body", None), getattr(parent, "orelse", None))
        if isinstance(block, list)
    ]
    return [(block, each) for block in blocks for each in block if _saves(each, ctx, read)]


def _saving_lines(method: ast.FunctionDef, ctx: str) -> dict[int, bool]:
    """The lines of statements that save; True for one that leaves an empty block behind."""
    found: dict[int, bool] = {}
    saving = saving_statements(method, ctx)
    for block, each in saving:
        for number in range(each.lineno, (each.end_lineno or each.lineno) + 1):
            found[number] = False
        if block[0] is each and sum(other is block for other, _ in saving) == len(block):
            found[each.lineno] = True
    return found


def _saves(statement: Any, ctx: str, read: set[str]) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        return (
            isinstance(called, ast.Attribute)
            and _is_name(called.value, ctx)
            and called.attr in _SAVING
        )
    if isinstance(statement, ast.Assign):
        return all(_is_own(target, ctx, read) for target in statement.targets)
    return False


def _is_own(target: ast.expr, ctx: str, read: set[str]) -> bool:
    if isinstance(target, ast.Tuple):
        return all(_is_own(each, ctx, read) for each in target.elts)
    return (
        isinstance(target, ast.Attribute)
        and _is_name(target.value, ctx)
        and target.attr not in read
    )


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
