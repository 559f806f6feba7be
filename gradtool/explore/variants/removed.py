"""Variants without a trait that forward itself removes, such as a sign or a length.

A sample of positive numbers, or of rows of length one, says nothing of other numbers. Where
forward takes the absolute value or divides by the norm, it is meant for them too.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.names import is_of_either_sign
from gradtool.explore.reading.source import forward_nodes
from gradtool.explore.reading.views import viewed
from gradtool.explore.reading.wording import wording
from gradtool.explore.traits import alternating, intended_traits, is_integral, traits

_OF_SIGN = {"abs", "sign", "sgn", "signbit", "copysign"}
_OF_LENGTH = {"norm", "vector_norm", "normalize"}


def both_signs(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants whose entries alternate in sign, the first one negative.

    Those of arguments of which forward takes sign or size apart, and of those whose names are those
    of any numbers, if no docstring speaks of positive ones.
    """
    names, of_any = _arguments_of(function, _OF_SIGN), set[str]()
    if not wording(function).needs_positive:
        of_any = set(filter(is_of_either_sign, point.names))
    for at, array in point.continuous():
        is_real = array.dtype.kind == "f" and not is_integral(array)
        if not is_real or point.names[at] not in names | of_any:
            continue
        if not array.size or array.min() <= 0:
            continue
        turns = alternating(array, -1.0, 1.0)
        made, change = (array * turns).astype(array.dtype), "has entries of both signs"
        if intended_traits(array):
            made, change = -np.flip(array), "is negative"  # What ascends does so still.
        if [each.name for each in intended_traits(array)] in ([], [e.name for e in traits(made)]):
            yield Variant(
                point.having({at: made}),
                f"`{point.names[at]}` {change}",
                may_be_outside=point.names[at] not in names,
            )


def other_lengths(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants whose rows do not have length one, where forward computes their length."""
    for at in _tracked(point, _arguments_of(function, _OF_LENGTH) | _squared(function)):
        array = point.values[at]
        if any(trait.name == "unit rows" for trait in traits(array)):
            lengths = np.linspace(0.6, 1.7, array[..., :1].size).reshape(array[..., :1].shape)
            change = f"rows of `{point.names[at]}` do not have norm 1"
            made = point.having({at: (array * lengths).astype(array.dtype)})
            yield Variant(made, change, is_less_special=True)


def _squared(function: Any) -> set[str]:
    """Names of what forward multiplies by itself."""
    found: set[str] = set()
    for node in forward_nodes(function):
        match node:
            case ast.BinOp(left=ast.Name(id=name), op=ast.Mult(), right=ast.Name(id=other)):
                found |= {name} & {other}
            case ast.BinOp(left=ast.Name(id=name), op=ast.Pow(), right=ast.Constant(value=2)):
                found.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="square")):
                found.add(name)
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="pow"),
                args=[ast.Constant(value=2)],
            ):
                found.add(name)
    return found


def _tracked(point: Point, names: Collection[str]) -> Iterator[int]:
    for at, array in point.continuous():
        is_real = array.dtype.kind == "f" and not is_integral(array)
        if is_real and at in point.tracked and point.names[at] in names:
            yield at


def _arguments_of(function: Any, calls: Collection[str]) -> set[str]:
    """Names that forward applies one of `calls` to, or to a view of them.

    As a method or as a function.
    """
    found: set[str] = set()
    for node in forward_nodes(function):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args) if name in calls:
                found |= {viewed(each) for each in (owner, *args)}
    return found - {""}
