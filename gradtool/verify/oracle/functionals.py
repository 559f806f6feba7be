"""A few random signed vectors over very many coordinates, kept in a quarter of the memory.

They stand for the rows of a Jacobian that has too many, or for the directions that stand for
its columns. Each entry is a whole number of 256ths; what is computed with it is computed in
parts, so that no more than one of the vectors is ever held in full.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradtool.verify.oracle.steps import scales_beside, typical_scale
from gradtool.verify.protocol.coordinates import FloatArray, real_view
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import signed
from gradtool.verify.thresholds.effort import PART_COORDINATES
from gradtool.verify.thresholds.steps import RANDOM_GRAIN


class Functionals:
    """`count` random signed vectors of `size` entries between a half and three halves in size."""

    def __init__(self, rng: np.random.Generator, count: int, size: int) -> None:
        self._grains = np.empty((count, size), np.int16)
        for row in self._grains:
            for part in parts(size):
                row[part] = signed(rng, part.stop - part.start) * RANDOM_GRAIN

    def __len__(self) -> int:
        return len(self._grains)

    @property
    def size(self) -> int:
        """The number of entries of each vector."""
        return self._grains.shape[1]

    def __getitem__(self, number: int) -> FloatArray:
        return np.asarray(self._grains[number] / RANDOM_GRAIN)

    def __iter__(self) -> Iterator[FloatArray]:
        return (self[number] for number in range(len(self)))

    def part(self, number: int, part: slice) -> FloatArray:
        """Some entries of one of them."""
        return np.asarray(self._grains[number, part] / RANDOM_GRAIN)

    def norms(self) -> FloatArray:
        """The Euclidean norm of each."""
        squares = [
            [float(np.sum(self.part(n, part) ** 2)) for part in parts(self.size)]
            for n in range(len(self))
        ]
        return np.asarray(np.sqrt(np.sum(squares, axis=1)))

    def largest(self, number: int) -> float:
        """The size of the largest entry of one of them."""
        row = self._grains[number]
        return max(int(row.max(initial=0)), -int(row.min(initial=0))) / RANDOM_GRAIN

    def of(self, vector: FloatArray) -> FloatArray:
        """The inner product of each of them with `vector`."""
        total = np.zeros(len(self))
        for part in parts(self.size):
            total += (self._grains[:, part] / RANDOM_GRAIN) @ vector[part]
        return total


class Directions:
    """Random directions of an array's coordinates, in columns.

    Each is a vector of norm one, none of whose entries is smaller than a third of the largest,
    times the coordinates' scales.
    """

    def __init__(self, rng: np.random.Generator, primal: Array, count: int) -> None:
        self._coordinates = real_view(np.ascontiguousarray(primal))
        self._typical = typical_scale(self._coordinates)
        self._vectors = Functionals(rng, count, self._coordinates.size)
        self._norms = self._vectors.norms()
        self.shape = (self._coordinates.size, count)

    def part(self, number: int, part: slice) -> FloatArray:
        """Some entries of one direction."""
        unit = self._vectors.part(number, part) / self._norms[number]
        return np.asarray(unit * scales_beside(self._coordinates[part], self._typical))

    def reach(self, number: int) -> float:
        """How many times a direction can be gone until the first coordinate has gone its own."""
        return float(self._norms[number] / self._vectors.largest(number))

    def products(self, vector: FloatArray) -> FloatArray:
        """The inner product of each with `vector`."""
        total = np.zeros(self.shape[1])
        for part in parts(self.shape[0]):
            scaled = vector[part] * scales_beside(self._coordinates[part], self._typical)
            total += [self._vectors.part(n, part) @ scaled for n in range(self.shape[1])]
        return np.asarray(total / self._norms)

    def combined(self, weights: FloatArray) -> FloatArray:
        """The sum of all, each with its weight."""
        total = np.zeros(self.shape[0])
        for number, weight in enumerate(weights):
            for part in parts(self.shape[0]):
                total[part] += weight * self.part(number, part)
        return total


def parts(size: int) -> list[slice]:
    """Slices that together are `size`, each small."""
    return [
        slice(start, min(start + PART_COORDINATES, size))
        for start in range(0, size, PART_COORDINATES)
    ]
