"""The results of a method of a Function with one of its expressions replaced."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradtool.adapters.common.alterations.altered_code import (
    Function,
    altered,
    definition,
    functions_of,
    shortened,
)
from gradtool.adapters.common.alterations.edits import replaced
from gradtool.adapters.common.alterations.repairs import Edit, repairs
from gradtool.adapters.library import library
from gradtool.verify.oracle.evaluation_timeout import EvaluationTimeout
from gradtool.verify.protocol.observation import Array, Repair

Returned = Sequence[Array | None]


class RepairedMethod:
    """A Function of which one method may be edited while it is called.

    Args:
        cls: The Function; None for a plain callable, of which nothing is edited.
        names: The method, by the names that it may have.
    """

    def __init__(self, cls: type[Any] | None, *names: str) -> None:
        self._cls, self._names = cls, names
        self._edits: dict[Repair, tuple[Function, ast.FunctionDef, Edit]] = {}

    def repairs(self, most: int) -> list[Repair]:
        """Return what may be edited, the `most` plainest edits at most."""
        found = dict(itertools.islice(self._every(), most))
        self._edits |= found
        return list(found)

    def _every(self) -> Iterator[tuple[Repair, tuple[Function, ast.FunctionDef, Edit]]]:
        for function, tree in self._method():
            for number, edit in enumerate(repairs(tree, _kept_on_context(self._cls))):
                yield _repair(function, edit, number), (function, tree, edit)

    def _method(self) -> Iterator[tuple[Function, ast.FunctionDef]]:
        base = library().Function
        for name in self._names:
            method = getattr(self._cls, name, None)
            if method is not None and method is not getattr(base, name, None):
                function = next(iter(functions_of(method)), None)
                tree = function and definition(function)
                if function and tree:
                    yield function, tree

    def returned(
        self, chosen: Sequence[Repair], call: Callable[[], Returned]
    ) -> Iterator[Returned | None]:
        """Yield what a call returns with each repair; None where it raises, or comes to no end."""
        timeout = EvaluationTimeout()
        for repair in chosen:
            function, tree, edit = self._edits[repair]
            try:
                with timeout.limited(), altered(function, replaced(tree, edit.changes), None):
                    yield call()
            except Exception:  # An edited method may raise anything.
                yield None


def _kept_on_context(cls: type[Any] | None) -> list[str]:
    """Names of what forward and ``setup_context`` keep on ctx."""
    found: dict[str, None] = {}
    for name in ("forward", "setup_context"):
        for function in functions_of(getattr(cls, name))[:1]:
            tree = definition(function)
            for node in ast.walk(tree) if tree else ():
                match node:
                    case ast.Attribute(value=ast.Name(id="ctx"), attr=attr, ctx=ast.Store()):
                        found[attr] = None
    return list(found)


def _repair(function: Function, edit: Edit, number: int) -> Repair:
    around = edit.around
    other = edit.made if around is edit.node else replaced(around, {edit.node: edit.made})
    first = function.__code__.co_firstlineno
    lines = sorted({getattr(node, "lineno", first) for node in (around, *edit.others)})
    path, code = function.__code__.co_filename, _shown(around)
    return Repair(path, tuple(lines), code, _shown(other), number, edit.is_factor)


def _shown(node: ast.AST) -> str:
    """The code of a node, a tuple without its parentheses."""
    code = ast.unparse(ast.fix_missing_locations(node))
    return shortened(code.strip("()") if isinstance(node, ast.Tuple) else code)
