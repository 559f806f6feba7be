"""Excuses of a backward that raises at a variant which forward accepts."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.collect.checkable import Checkable
from gradtool.explore.point import Growth, Point, Variant
from gradtool.explore.reading.source import ignores_rest
from gradtool.explore.reading.wording import wording
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.observation import Array, Observation

Shape = tuple[int, ...]

_MOST_REPEATS = 8
"""Extents that are tried in place of one."""

_ROUNDINGS = 16
"""Roundings of the largest entry of a gradient that may be left where it should be zero."""


def raises_by_mistake(
    checkable: Checkable,
    variant: Variant,
    seen: Observation,
    error: Exception,
    exact: Mapping[int, Array | None],
    at_case: Mapping[int, Array | None],
) -> bool:
    """Return True if backward has no excuse to raise where forward does not.

    `exact` are the exact gradients that are wanted, by position; `at_case` are those of the case.
    """
    if variant.may_raise or _is_deliberate(checkable, error) or _asks_of_what_is_left(error):
        return False
    if wording(checkable.obj).drops_rest or ignores_rest(checkable.obj):
        return True
    if variant.growth is not None and variant.growth.after == 1 and _is_from_the_end(error):
        return False
    may_ignore = variant.growth is not None or variant.names_extents
    if may_ignore and any(_has_ignored_part(each, at_case.get(at)) for at, each in exact.items()):
        return False
    return variant.growth is None or _follows(checkable, variant.growth, seen)


def _is_deliberate(checkable: Checkable, error: Exception) -> bool:
    """Return True for an error that the code of the Function raises by itself."""
    if isinstance(error, NotImplementedError | AssertionError):
        return True
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or frames[-1].filename != inspect.getsourcefile(checkable.obj):
        return False
    return (frames[-1].line or "").startswith("raise ")


def _is_from_the_end(error: Exception) -> bool:
    """Return True where an index is negative, as that of the last but one of one entry is.

    Forward reads the only entry by it; what adds to the entries of a tensor does not take it.
    """
    return isinstance(error, IndexError) and str(error).startswith("index out of range in self")


def _asks_of_what_is_left(error: Exception) -> bool:
    """Return True where backward asks whether an argument needs a gradient that was not passed.

    Callers that pass None instead never see that error.
    """
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, IndexError) and "needs_input_grad[" in (frames[-1].line or "")


def _follows(checkable: Checkable, growth: Growth, seen: Observation) -> bool:
    """Return True if the outputs grow with the extent as they do from the case to its double.

    Where an extent has to be a multiple of something and is none, broadcasting or a slice that
    ends early may let forward return something nevertheless.
    """
    found = [None if output is None else output.shape for output in seen.outputs]
    try:
        case = _output_shapes(checkable, growth.case)
    except Exception:  # A later call of the user's forward may raise.
        return False
    if growth.is_of_part and not _shows_both(growth, case, found):
        return False
    try:
        doubled = _output_shapes(checkable, growth.doubled)
    except Exception:  # As it may where another argument has to fit the extent.
        return _is_proportional(case, found, Fraction(growth.after, growth.before))
    if len({len(case), len(doubled), len(found)}) > 1:
        return False
    part = Fraction(growth.after - growth.before, growth.before)
    return all(map(partial(_is_on_line, part), case, doubled, found))


def _shows_both(
    growth: Growth, case: Sequence[Shape | None], found: Sequence[Shape | None]
) -> bool:
    """Return True unless outputs have the longer extent only, or none that has changed.

    What forward joins, or pairs, depends on both; what it pads or cuts off fits the one.
    """
    extents = {extent for shape in found if shape for extent in shape}
    return case != found and (growth.after not in extents or growth.before in extents)


def _is_proportional(
    case: Sequence[Shape | None], found: Sequence[Shape | None], ratio: Fraction
) -> bool:
    """Return True if some extent of the outputs has grown by `ratio`, and all others are equal."""
    if [each and len(each) for each in case] != [each and len(each) for each in found]:
        return False
    pairs = [
        pair
        for one, other in zip(case, found, strict=True)
        for pair in zip(one or (), other or (), strict=True)
    ]
    has_grown = any(after == before * ratio != before for before, after in pairs)
    return has_grown and all(after in (before, before * ratio) for before, after in pairs)


def _is_on_line(part: Fraction, one: Shape | None, two: Shape | None, found: Shape | None) -> bool:
    """Return True if each extent of `found` has made `part` of the way from `one` to `two`."""
    if one is None or two is None or found is None:
        return one is two is found
    if not len(one) == len(two) == len(found):
        return False
    return all(c == a + (b - a) * part for a, b, c in zip(one, two, found, strict=True))


def is_lost_in_broadcasting(
    found: Array | None, exact: Array | None, at_case: Array | None
) -> bool:
    """Return True if a gradient is right but in slices that forward ignores, and not at the case.

    Where an extent of another argument has become one, forward may broadcast it against an axis
    that it does not belong to, and drop the rest.
    """
    if found is None or exact is None or at_case is None or found.shape != exact.shape:
        return False
    if not exact.any():
        return False
    ignored = _ignored_axes(exact) - _ignored_axes(at_case)
    return any(
        np.allclose(found.compress(counts, axis), exact.compress(counts, axis))
        for axis, counts in ((axis, _counts(exact, axis)) for axis in ignored)
    )


def _has_ignored_part(exact: Array | None, at_case: Array | None) -> bool:
    """Return True if a slice has no influence, along an axis of which the case needs all slices.

    Forward may have left it out, as it has where a longer axis has no more slices that count.
    """
    if exact is None:
        return True
    if not _ignored_axes(exact) <= _ignored_axes(at_case):
        return True
    if at_case is None or at_case.ndim != exact.ndim:
        return False
    return any(
        exact.shape[axis] > at_case.shape[axis]
        and _counts(exact, axis).sum() <= _counts(at_case, axis).sum()
        for axis in _ignored_axes(exact)
    )


def _ignored_axes(exact: Array | None) -> set[int]:
    """The axes along which some slice has no influence."""
    if exact is None:
        return set()
    return {axis for axis in range(exact.ndim) if not _counts(exact, axis).all()}


def _counts(exact: Array, axis: int) -> Array:
    """Flags of the slices along an axis that have an influence, but for roundings."""
    sizes = np.abs(np.moveaxis(exact, axis, 0).reshape(exact.shape[axis], -1))
    negligible = _ROUNDINGS * epsilon(exact.dtype) * sizes.max(initial=0.0)
    return np.asarray((sizes > negligible).any(axis=1))


def is_broadcast_otherwise(checkable: Checkable, point: Point, shapes: Mapping[int, Shape]) -> bool:
    """Return True if forward gives another result where axes that became one are repeated.

    They are then not broadcast against those of other tensors, which are as long in the case, of
    which `shapes` are by position. What is an axis of one by its meaning is.
    """
    repeated = {
        at: np.broadcast_to(array, _as_in_partners(point, at, shapes))
        for at, array in point.continuous()
    }
    changed = {
        at: array.copy() for at, array in repeated.items() if array.shape != point.values[at].shape
    }
    return bool(changed) and not has_same_outputs(
        checkable, point, point.having(changed), are_same=_are_close
    )


def is_shaped_otherwise(
    point: Point, seen: Observation, shapes: Mapping[int, Shape], of_outputs: Sequence[Shape | None]
) -> bool:
    """Return True if an output with the shape of an argument has another one, and a new extent.

    A slice that ends early and is then broadcast makes it so, where forward does not check what
    it is given.

    Args:
        point: The arguments.
        seen: What forward returned.
        shapes: Those of the tensors at the case, by position.
        of_outputs: Those of the outputs at the case.
    """
    extents = {extent for _, array in point.arrays() for extent in array.shape}
    return any(
        output is not None
        and before == shapes.get(at)
        and output.shape != array.shape
        and not extents.issuperset(output.shape)
        for output, before in zip(seen.outputs, of_outputs, strict=False)
        for at, array in point.continuous()
        if before
    )


def is_broadcast_inside(checkable: Checkable, point: Point, shapes: Mapping[int, Shape]) -> bool:
    """Return True if an axis that became one is broadcast against something that forward computes.

    Forward then accepts one other extent with equal entries, as the number of frequencies that a
    transform has, and gives the same. What it averages over may have any extent.
    """
    for at, array in point.continuous():
        before = shapes.get(at, ())
        for axis, old in enumerate(before if len(before) == array.ndim else ()):
            is_alone = array.shape[axis] == 1 < old
            if is_alone and not any(_partners(point, at, axis - array.ndim, shapes)):
                repeated = (array.repeat(n, axis) for n in range(2, min(old, _MOST_REPEATS) + 2))
                same = [
                    has_same_outputs(checkable, point, point.having({at: each}), _are_close)
                    for each in repeated
                ]
                if same.count(True) == 1 < len(same):
                    return True
    return False


def _as_in_partners(point: Point, at: int, shapes: Mapping[int, Shape]) -> Shape:
    """The shape of a tensor with the extents of its partners along axes that became one."""
    array, before = point.values[at], shapes.get(at, ())
    if len(before) != array.ndim:
        return tuple(array.shape)
    return tuple(
        max([1, *_partners(point, at, axis - array.ndim, shapes)]) if extent == 1 < old else extent
        for axis, (extent, old) in enumerate(zip(array.shape, before, strict=True))
    )


def _partners(
    point: Point, at: int, from_the_end: int, shapes: Mapping[int, Shape]
) -> Iterator[int]:
    """The extents of axes at the same place from the end, which were as long in the case."""
    old = shapes[at][from_the_end]
    for each, other in point.continuous():
        before = shapes.get(each, ())
        if (
            each != at
            and len(before) == other.ndim >= -from_the_end
            and before[from_the_end] == old
        ):
            yield other.shape[from_the_end]


def _are_close(one: Array, other: Array) -> bool:
    """Return True for two outputs that are the same but for roundings."""
    return one.shape == other.shape and np.allclose(one, other, 1e-6)


def _output_shapes(checkable: Checkable, point: Point) -> list[Shape | None]:
    return [None if out is None else out.shape for out in outputs_at(checkable, point)]


def has_same_outputs(
    checkable: Checkable,
    one: Point,
    other: Point,
    are_same: Callable[[Array, Array], bool] = np.array_equal,
) -> bool:
    """Return True if forward gives the same at two points; False where it raises."""
    try:
        found = [outputs_at(checkable, each) for each in (one, other)]
    except Exception:  # The user's forward may raise anything.
        return False
    return all(
        a is b is None or (a is not None and b is not None and are_same(a, b))
        for a, b in zip(*found, strict=False)
    )


def outputs_at(checkable: Checkable, point: Point) -> Sequence[Array | None]:
    """The outputs of forward at a point. Raises what the user's code raises."""
    function = function_at(checkable, point)
    return function.evaluate(function.primals)


def function_at(checkable: Checkable, point: Point) -> FunctionDifferentiable:
    """The Function with the arguments of a point."""
    args, kwargs = point.call()
    return FunctionDifferentiable(checkable.obj, args, kwargs, name=checkable.name)
