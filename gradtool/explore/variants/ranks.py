"""Variants for tests of a tensor's rank or shape: one more axis, or one that is broadcast."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from gradtool.adapters.common.met_shapes import Shape
from gradtool.explore.point import Point, Variant, changed_to
from gradtool.explore.traits import reshaped, traits
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array

NEW = 2
"""Extent of a new axis, unless it is broadcast as well."""


def of_other_shape(test: ast.AST, point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants of the tensors whose rank or shape a test reads.

    Args:
        test: The test of a branch.
        point: The arguments of the case.
        rng: For new entries.
    """
    for at in _named(test, point, ("ndim", "dim")):
        yield from _of_other_rank(point, at, rng)
    of_shape = _named(test, point, ("shape", "size", "numel"))
    for at in of_shape:
        yield from _broadcast(point, at, rng)
        if "len" in {each.id for each in ast.walk(test) if isinstance(each, ast.Name)}:
            yield from _of_other_rank(point, at, rng)
    if not of_shape and _is_about_one(test):
        for at in sorted(point.tracked):
            yield from _along_one_axis(point, at, rng)


def _is_about_one(test: ast.AST) -> bool:
    """Return True for a comparison with 1, as of an extent that is broadcast, not of a result."""
    return any(
        isinstance(node, ast.Compare)
        and not isinstance(node.left, ast.Call)
        and any(isinstance(each, ast.Constant) and each.value == 1 for each in node.comparators)
        for node in ast.walk(test)
    )


def _along_one_axis(point: Point, at: int, rng: np.random.Generator) -> Iterator[Variant]:
    """Variants in which an argument has the rank of the largest one, and is broadcast along axes.

    Entries are those of the case, as many as there are, and smaller ones like them.
    """
    shape = _shape_of_largest(point, at) or ()
    for axis in range(len(shape)):
        yield from _along(point, (at,), shape, {axis}, rng)


def along_some_axes(
    point: Point,
    chosen: Sequence[int],
    rng: np.random.Generator,
    *,
    met: Mapping[int, Shape],
    keeps_last: bool = False,
) -> Iterator[Variant]:
    """Yield variants in which arguments have the rank of what they meet, broadcast along one axis.

    Args:
        point: The arguments of the case.
        chosen: Positions of arguments of one shape.
        rng: For new entries.
        met: By position the shapes that arguments are broadcast to; of others the largest one's.
        keeps_last: Not along the last axis.
    """
    shape = _shape_of_largest(point, chosen[0])
    shape = met.get(chosen[0], shape) if shape is not None else None
    axes = range(len(shape or ()))
    for axis in axes[:-1] if keeps_last else axes:
        for variant in _along(point, chosen, shape or (), set(axes) - {axis}, rng):
            yield replace(variant, may_raise=False)


def below_vmap(point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants in which one of two arguments of the same shape has another rank.

    Under ``vmap``, such arguments are what a batch and an argument without one look like.
    """
    for at in sorted(point.tracked):
        array = point.values[at]
        is_paired = any(
            other.shape == array.shape for each, other in point.continuous() if each != at
        )
        if not is_paired or not array.size or not _is_free(array):
            continue
        wider = with_axis(array, 0, rng)
        for made in [*([array[0]] if array.ndim else []), wider]:
            change = f"`{point.names[at]}` has the shape {list(made.shape)}"
            yield Variant(point.having({at: np.asarray(made)}), change, is_for_batches=True)


def longer_shapes(point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants in which a shape among the arguments, as of a layer norm, has one more axis.

    It is that of the last axes of a tensor. Tensors of that shape, as a weight, get the axis too.
    """
    for at in point.plain:
        shape = point.values[at]
        if not isinstance(shape, tuple | list) or not all(type(each) is int for each in shape):
            continue
        count = len(shape)
        longer = [
            array.shape[-count - 1 :]
            for _, array in point.continuous()
            if 0 < count < array.ndim and array.shape[-count:] == tuple(shape)
        ]
        for new in dict.fromkeys(longer):
            made = {
                each: (np.resize(array, new) * rng.uniform(0.7, 0.98, new)).astype(array.dtype)
                for each, array in point.continuous()
                if array.shape == tuple(shape)
            }
            change = changed_to(point.names[at], type(shape)(new), shape)
            yield Variant(point.having({at: type(shape)(new), **made}), change)


def _shape_of_largest(point: Point, at: int) -> Shape | None:
    """The shape of the largest tensor; None if that is the argument, or its shape must stay."""
    array = point.values[at]
    others = (other for each, other in point.continuous() if each != at)
    largest = max(others, key=lambda other: other.size, default=None)
    if largest is None or not array.size or array.size > largest.size or not _is_free(array):
        return None
    return largest.shape


def _along(
    point: Point,
    chosen: Sequence[int],
    full: Shape,
    axes: Collection[int],
    rng: np.random.Generator,
) -> Iterator[Variant]:
    """The variant of arguments with the extents of a full shape along some axes, else one."""
    shape = tuple(n if each in axes else 1 for each, n in enumerate(full))
    if shape == point.values[chosen[0]].shape:
        return
    made = {}
    for at in chosen:
        drawn = np.resize(point.values[at], shape) * rng.uniform(0.7, 0.98, shape)
        made[at] = drawn.astype(point.values[at].dtype)
    names = " and ".join(f"`{point.names[at]}`" for at in chosen)
    change = f"{names} {'has' if len(chosen) == 1 else 'have'} the shape {list(shape)}"
    yield Variant(point.having(made), change)


def _named(test: ast.AST, point: Point, attributes: tuple[str, ...]) -> list[int]:
    names = {
        node.value.id
        for node in ast.walk(test)
        if isinstance(node, ast.Attribute)
        and node.attr in attributes
        and isinstance(node.value, ast.Name)
    }
    return [at for at, array in point.continuous() if point.names[at] in names and _is_free(array)]


def _is_free(array: Array) -> bool:
    return not any(trait.is_equality for trait in traits(array))


def _of_other_rank(point: Point, at: int, rng: np.random.Generator) -> Iterator[Variant]:
    """Variants with one more axis, last, first or second."""
    array = point.values[at]
    for axis in dict.fromkeys((array.ndim, 0, min(1, array.ndim))):
        alike = [
            each for each, other in point.continuous()
            if other.shape == array.shape and _is_free(other)
        ]  # fmt: skip
        for chosen in dict.fromkeys(((at,), tuple(alike))):
            made = {each: with_axis(point.values[each], axis, rng) for each in chosen}
            shape = list(made[at].shape)
            names = " and ".join(f"`{point.names[each]}`" for each in chosen)
            verb = "has" if len(chosen) == 1 else "have"
            yield Variant(point.having(made), f"{names} {verb} the shape {shape}")


def with_axis(array: Array, axis: int, rng: np.random.Generator, extent: int = NEW) -> Array:
    """The array with a new axis, along which entries are alike but not equal.

    What has to be of a kind, such as a symmetric matrix, is scaled as a whole.
    """
    wider = np.repeat(np.expand_dims(array, axis), extent, axis)
    if not is_continuous(array.dtype):
        return wider
    along = tuple(extent if each == axis else 1 for each in range(wider.ndim))
    scaled = wider.shape if _is_free(array) else along
    return (wider * rng.uniform(0.7, 0.98, scaled)).astype(array.dtype)


def _broadcast(point: Point, at: int, rng: np.random.Generator) -> Iterator[Variant]:
    """Variants with an axis of extent one beside longer ones."""
    array, name = point.values[at], point.names[at]
    for axis, extent in enumerate(array.shape):
        if extent > 1:
            one = np.take(array, [0], axis)
            yield Variant(point.having({at: one}), f"`{name}` has the shape {list(one.shape)}")
            continue
        longer = {
            other: reshaped(model, (*model.shape[:axis], NEW, *model.shape[axis + 1 :]), rng)
            for other, model in point.arrays()
            if other != at and model.ndim > axis and model.shape[axis] == 1
        }
        if longer and all(each is not None for each in longer.values()):
            change = f"axis {axis} of all tensors but `{name}` has extent {NEW}"
            yield Variant(point.having(longer), change)
