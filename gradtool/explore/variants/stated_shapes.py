"""Variants of shapes that docstrings state: those to choose from, and those of other options."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np

from gradtool.cases.inference.documentation import alternatives, expression
from gradtool.explore.point import Point, Variant, changed_to
from gradtool.explore.reading.documented_shapes import (
    shapes_beside_scalar,
    shapes_of,
    stated_shapes,
    with_numbers,
)
from gradtool.explore.traits import reshaped
from gradtool.explore.variants.plain import Options, is_choice, plain
from gradtool.explore.variants.ranks import with_axis
from gradtool.verify.protocol.observation import Array


def of_stated_rank(text: str, point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Variants with an axis more or less where a docstring leaves several ranks to choose from."""
    tensors = {point.names[at]: at for at, _ in point.arrays()}
    made_by: dict[tuple[str, int], dict[int, Array]] = {}
    for name, shapes in alternatives(text, tensors).items():
        at = tensors[name]
        array = point.values[at]
        for shape, longer in permutations(shapes, 2):
            axis = _added(shape, longer)
            if axis is not None and len(shape) == array.ndim:
                made_by.setdefault((longer[axis], 1), {})[at] = with_axis(array, axis, rng)
            if axis is not None and len(longer) == array.ndim and array.shape[axis]:
                made_by.setdefault((longer[axis], -1), {})[at] = np.take(array, 0, axis)
        for form in shapes_of(text, name, point) if array.dtype.kind == "f" else ():
            if form != array.shape and len(shapes) > 1:
                made_by.setdefault((str(form), 0), {})[at] = _reshaped(array, form, rng)
    for made in made_by.values():
        shapes_now = (f"`{point.names[at]}` has the shape {list(made[at].shape)}" for at in made)
        yield Variant(
            point.having(made), " and ".join(shapes_now), may_raise=False, has_stated_shape=True
        )


def instead_of_numbers(text: str, point: Point) -> Iterator[Variant]:
    """Variants with several numbers where a docstring allows them in the place of one."""
    tensors = {point.names[at]: at for at, array in point.continuous() if not array.ndim}
    for name, shape in shapes_beside_scalar(text, point).items():
        if name in tensors:
            at = tensors[name]
            factors = np.linspace(0.8, 1.2, int(np.prod(shape))).reshape(shape)
            change = f"`{name}` has the shape {list(shape)}"
            yield Variant(point.having({at: point.values[at] * factors}), change, may_raise=False)


def with_options(
    text: str,
    point: Point,
    parameters: Sequence[inspect.Parameter],
    known: Options,
    rng: np.random.Generator,
) -> Iterator[Variant]:
    """Yield variants of other options together with the shapes that a docstring states for them.

    A flag may say which of several shapes a tensor has. A number may be part of a shape.
    """
    for variant in of_stated_rank(text, point, rng):
        for option in plain(variant.point, parameters, known):
            if is_choice(variant.point, option):
                yield Variant(option.point, f"{variant.change}, and {option.change}")
    yield from _of_other_numbers(text, point, rng)


def _of_other_numbers(text: str, point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Variants of a plain integer that shapes are computed from."""
    ways = stated_shapes(text, point)
    axes = {axis for shape in (ways[0] if ways else {}).values() for axis in shape}
    trees = [tree for tree in map(expression, axes) if tree is not None]
    used = {
        node.id
        for tree in trees
        if not isinstance(tree, ast.Name)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
    }
    for at in point.plain:
        name, before = point.names[at], point.values[at]
        if name not in used or type(before) is not int:
            continue
        for number in _beside(before):
            shapes = with_numbers(ways[0], point, {name: number})
            changed = {each: reshaped(point.values[each], shapes[each], rng) for each in shapes}
            if changed and all(each is not None for each in changed.values()):
                what = changed_to(name, number, before)
                yield Variant(point.having({**changed, at: number}), what, may_raise=False)


def _beside(number: int) -> list[int]:
    """The divisors of a number, the largest first, and twice the number."""
    return [*(n for n in range(number // 2, 0, -1) if not number % n), 2 * number]


def _added(shape: Sequence[str], longer: Sequence[str]) -> int | None:
    """The axis that a longer shape has and a shape lacks; None if that is not the difference."""
    for axis in range(len(longer)):
        if (*longer[:axis], *longer[axis + 1 :]) == tuple(shape):
            return axis
    return None


def _reshaped(array: Array, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Values of an array, in another order, as one of another shape."""
    return np.resize(rng.permutation(array.reshape(-1)), shape)
