"""The expressions of a Function's forward with the values that they have in its last run."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any, TypeVar

import msgspec
import numpy as np

from gradtool.adapters.common.alterations.altered_code import compiled, running
from gradtool.adapters.common.alterations.definitions import Definition, Function
from gradtool.adapters.common.alterations.noted_values import Notes, Value, noting, noting_again

Started = TypeVar("Started")


class Noted(msgspec.Struct, frozen=True):
    """An expression of forward, and its value."""

    number: int
    """Its place among all that are noted."""
    node: ast.expr
    value: Value
    anew: bool = False
    """The value is not that of the expression itself, but of the variables in it at the end."""

    @property
    def code(self) -> str:
        """Its source."""
        return ast.unparse(self.node)


class NotedForward:
    """A forward that notes the values of its expressions when a call of it is watched.

    Args:
        definitions: The function with its tree; none for a forward without a source.
        notes: The object that the values are noted in.
    """

    def __init__(self, definitions: Sequence[Definition], notes: Notes) -> None:
        self._notes = notes
        self.nodes: list[ast.expr] = []
        """Its expressions; from `_anew` on, as they are at its end."""
        noted = [(each, tree, noting(tree, self.nodes)) for each, tree in definitions]
        self._anew = len(self.nodes)
        self._trees = [
            (function, noting_again(made, tree, self.nodes)) for function, tree, made in noted
        ]

    @property
    def values(self) -> list[Noted]:
        """The expressions of different values, the plainest of each."""
        known = self._notes.values
        return _distinct(
            [
                Noted(at, node, known[at], anew=at >= self._anew)
                for at, node in enumerate(self.nodes)
                if at in known
            ]
        )

    @cached_property
    def _codes(self) -> list[tuple[Function, types.CodeType]]:
        """Forward, compiled: each call of an edited method that starts anew runs it."""
        return [(function, compiled(function, tree)) for function, tree in self._trees]

    def watched(self, start: Callable[[], Started]) -> Started:
        """Start a call, and note the values of forward in it."""
        with ExitStack() as stack:
            for function, code in self._codes:
                stack.enter_context(running(function, code, self._notes))
            return start()


def _distinct(noted: Sequence[Noted]) -> list[Noted]:
    found: dict[tuple[Any, ...], Noted] = {}
    for each in sorted(noted, key=_plainness):
        found.setdefault(_key(each.value), each)
    return list(found.values())


def _plainness(noted: Noted) -> tuple[bool, bool, int]:
    return noted.anew, not isinstance(noted.node, ast.Name), len(noted.code)


def _key(value: Value) -> tuple[Any, ...]:
    array = np.asarray(value)
    return array.shape, array.dtype.kind, array.tobytes()
