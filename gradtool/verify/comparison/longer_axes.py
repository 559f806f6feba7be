"""A point whose tensors have longer axes than those of a case.

What explains a wrong gradient by chance, as a half that is a mean over two entries, does not
explain the one at such a point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.differentiable import Differentiable
from gradtool.verify.protocol.observation import Array, Cotangents, Observation
from gradtool.verify.randomness import generator, signed
from gradtool.verify.thresholds.diagnosis import LONGER_AXES_MOST, LONGER_AXES_SHIFT


class LongerPoint(msgspec.Struct, frozen=True):
    """A point with longer axes, and what backward returned there."""

    primals: Sequence[Array]
    cotangents: Cotangents
    gradients: Sequence[Array | None]


def longer_point(
    function: Differentiable, primals: Sequence[Array], seed: int
) -> LongerPoint | None:
    """Return a point at which every axis of several entries is longer.

    By one entry, or where forward does not take that, twice as long. None where it takes neither.
    """
    ways: tuple[Callable[[int], int], ...] = (lambda extent: extent + 1, lambda extent: 2 * extent)
    for longer in ways:
        rng = generator(seed, "longer axes")
        moved = [_with_longer_axes(each, longer, rng) for each in primals]
        if sum(each.size for each in moved) > LONGER_AXES_MOST:
            return None
        found = _looked_at(function, moved, rng)
        if found is not None:
            return found
    return None


def _looked_at(
    function: Differentiable, primals: Sequence[Array], rng: np.random.Generator
) -> LongerPoint | None:
    cotangents: list[Array | None] = []

    def chosen(forward: Observation) -> Cotangents | None:
        if forward.failure or not all(map(_is_finite, forward.outputs)):
            return None
        cotangents.extend(
            _cotangent(output, rng) if output is not None and has_graph else None
            for output, has_graph in zip(forward.outputs, forward.output_requires_grad, strict=True)
        )
        return cotangents

    seen = function.call(primals, chosen)
    if seen.failure or seen.gradients is None or not all(map(_is_finite, seen.gradients)):
        return None
    return LongerPoint(primals, cotangents, seen.gradients)


def _cotangent(output: Array, rng: np.random.Generator) -> Array | None:
    if not is_continuous(output.dtype):
        return None
    drawn = signed(rng, output.shape)
    if output.dtype.kind == "c":
        drawn = drawn + 1j * signed(rng, output.shape)
    return np.asarray(drawn).astype(output.dtype)


def _is_finite(array: Array | None) -> bool:
    return array is None or bool(np.isfinite(array).all())


def _with_longer_axes(
    array: Array, longer: Callable[[int], int], rng: np.random.Generator
) -> Array:
    """An array that begins as another does and goes on in its manner."""
    added = [longer(extent) - extent if extent > 1 else 0 for extent in array.shape]
    if not any(added):
        return array
    widths = [(0, each) for each in added]
    if not is_continuous(array.dtype) or (array == np.round(array)).all():
        # The largest keeps what is sorted so, and is a label rather than a mark of none.
        grown = np.pad(array, widths, mode="wrap" if array.dtype.kind == "c" else "maximum")
        if _is_permutation(array):
            grown[len(array) :] = np.arange(len(array), len(grown))  # A permutation stays one.
        return grown
    grown = np.pad(array, widths, mode="wrap")
    if _is_symmetric(array):
        # Twice the diagonal keeps a matrix of which rows are repeated positive definite.
        at = np.arange(array.shape[-1], grown.shape[-1])
        grown[..., at, at] *= 2
        return grown
    if array.ndim == 1 and (np.diff(array.real) > 0).all():
        step = array[-1] - array[-2]
        grown[len(array) :] = array[-1] + step * np.arange(1, added[0] + 1)
        return grown
    is_new = np.ones(grown.shape, bool)
    is_new[tuple(map(slice, array.shape))] = False
    grown[is_new] *= 1 + LONGER_AXES_SHIFT * rng.uniform(-1, 1, int(is_new.sum()))
    return grown


def _is_symmetric(array: Array) -> bool:
    is_square = array.ndim > 1 and array.shape[-1] == array.shape[-2]
    return is_square and bool((array == np.swapaxes(array, -1, -2)).all())


def _is_permutation(array: Array) -> bool:
    return array.dtype.kind in "iu" and np.array_equal(np.sort(array), np.arange(len(array)))
