"""Axes of a batch: the slices along them are computed each alone, or in any order.

A scan, a Fourier transform, a sort or a cumulative sum along an axis does neither, so that axis is
no batch, and without any slices its result means little. Taking off a mean does the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, shifted
from gradtool.verify.rules._runs import differing_entries
from gradtool.verify.thresholds.rules import EXAMPLE_SHIFT

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

Axes = frozenset[tuple[int, int]]
"""Axes of some arrays: the number of each array, and that of its axis."""

Arrays = Sequence[Array | None]


def is_of_batch(subject: Subject, axes: Axes, of_outputs: Axes) -> bool:
    """Return True if forward treats slices along an axis each alone, or alike in any order.

    Args:
        subject: The Function at a case.
        axes: The axis, as that of every argument that has it.
        of_outputs: The axis, as that of every output that has it.
    """
    argument, axis = next(iter(axes))
    extent = subject.first.primals[argument].shape[axis]
    outputs = subject.first.forward.outputs
    shapes = {i: each.shape for i, each in enumerate(outputs) if each is not None}
    if any(shapes[i][other] != extent for i, other in of_outputs):
        return False  # As of a window, or of differences.
    return (
        extent == 1
        or all(_is_alone(subject, axes, of_outputs, kept) for kept in (0, extent - 1))
        or _is_unordered(subject, axes, of_outputs, extent)
    )


def _is_alone(subject: Subject, axes: Axes, of_outputs: Axes, kept: int) -> bool:
    """Return True if one slice of the outputs stays when all other slices change."""
    primals = subject.first.primals
    moved = shifted(primals, EXAMPLE_SHIFT, generator(subject.seed, "other slices"))
    point = [moved[i] if any(i == at for at, _ in axes) else p for i, p in enumerate(primals)]
    for i, axis in axes:
        place = (slice(None),) * axis + (kept,)
        point[i][place] = primals[i][place]
    found = _outputs(subject, point)
    before = subject.first.forward.outputs
    return found is not None and _agree(
        _taken(before, of_outputs, [kept]), _taken(found, of_outputs, [kept])
    )


def _is_unordered(subject: Subject, axes: Axes, of_outputs: Axes, extent: int) -> bool:
    """Return True if exchanging the first two slices exchanges those of the outputs."""
    # Circular convolutions and symmetric kernels allow to turn an axis round, or to reverse it.
    order = [1, 0, *range(2, extent)]
    exchanged = dict(zip(_numbers(axes), _taken(subject.first.primals, axes, order), strict=True))
    point = [exchanged.get(i, primal) for i, primal in enumerate(subject.first.primals)]
    found = _outputs(subject, point)
    before = subject.first.forward.outputs
    return found is not None and _agree(
        _taken(before, of_outputs, order),
        [np.asarray(found[i]) for i in _numbers(of_outputs)],
    )


def _outputs(subject: Subject, point: Sequence[Array]) -> Arrays | None:
    """The outputs at another point; None if forward does not take it, or gives other shapes."""
    seen = subject.function.call(point)
    before = subject.first.forward.outputs
    is_same = not seen.failure and _shapes(before) == _shapes(seen.outputs)
    return seen.outputs if is_same else None


def _shapes(arrays: Arrays) -> list[tuple[int, ...] | None]:
    return [None if each is None else each.shape for each in arrays]


def _numbers(axes: Axes) -> list[int]:
    """The arrays that have one of these axes."""
    return sorted({i for i, _ in axes})


def _taken(arrays: Arrays, axes: Axes, chosen: Sequence[int]) -> list[Array]:
    """Some slices of the arrays that have one of these axes."""
    taken = {i: np.asarray(arrays[i]) for i in _numbers(axes)}
    for i, axis in axes:
        taken[i] = taken[i].take(chosen, axis)
    return [*taken.values()]


def _agree(expected: Sequence[Array], found: Sequence[Array]) -> bool:
    pairs = zip(expected, found, strict=True)
    return not any(
        differing_entries(one, other)[0].any() for one, other in pairs if is_continuous(one.dtype)
    )
