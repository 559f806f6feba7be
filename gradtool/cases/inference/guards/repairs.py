"""Repairs: other arguments in place of those that a guard of forward refused.

The conditions of the guard are read from the syntax tree, those that are not met are found by
evaluating them, and the arguments that they are about get the shapes, dtypes and ranges with which
they are met. Where a condition says something else, families of values are tried.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradtool.cases.inference.drafts import Draft, asks, is_floating, is_same, reshaped, shape_of
from gradtool.cases.inference.guards.conditions import Condition
from gradtool.cases.inference.guards.dtypes import dtype_changes, with_dtype
from gradtool.cases.inference.guards.families import family_values
from gradtool.cases.inference.guards.guard import Guard, guard_of, guards_of
from gradtool.cases.inference.guards.known import Known
from gradtool.cases.inference.guards.ranges import Range, ranges_of, within_range
from gradtool.cases.inference.guards.refusal import Refusal
from gradtool.cases.inference.guards.shapes import ShapeChange, shape_changes
from gradtool.cases.inference.reading import Reading
from gradtool.config.tensor_spec import is_tensor

Change = tuple[int, Callable[[Any], Any]]
"""The position of an argument, and another value for it; None if there is none."""

_MOST_TOGETHER = 3
"""Arguments that get values of one family at the same time."""


class Repairs:
    """Other arguments in place of refused ones.

    Args:
        names: The names of the arguments.
        draft: What was refused.
        guard: The guard that refused it.
        known: The values at the guard.
        others: The guards of the same function.
    """

    def __init__(
        self, names: Sequence[str], draft: Draft, guard: Guard, known: Known, others: list[Guard]
    ) -> None:
        self._names = list(names)
        self._draft = draft
        self._known = known
        self._guard = guard
        every = guard.conditions()
        self._unmet = [each for each in every if not known.is_met(each)] or every
        self._every = [*every, *(each for other in others for each in other.conditions())]

    def together(self) -> Draft:
        """The draft with a change for each condition that states one."""
        changed = list(self._draft)
        for changes in self._changes():
            made = [(at, value) for at, change in changes if (value := change(changed[at]))]
            grown = [(at, value) for at, value in made if not _is_smaller(value, changed[at])]
            for at, value in (grown or made)[:1]:
                changed[at] = value
        return tuple(changed)

    def singly(self) -> Iterator[Draft]:
        """Yield drafts with one change."""
        for changes in self._changes():
            for at, change in changes:
                yield from self._with({at: change(self._draft[at])})

    def of_families(self, reason: str) -> Iterator[Draft]:
        """Yield drafts whose refused tensors have values of another kind, for all of them or one.

        Args:
            reason: The message of the refusal.
        """
        said = f"{reason} {ast.unparse(self._guard.test)}"
        about_values = [each for each in self._unmet if not self._of_layout(each)]
        tensors = [at for at in self._refused(about_values) if is_tensor(self._draft[at])]
        groups = [tensors] if 1 < len(tensors) <= _MOST_TOGETHER else []
        for group in [*groups, *([at] for at in tensors)]:
            made = (family_values(shape_of(self._draft[at]), said) for at in group)
            for values in zip(*made, strict=False):
                for draft in self._with(dict(zip(group, values, strict=True))):
                    if any(map(asks, draft)):
                        yield draft

    def _with(self, values: dict[int, Any]) -> Iterator[Draft]:
        """Yield the draft with other values for some arguments, if they are others."""
        draft = tuple(
            each if values.get(at) is None else values[at] for at, each in enumerate(self._draft)
        )
        if not is_same(draft, self._draft):
            yield draft

    def _refused(self, unmet: Sequence[Condition]) -> list[int]:
        """The positions of the arguments that conditions are about."""
        mentioned = (self._known.arguments_in(each.test) for each in unmet)
        return sorted({self._names.index(name) for names in mentioned for name in names})

    def _changes(self) -> Iterator[list[Change]]:
        """Yield for each condition the changes with one of which it is met."""
        yield from map(self._of_layout, self._unmet)
        # Other conditions have a say, such as ``x > 0`` before ``x < 1``.
        for name, stated in ranges_of(self._every, self._known).items():
            at = self._names.index(name)
            if name in ranges_of(self._unmet, self._known) or _is_free(self._draft[at]):
                yield [(at, _range_change(stated))]

    def _of_layout(self, condition: Condition) -> list[Change]:
        """The changes of a dtype, a shape or a flag with which a condition is met."""
        dtypes = dtype_changes(condition, self._known)
        shapes = shape_changes(condition, self._known)
        return [
            *((self._names.index(name), _dtype_change(dtype)) for name, dtype in dtypes),
            *((self._names.index(name), _shape_change(change)) for name, change in shapes),
            *self._without_gradient(condition),
        ]

    def _without_gradient(self, condition: Condition) -> Iterator[Change]:
        """Yield the change of a tensor that must not ask for a gradient."""
        match condition:
            case Condition(
                left=ast.Attribute(value=ast.Name(id=held), attr="requires_grad"),
                operator=None,
                holds=False,
            ) if name := self._known.argument(held):
                yield self._names.index(name), _constant


def read_repairs(reading: Reading, draft: Draft, refusal: Refusal | None) -> Repairs | None:
    """Read the guard that refused a draft; None if no guard did."""
    if refusal is None or reading.module is None:
        return None
    found = guard_of(reading.module, refusal)
    if found is None:
        return None
    guard, scene = found
    names = [parameter.name for parameter in reading.parameters]
    known = Known(refusal, scene, names)
    return Repairs(names, draft, guard, known, guards_of(reading.module, guard.scope))


def _dtype_change(dtype: str) -> Callable[[Any], Any]:
    return lambda value: with_dtype(value, dtype) if is_tensor(value) else None


def _shape_change(change: ShapeChange) -> Callable[[Any], Any]:
    return lambda value: reshaped(value, change(shape_of(value))) if is_tensor(value) else None


def _range_change(stated: Range) -> Callable[[Any], Any]:
    return lambda value: within_range(value, stated)


def _is_smaller(value: Any, other: Any) -> bool:
    """Return True for a tensor with fewer entries than another: it shows less."""
    if not is_tensor(value) or not is_tensor(other):
        return False
    return math.prod(shape_of(value)) < math.prod(shape_of(other))


def _is_free(value: Any) -> bool:
    """Return True for a floating tensor whose values nothing has limited yet."""
    return is_floating(value) and not {"values", "low", "dtype"} & value.keys()


def _constant(value: Any) -> Any:
    return {**value, "requires_grad": False} if is_floating(value) else None
