"""Directions along which a batch of symmetric matrices stays symmetric, and Hermitian ones so.

A function of symmetric matrices may read one triangle only. What its output does along such
directions is then all that is meant: the derivative by one entry is that of a matrix that is not
symmetric.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradtool.verify.oracle.steps import epsilon, scales
from gradtool.verify.protocol.coordinates import FloatArray, is_continuous, real_view
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import signed


class _Column(NamedTuple):
    """The coordinates that move along a direction, in order, by how much, and its reach."""

    places: NDArray[np.intp]
    moves: FloatArray
    reach: float


class SymmetricDirections:
    """Directions of an array's coordinates, in columns, along which it stays symmetric."""

    def __init__(self, columns: Sequence[_Column], size: int) -> None:
        self._columns = columns
        self._places = np.concatenate([each.places for each in columns])
        self._moves = np.concatenate([each.moves for each in columns])
        self._starts = np.cumsum([0, *(len(each.places) for each in columns[:-1])])
        self.shape = (size, len(columns))

    def part(self, number: int, part: slice) -> FloatArray:
        """Some entries of one direction."""
        places, moves, _ = self._columns[number]
        entries = np.zeros(part.stop - part.start)
        first, stop = np.searchsorted(places, [part.start, part.stop])
        entries[places[first:stop] - part.start] = moves[first:stop]
        return entries

    def reach(self, number: int) -> float:
        """Return the distance at which a first coordinate has moved by its scale."""
        return self._columns[number].reach

    def products(self, vector: FloatArray) -> FloatArray:
        """The inner product of each with `vector`."""
        return np.asarray(np.add.reduceat(vector[self._places] * self._moves, self._starts))

    def combined(self, weights: FloatArray) -> FloatArray:
        """The sum of all, each with its weight."""
        total = np.zeros(self.shape[0])
        for each, weight in zip(self._columns, weights, strict=True):
            total[each.places] += weight * each.moves
        return total


def all_directions(primal: Array) -> SymmetricDirections:
    """A direction for each entry of the diagonals, and each part of an entry and its mirror."""
    lengths = scales(primal)
    return SymmetricDirections(
        [
            _Column(places, signs, float(lengths[places].max()))
            for places, signs in _entries_with_mirrors(primal)
        ],
        lengths.size,
    )


def random_directions(primal: Array, rng: np.random.Generator, count: int) -> SymmetricDirections:
    """A few random directions, none of whose entries is near zero."""
    lengths = real_view(mirrored(_filled(primal, scales(primal))))
    columns = []
    for _ in range(count):
        vector = real_view(mirrored(_filled(primal, signed(rng, lengths.size))))
        norm = float(np.sqrt(np.sum(vector**2)))
        reach = norm / float(np.abs(vector).max())
        moves = np.copysign(lengths, 1.0) * vector / norm
        columns.append(_Column(np.arange(lengths.size), np.asarray(moves), reach))
    return SymmetricDirections(columns, lengths.size)


def count_of_directions(primal: Array) -> int:
    """The number of `all_directions`."""
    parts, n = 2 if primal.dtype.kind == "c" else 1, primal.shape[-1]
    return int(primal.size // (n * n) * (n + parts * n * (n - 1) // 2))


def is_symmetric(primal: Array) -> bool:
    """Return True for matrices of at least two rows that equal their conjugate transposes.

    What the product of a matrix with its own transpose may round is no difference.
    """
    is_square = primal.ndim >= 2 and primal.shape[-1] == primal.shape[-2] >= 2 and primal.size > 0
    if not is_square or not is_continuous(primal.dtype) or not np.isfinite(primal).all():
        return False
    rounding = primal.shape[-1] * epsilon(primal.dtype) * np.abs(primal).max()
    return bool((np.abs(primal - primal.swapaxes(-1, -2).conj()) <= rounding).all())


def mirrored(matrices: Array) -> Array:
    """The matrices with their lower triangles in place of the upper ones too."""
    lower = np.tril(matrices, -1)
    diagonal = np.tril(np.triu(matrices)).real
    return np.asarray(lower + diagonal + lower.swapaxes(-1, -2).conj(), matrices.dtype, order="C")


def _filled(primal: Array, values: FloatArray) -> Array:
    """An array like `primal`, in double precision, with these coordinates."""
    filled = np.empty(primal.shape, np.result_type(primal.dtype, np.float64))
    real_view(filled)[:] = values
    return filled


def _entries_with_mirrors(primal: Array) -> list[tuple[NDArray[np.intp], FloatArray]]:
    """The coordinates of each entry of a lower triangle and its mirror, and the signs of both."""
    parts, n = 2 if primal.dtype.kind == "c" else 1, primal.shape[-1]
    found = []
    for start in range(0, primal.size, n * n):
        for row in range(n):
            for column in range(row + 1):
                entry, mirror = start + column * n + row, start + row * n + column
                found.extend(_pairs(entry, mirror, parts))
    return found


def _pairs(entry: int, mirror: int, parts: int) -> list[tuple[NDArray[np.intp], FloatArray]]:
    if entry == mirror:
        return [(np.array([parts * entry]), np.ones(1))]
    signs = np.array([[1.0, 1.0], [1.0, -1.0]])  # The imaginary part of a mirror is opposite.
    places = np.array([entry, mirror]) * parts
    return [(places + part, signs[part]) for part in range(parts)]
