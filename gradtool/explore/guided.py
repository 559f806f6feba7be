"""Variants that take a side of a branch that no case took: those that forward itself asks for."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import Any

import numpy as np

from gradtool.adapters.common.branches import Side, source_of
from gradtool.adapters.common.value_branches import Compared
from gradtool.explore.coverage import Branches
from gradtool.explore.plain import is_kept, with_defaults
from gradtool.explore.point import Point, Variant
from gradtool.explore.traits import is_integral, restored, traits
from gradtool.verify.protocol.observation import Array

_LEAST_LIMIT, _LARGEST_LIMIT = 1e-3, 1e4
"""What is compared with a smaller number guards a division; a larger one is a mark, not a limit."""

_MOST = 24
"""Variants for all branches of a case."""


def guided(
    point: Point,
    branches: Branches,
    parameters: Sequence[inspect.Parameter],
    rng: np.random.Generator,
    *,
    moves_values: bool,
) -> Iterator[Variant]:
    """Yield variants for the sides that are missing as long as they are.

    Args:
        point: The arguments of the case.
        branches: Those of the Function, which grow as variants are tried.
        parameters: Those of ``forward``.
        rng: For the values.
        moves_values: Tensors may get values of another size.
    """
    streams = [
        _until_taken(side, branches, _towards(side, point, branches, parameters, rng, moves_values))
        for side in branches.missing
    ]
    rows = chain.from_iterable(zip_longest(*streams))
    yield from islice((each for each in rows if each is not None), _MOST)


def _until_taken(side: Side, branches: Branches, found: Iterator[Variant]) -> Iterator[Variant]:
    for variant in found:
        if side not in branches.missing:
            return
        yield variant


def _towards(
    side: Side,
    point: Point,
    branches: Branches,
    parameters: Sequence[inspect.Parameter],
    rng: np.random.Generator,
    moves_values: bool,
) -> Iterator[Variant]:
    yield from _plain(side, with_defaults(point, parameters))
    compared = branches.compared(side)
    if compared is not None and moves_values and _is_limit(compared.limit):
        yield from _moved(side, point, compared, rng)


# ---- arguments that are no tensors ------------------------------------------------------------


def _plain(side: Side, point: Point) -> Iterator[Variant]:
    """Variants of the arguments that a test of Python names, on both sides of its constants."""
    try:
        test = ast.parse(source_of(side.branch), mode="eval")
    except SyntaxError:
        return
    for at in point.plain:
        name, before = point.names[at], point.values[at]
        if is_kept(name) or not _names(test, name):
            continue
        for value in dict.fromkeys(_other_values(test, before)):
            change = f"`{name}` is {value!r}, not {before!r}"
            yield Variant(point.having({at: value}), change, is_plain=True, may_raise=False)


def _names(test: ast.AST, name: str) -> bool:
    """Return True if a test reads an argument, or an attribute of that name."""
    return any(
        (isinstance(node, ast.Name) and node.id == name)
        or (isinstance(node, ast.Attribute) and node.attr == name)
        for node in ast.walk(test)
    )


def _other_values(test: ast.AST, before: Any) -> Iterator[Any]:
    if isinstance(before, bool):
        yield not before
        return
    for node in ast.walk(test):
        if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
            continue
        constant = _signed(test, node)
        near: list[Any] = []
        match before, constant:
            case int(), int():
                near = [constant, constant + 1, constant - 1]
            case float(), int() | float():
                step = abs(constant) * 0.3 or 0.3
                near = [constant + step, constant - step]
            case str(), str():
                near = [constant]
        yield from (each for each in near if each != before)


def _signed(test: ast.AST, constant: ast.Constant) -> Any:
    """The constant with the minus sign that the test puts before it."""
    is_negated = any(
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and node.operand is constant
        for node in ast.walk(test)
    )
    value: Any = constant.value
    return -value if is_negated else value


# ---- values of tensors ------------------------------------------------------------------------


def _is_limit(limit: Array) -> bool:
    if limit.dtype.kind not in "fiu" or not limit.size or not np.isfinite(limit).all():
        return False
    size = float(np.abs(limit).max())
    return size == 0 or _LEAST_LIMIT < size < _LARGEST_LIMIT


def _moved(
    side: Side, point: Point, compared: Compared, rng: np.random.Generator
) -> Iterator[Variant]:
    """Variants whose values lie on both sides of a limit, or are moved towards it."""
    where = f"what line {side.branch.line} of {side.branch.method} compares"
    movable = [
        (at, array)
        for at, array in point.continuous()
        if array.size and array.dtype.kind == "f" and at in point.tracked
        if not is_integral(array) and not any(trait.is_equality for trait in traits(array))
    ]
    for at, array in movable:
        if _is_same(array, compared.value):
            limit = np.broadcast_to(compared.limit, array.shape) if _fits(compared, array) else 0.0
            yield _variant(point, at, _around(limit, array, rng), f"on both sides of {where}")
        elif _is_same(array, compared.limit):
            yield _variant(
                point, at, _around(compared.value, array, rng), f"on both sides of {where}"
            )
    for at, array in movable:
        for moved, how in _nearer(array, compared):
            yield _variant(point, at, moved, f"{how}, towards {where}")


def _variant(point: Point, at: int, made: Array, change: str) -> Variant:
    before = point.values[at]
    array = restored(before, made.astype(before.dtype))
    return Variant(
        point.having({at: array}),
        f"values of `{point.names[at]}` are {change}",
        may_be_outside=array.min() < min(before.min(), 0) or array.max() > max(before.max(), 0),
    )


def _is_same(array: Array, other: Array) -> bool:
    return array.shape == other.shape and bool(np.array_equal(array, other))


def _fits(compared: Compared, array: Array) -> bool:
    try:
        return np.broadcast_shapes(compared.limit.shape, array.shape) == array.shape
    except ValueError:
        return False


def _around(limit: Any, array: Array, rng: np.random.Generator) -> Array:
    """Values on alternate sides of a limit, none of them near it."""
    size = max(float(np.abs(np.asarray(limit)).max()), float(np.abs(array).max()), 0.5)
    turns = np.where(np.arange(array.size) % 2, 1.0, -1.0).reshape(array.shape)
    return np.asarray(limit + turns * size * rng.uniform(0.2, 0.9, array.shape))


def _nearer(array: Array, compared: Compared) -> Iterator[tuple[Array, str]]:
    """The values scaled until what is computed of them may pass the limit, or of another sign."""
    limit = float(np.abs(compared.limit).max())
    sizes = np.abs(compared.value[np.isfinite(compared.value)])
    if limit and sizes.size and sizes.max() > 0:
        for ratio, factor in ((limit / sizes.max(), 1.7), (limit / sizes.max(), 0.4)):
            scale = float(np.clip(ratio * factor, 1 / 64, 64))
            yield array * scale, f"{scale:.3g} times as large"
    if array.min() < 0 < array.max():
        yield -np.abs(array), "negative"
        yield np.abs(array), "positive"
