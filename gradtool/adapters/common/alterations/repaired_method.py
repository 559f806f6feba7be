"""The results of a method of a Function with one of its expressions replaced."""

from __future__ import annotations

import ast
import itertools
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from gradtool.adapters.common.alterations.altered_code import (
    Function,
    altered,
    compiled,
    definition,
    functions_of,
    running,
    shortened,
)
from gradtool.adapters.common.alterations.edits import replaced
from gradtool.adapters.common.alterations.grafts import Noted, distinct
from gradtool.adapters.common.alterations.kept_by_forward import kept_by_forward
from gradtool.adapters.common.alterations.noted_values import Notes, Value, noting, noting_again
from gradtool.adapters.common.alterations.omissions import Edit
from gradtool.adapters.common.alterations.repairs import Surroundings, repairs
from gradtool.adapters.common.alterations.swapped_functions import derivatives
from gradtool.adapters.common.alterations.switched_code import switched
from gradtool.adapters.library import library
from gradtool.verify.oracle.evaluation_timeout import EvaluationTimeout
from gradtool.verify.protocol.observation import Array, Repair
from gradtool.verify.thresholds.edits import COMPILED_TOGETHER

Returned = Sequence[Array | None]
Definition = tuple[Function, ast.FunctionDef]
Started = TypeVar("Started")


class RepairedMethod:
    """A Function of which one method may be edited while it is called.

    Args:
        cls: The Function; None for a plain callable, of which nothing is edited.
        names: The method, by the names that it may have.
        with_helpers: The functions of its module that it calls may be edited, too.
    """

    def __init__(self, cls: type[Any] | None, *names: str, with_helpers: bool = False) -> None:
        self._cls, self._names, self._with_helpers = cls, names, with_helpers
        self._edits: dict[Repair, tuple[Function, ast.FunctionDef, Edit]] = {}
        self._codes: dict[Repair, types.CodeType] = {}
        self._notes = Notes()
        self._noted: list[ast.expr] = []
        self._forward = self._noted_forward()

    def _noted_forward(self) -> list[Definition]:
        """Forward, which notes its expressions; from `_anew` on, as they are at its end."""
        plain = self._definitions("forward")[:1]
        noted = self._noting(plain, self._noted)
        self._anew = len(self._noted)
        return [
            (function, noting_again(made, tree, self._noted))
            for (function, tree), (_, made) in zip(plain, noted, strict=True)
        ]

    def repairs(self, most: int, seen: Sequence[Mapping[ast.AST, Value]] = ()) -> list[Repair]:
        """Return what may be edited, the `most` plainest edits at most.

        Args:
            most: How many.
            seen: What `values` returned, for two cotangents.
        """
        found = dict(itertools.islice(self._every(seen), most))
        self._edits |= found
        return list(found)

    def _every(
        self, seen: Sequence[Mapping[ast.AST, Value]]
    ) -> Iterator[tuple[Repair, tuple[Function, ast.FunctionDef, Edit]]]:
        noted = self._notes.values
        forward = distinct(
            [
                Noted(at, node, noted[at], anew=at >= self._anew)
                for at, node in enumerate(self._noted)
                if at in noted
            ]
        )
        attributes = _kept_on_context(self._cls)
        called = derivatives(self._noted)
        number = itertools.count()
        for function, tree in self._method():
            values = _within(tree, seen)
            for edit in repairs(tree, Surroundings(attributes, *values, forward, called)):
                yield _repair(function, edit, next(number)), (function, tree, edit)
        for function, tree in self._keeping:
            for edit in kept_by_forward(tree):
                yield _repair(function, edit, next(number)), (function, tree, edit)

    @cached_property
    def _keeping(self) -> list[Definition]:
        """The methods that keep what backward uses, if it is backward that may be edited."""
        names = ("forward", "setup_context") if self._with_helpers else ()
        return [each for name in names for each in self._definitions(name)[:1]]

    def _method(self) -> list[Definition]:
        base = library().Function
        own = [n for n in self._names if getattr(self._cls, n, None) is not getattr(base, n, None)]
        found = [self._definitions(name) for name in own]
        return [each for one in found for each in (one if self._with_helpers else one[:1])]

    def _definitions(self, name: str) -> list[Definition]:
        """A method, and the functions that it calls."""
        method = getattr(self._cls, name, None)
        found = [] if method is None else functions_of(method)
        trees = [(function, definition(function)) for function in found]
        return [(function, tree) for function, tree in trees if tree is not None]

    def values(
        self, start: Callable[[], Started], run: Callable[[Started], Returned]
    ) -> Mapping[ast.AST, Value]:
        """Return the values of the expressions of the method in a run; none if it raises."""
        notes, nodes = Notes(), list[ast.expr]()
        trees = self._noting(self._method(), nodes)
        try:
            started = self._watched(start)
            with EvaluationTimeout().limited(), ExitStack() as stack:
                for function, tree in trees:
                    stack.enter_context(altered(function, tree, notes))
                run(started)
        except Exception:  # The user's code may raise anything at another cotangent.
            return {}
        return {nodes[number]: value for number, value in notes.values.items()}

    def _noting(self, definitions: Sequence[Definition], nodes: list[ast.expr]) -> list[Definition]:
        return [(function, noting(tree, nodes)) for function, tree in definitions]

    @cached_property
    def _noted_codes(self) -> list[tuple[Function, types.CodeType]]:
        """Forward again, compiled: each call of an edited method that starts anew runs it."""
        return [(function, compiled(function, tree)) for function, tree in self._forward]

    def _watched(self, start: Callable[[], Started]) -> Started:
        """Start a call, and note the values of forward in it."""
        with ExitStack() as stack:
            for function, code in self._noted_codes:
                stack.enter_context(running(function, code, self._notes))
            return start()

    def returned(
        self,
        chosen: Sequence[Repair],
        start: Callable[[], Started],
        run: Callable[[Started], Returned],
    ) -> Iterator[Returned | None]:
        """Yield what a call returns with each repair; None where it raises, or comes to no end.

        All of them belong to one start, until one fails: it may have changed what is saved.
        """
        timeout, started = EvaluationTimeout(), list[Started]()
        for repair in chosen:
            try:
                with timeout.limited():
                    found = self._run(repair, start, run, started)
            except Exception:  # An edited method may raise anything.
                yield None
            else:
                yield found

    def _run(
        self,
        repair: Repair,
        start: Callable[[], Started],
        run: Callable[[Started], Returned],
        started: list[Started],
    ) -> Returned:
        """Return what a call with a repair returns. One that has started is used, and kept."""
        function, code = self._code(repair)
        self._notes.chosen = repair.number
        edited = running(function, code, self._notes)
        if any(function is each for each, _ in self._keeping):
            with edited:
                begun = start()
            return run(begun)
        begun = started.pop() if started else self._watched(start)
        with edited:
            found = run(begun)
        started.append(begun)
        return found

    def _code(self, repair: Repair) -> tuple[Function, types.CodeType]:
        """A function, and its code with a repair and others that are tried after it."""
        function, tree, edit = self._edits[repair]
        if repair not in self._codes:
            alike = [
                each
                for each in itertools.islice(
                    self._edits, repair.number, repair.number + COMPILED_TOGETHER
                )
                if self._edits[each][0] is function
            ]
            try:
                code = compiled(
                    function, switched(tree, {each.number: self._edits[each][2] for each in alike})
                )
                self._codes |= dict.fromkeys(alike, code)
            except Exception:  # One of the edits is no code at all.
                self._codes[repair] = compiled(function, switched(tree, {repair.number: edit}))
        return function, self._codes[repair]


def _within(
    tree: ast.FunctionDef, seen: Sequence[Mapping[ast.AST, Value]]
) -> tuple[Mapping[ast.AST, Value], frozenset[ast.AST]]:
    """The values of a function's expressions, and those that are the same in each run."""
    if not seen:
        return {}, frozenset()
    first, *others = seen
    values = {node: first[node] for node in ast.walk(tree) if node in first}
    fixed = [
        node
        for node, value in values.items()
        if all(np.array_equal(value, each.get(node, np.nan), equal_nan=True) for each in others)
    ]
    return values, frozenset(fixed)


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
    nodes = (around, *edit.others, *(node for node, _ in edit.also))
    lines = tuple(sorted({getattr(node, "lineno", first) for node in nodes}))
    code, new = _code_of(around), edit.other or _code_of(other)
    return Repair(
        path=function.__code__.co_filename,
        lines=lines,
        code=shortened(code, new),
        other="" if isinstance(edit.made, ast.Pass) else shortened(new, code),
        number=number,
        is_factor=edit.is_factor,
        line_of_forward=edit.line_of_forward,
        scale=edit.scale,
        words=edit.words,
    )


def _code_of(node: ast.AST) -> str:
    """The code of a node, a tuple without its parentheses."""
    code = ast.unparse(ast.fix_missing_locations(node))
    return code.strip("()") if isinstance(node, ast.Tuple) else code
