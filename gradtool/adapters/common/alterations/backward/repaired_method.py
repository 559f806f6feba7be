"""The results of a method of a Function with one of its expressions replaced."""

from __future__ import annotations

import ast
import itertools
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any

import numpy as np
from msgspec.structs import replace

from gradtool.adapters.common.alterations.altered_code import altered, compiled, running
from gradtool.adapters.common.alterations.backward.kept_by_forward import (
    kept_by_forward,
    kept_on_context,
)
from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.not_a_number import first_nan
from gradtool.adapters.common.alterations.backward.noted_forward import NotedForward, Started
from gradtool.adapters.common.alterations.backward.repair import Repair, described
from gradtool.adapters.common.alterations.backward.repairs import repairs
from gradtool.adapters.common.alterations.backward.swapped_functions import derivatives
from gradtool.adapters.common.alterations.definitions import (
    Definition,
    Function,
    definitions,
)
from gradtool.adapters.common.alterations.noted_values import Notes, Value, noting
from gradtool.adapters.common.alterations.switched_code import switched
from gradtool.adapters.library import library
from gradtool.verify.oracle.evaluation_timeout import EvaluationTimeout
from gradtool.verify.protocol import observation
from gradtool.verify.protocol.observation import Array
from gradtool.verify.thresholds.edits import COMPILED_TOGETHER, FITTED_DIGITS

Returned = Sequence[Array | None]
"""The results of a call, one for each input or output."""

Found = tuple[Function, ast.FunctionDef, Repair]
"""A repair, with the function that it is one of."""


class RepairedMethod:
    """A Function of which one method may be edited while it is called.

    Args:
        cls: The Function; None for a plain callable, of which nothing is edited.
        names: The method, by the names that it may have.
        with_helpers: The functions of its module that it calls may be edited, too.
    """

    def __init__(self, cls: type[Any] | None, *names: str, with_helpers: bool = False) -> None:
        self._cls, self._names, self._with_helpers = cls, names, with_helpers
        self._edits: dict[observation.Repair, Found] = {}
        self._codes: dict[observation.Repair, types.CodeType] = {}
        self._notes = Notes()
        self._forward = NotedForward(self._definitions("forward")[:1], self._notes)

    # ---- what may be edited -----------------------------------------------------------

    def repairs(
        self, most: int, seen: Sequence[Mapping[ast.AST, Value]] = ()
    ) -> list[observation.Repair]:
        """Return what may be edited, the `most` plainest repairs at most.

        Args:
            most: How many.
            seen: What `values` returned, for two cotangents.
        """
        found = {
            described(function, repair, number): (function, tree, repair)
            for number, (function, tree, repair) in enumerate(
                itertools.islice(self._every(seen), most)
            )
        }
        self._edits |= found
        return list(found)

    def renumbered(self, made: observation.Repair, number: float) -> observation.Repair:
        """Return the repair that puts another number in the place of one that is nudged."""
        function, tree, nudge = self._edits[made]
        short = replace(nudge, made=ast.Constant(float(f"{number:.{FITTED_DIGITS}g}")), nudged=None)
        shown = described(function, short, len(self._edits))
        self._edits[shown] = function, tree, replace(short, made=ast.Constant(number))
        return shown

    def _every(self, seen: Sequence[Mapping[ast.AST, Value]]) -> Iterator[Found]:
        forward = self._forward.values
        attributes = kept_on_context(self._cls)
        called = derivatives(self._forward.nodes)
        for function, tree in self._method():
            backward = Backward(tree, attributes, *_within(tree, seen), forward, called)
            yield from ((function, tree, repair) for repair in repairs(backward))
        for function, tree in self._keeping:
            yield from ((function, tree, repair) for repair in kept_by_forward(tree))

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
        return [] if method is None else definitions(method)

    # ---- runs -------------------------------------------------------------------------

    def values(
        self, start: Callable[[], Started], run: Callable[[Started], Returned]
    ) -> Mapping[ast.AST, Value]:
        """Return the values of the expressions of the method in a run; none if it raises."""
        notes, nodes = Notes(), list[ast.expr]()
        trees = [(function, noting(tree, nodes)) for function, tree in self._method()]
        try:
            started = self._forward.watched(start)
            with EvaluationTimeout().limited(), ExitStack() as stack:
                for function, tree in trees:
                    stack.enter_context(altered(function, tree, notes))
                run(started)
        except Exception:  # The user's code may raise anything at another cotangent.
            return {}
        return {nodes[number]: value for number, value in notes.values.items()}

    def first_nan(
        self, start: Callable[[], Started], run: Callable[[Started], Returned]
    ) -> observation.NotANumber | None:
        """Return the expression of the method that is NaN first in a run; None if none is."""
        return first_nan(self._method(), self.values(start, run))

    def returned(
        self,
        chosen: Sequence[observation.Repair],
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
        repair: observation.Repair,
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
        begun = started.pop() if started else self._forward.watched(start)
        with edited:
            found = run(begun)
        started.append(begun)
        return found

    def _code(self, repair: observation.Repair) -> tuple[Function, types.CodeType]:
        """A function, and its code with a repair and others that are tried after it."""
        function, tree, _ = self._edits[repair]
        if repair not in self._codes:
            first = repair.number
            following = itertools.islice(self._edits, first, first + COMPILED_TOGETHER)
            alike = [each for each in following if self._edits[each][0] is function]
            try:
                self._codes |= dict.fromkeys(alike, self._compiled(function, tree, alike))
            except Exception:  # One of the repairs is no code at all.
                self._codes[repair] = self._compiled(function, tree, [repair])
        return function, self._codes[repair]

    def _compiled(
        self, function: Function, tree: ast.FunctionDef, chosen: Sequence[observation.Repair]
    ) -> types.CodeType:
        changes = {each.number: self._edits[each][2].changes for each in chosen}
        return compiled(function, switched(tree, changes))


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
