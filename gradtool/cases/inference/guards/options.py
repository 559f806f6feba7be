"""Options in place of a value that a function refused, in whatever file it is.

``if kind not in TABLE: raise``, ``TABLE[kind]``, and the ``else: raise`` or the ``raise`` behind
``if kind == "a": return`` show what ``kind`` may be. The options are evaluated where the exception
was raised, and the argument is the one with the value of ``kind``, or of these the one with its
name.
"""

from __future__ import annotations

import ast
import enum
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

from gradtool.adapters.common.parsed_source import source_of_code
from gradtool.cases.inference.drafts import Draft, as_written, is_same
from gradtool.cases.inference.evaluation import MISSING
from gradtool.cases.inference.guards.known import Known
from gradtool.cases.inference.guards.refusal import Refusal, Scene
from gradtool.config.tensor_spec import is_tensor

_MOST_OPTIONS = 4
"""Options that are tried."""

_MOST_SCENES = 4
"""Calls, from the innermost outwards, in which the refusal is looked for."""

_OF_STRINGS = ("lower", "upper", "strip")


def options_of(
    names: Sequence[str], draft: Draft, refusal: Refusal | None
) -> Iterator[tuple[int, Any]]:
    """Yield the positions of refused plain values with options in their place."""
    if refusal is None:
        return
    for scene in list(reversed(refusal.everywhere))[:_MOST_SCENES]:
        known = Known(refusal, scene, names)
        found = list(_compared(scene, known))
        for variable, options in found:
            at_value = _positions(names, draft, variable, scene.variables.get(variable))
            for at in at_value or _position_of_tensor(names, known.argument(variable)):
                others = (as_written(each) for each in options if _is_option(each))
                new = [each for each in others if not is_same(each, draft[at])]
                yield from ((at, each) for each in new[:_MOST_OPTIONS])
        if found:
            return


def _positions(names: Sequence[str], draft: Draft, variable: str, value: Any) -> list[int]:
    """The positions of the plain values that a variable may hold."""
    equal = [at for at, each in enumerate(draft) if _is_plain(each) and is_same(each, value)]
    named = [at for at, name in enumerate(names) if name == variable and not is_tensor(draft[at])]
    # Forward may have put a default in the place of None.
    return [at for at in equal if at in named] or named or equal


def _position_of_tensor(names: Sequence[str], held: str | None) -> list[int]:
    """The position of the argument that a variable holds, a tensor where an option is meant."""
    return [names.index(held)] if held in names else []


def _is_plain(value: Any) -> bool:
    return not is_tensor(value) and isinstance(value, str | int | float)


def _is_option(value: Any) -> bool:
    return value is not None and isinstance(value, str | int | float | enum.Enum)


def _compared(scene: Scene, known: Known) -> Iterator[tuple[str, list[Any]]]:
    """Yield the variables that the statement at which a call raised refused, with their options."""
    function = _tree(scene.code) if scene.code else None
    if function is None or scene.code is None:
        return
    # The source of the function begins at its first line, the tree of it at line 1.
    line = scene.line - scene.code.co_firstlineno + 1
    # Where a call raised further in, what was looked up for it was there.
    is_innermost = scene is known.refusal.everywhere[-1]
    for test in _tests(function, line, may_look_up=is_innermost):
        for node in ast.walk(test):
            yield from _options(node, known)


@lru_cache(maxsize=32)
def _tree(code: CodeType) -> ast.AST | None:
    try:
        return ast.parse(textwrap.dedent(source_of_code(code)))
    except (OSError, TypeError, SyntaxError, IndexError, ValueError):
        return None


def _tests(function: ast.AST, line: int, *, may_look_up: bool) -> Iterator[ast.AST]:
    """Yield what decides that a line raises: the tests around a ``raise``, or a look-up."""
    statements = [each for each in ast.walk(function) if isinstance(each, ast.stmt)]
    around = [each for each in statements if each.lineno <= line <= (each.end_lineno or 0)]
    if not around:
        return
    last = max(around, key=lambda each: (each.lineno, -(each.end_lineno or 0)))
    if isinstance(last, ast.Raise):
        passed = (each for each in statements if (each.end_lineno or 0) < line)
        returning = (
            e for e in passed if isinstance(e, ast.If) and isinstance(e.body[-1], ast.Return)
        )
        yield from (each.test for each in (*around, *returning) if isinstance(each, ast.If))
    elif isinstance(last, ast.Assert):
        yield last.test
    elif may_look_up and not isinstance(
        last, ast.If | ast.For | ast.While | ast.With | ast.FunctionDef
    ):
        yield from (each for each in ast.walk(last) if isinstance(each, ast.Subscript))


def _options(node: ast.AST, known: Known) -> Iterator[tuple[str, list[Any]]]:
    match node:
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[container]):
            if name := _variable(left):
                yield name, _items(known.value(container))
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
            for one, other in ((left, right), (right, left)):
                if (name := _variable(one)) and not _variable(other):
                    yield name, [known.value(other)]
        case ast.Subscript(value=table, slice=key) if name := _variable(key):
            held = known.value(table)
            if isinstance(held, Mapping):
                yield name, _items(held)


def _variable(node: ast.expr) -> str | None:
    """The name ``x`` of ``x`` and ``x.lower()``."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
            return name if method in _OF_STRINGS else None
    return None


def _items(container: Any) -> list[Any]:
    if container is MISSING or isinstance(container, str):
        return []
    try:
        found = list(container)
    except Exception:  # What is iterated over may be of the user's.
        return []
    return sorted(found, key=str) if isinstance(container, set | frozenset) else found
