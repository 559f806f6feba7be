"""Random cotangents, directions and points: signed, seeded, and never near zero.

An all-ones cotangent hides a softmax whose backward is zero; a non-negative one hides
``abs(grad_output)``; an entry near zero hides the column it belongs to.

`Functionals` and `Directions` are a few such vectors over very many coordinates, for the rows and
columns of a Jacobian that has too many. They are kept as int16 and worked on in parts, so that no
more than one of them is ever held in full.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any
from zlib import crc32

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from gradtool.verify.oracle.steps import epsilon, scales, scales_given_typical, typical_scale
from gradtool.verify.protocol.coordinates import FloatArray, is_continuous, real_view
from gradtool.verify.protocol.observation import Array
from gradtool.verify.thresholds.effort import PART_COORDINATES
from gradtool.verify.thresholds.noise import REROUNDED_DIGITS
from gradtool.verify.thresholds.steps import RANDOM_GRAIN, RANDOM_LARGEST, RANDOM_SMALLEST

_SIGNS = np.array([-1.0, 1.0])


def generator(seed: int, purpose: str) -> np.random.Generator:
    """A generator of its own for each purpose, so that asking one rule changes no other's data."""
    start: Any = _start(seed, purpose)  # NumPy's stubs leave out what is not its own.
    return np.random.Generator(np.random.PCG64(start))


class _Start(ISeedSequence):
    """The words that a generator starts from; to mix them takes longer than all else."""

    def __init__(self, sequence: np.random.SeedSequence) -> None:
        self._words = cache(sequence.generate_state)

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        """So many words; each call gives the same array."""
        return self._words(n_words, dtype)


@lru_cache(maxsize=256)
def _start(seed: int, purpose: str) -> _Start:
    # crc32 rather than hash(), which differs from process to process.
    return _Start(np.random.SeedSequence([seed, crc32(purpose.encode())]))


def signed(rng: np.random.Generator, shape: int | tuple[int, ...]) -> FloatArray:
    """Numbers of random sign whose size lies between a half and three halves.

    They have so few digits that every floating dtype holds them exactly.
    """
    size = np.rint(rng.uniform(RANDOM_SMALLEST, RANDOM_LARGEST, shape) * RANDOM_GRAIN)
    size /= RANDOM_GRAIN
    return np.asarray(size * _SIGNS[rng.integers(0, 2, shape)])


def shifted(primals: Sequence[Array], part: float, rng: np.random.Generator) -> list[Array]:
    """A point near `primals`: each continuous entry moved by up to `part` of its scale."""
    return [_shift(primal, part, rng) for primal in primals]


def rounded_differently(
    primals: Sequence[Array], inputs: Collection[int], rng: np.random.Generator
) -> list[Array]:
    """`primals` with each continuous entry of `inputs` changed by a few of its last digits.

    Constants stay: equal ones, or a sum of one, may be what a forward insists on.
    """
    return [_reround(each, rng) if at in inputs else each for at, each in enumerate(primals)]


def _reround(primal: Array, rng: np.random.Generator) -> Array:
    # Contiguous, so that `real_view` is a view of it.
    changed = np.array(primal, order="C")
    if is_continuous(primal.dtype):
        flat = real_view(changed)
        flat *= (1 + REROUNDED_DIGITS * epsilon(primal.dtype) * signed(rng, flat.shape)).astype(
            flat.dtype
        )
    return changed


def _shift(primal: Array, part: float, rng: np.random.Generator) -> Array:
    moved = np.array(primal, order="C")
    if is_continuous(primal.dtype) and primal.size:
        flat = real_view(moved)
        moves = part / RANDOM_LARGEST * signed(rng, flat.shape) * scales(moved)
        flat += _inward(flat, moves).astype(flat.dtype)
    return moved


def _inward(values: FloatArray, moves: FloatArray) -> FloatArray:
    """Let entries at the ends of [0, 1] or [-1, 1] move inward, where all lie between these."""
    least, largest = values.min(), values.max()
    if largest != 1 or (least < 0 and least != -1):
        return moves
    sizes = np.abs(moves)
    moves = np.where(values == 1, -sizes, moves)
    return np.where(values == least, sizes, moves) if least in (0, -1) else moves


class Functionals:
    """`count` random signed vectors of `size` entries between a half and three halves in size."""

    def __init__(self, rng: np.random.Generator, count: int, size: int) -> None:
        # Whole multiples of a grain fit in 16 bits, a quarter of float64: there may be very many
        # entries.
        self._grains = np.empty((count, size), np.int16)
        for row in self._grains:
            for part in parts(size):
                row[part] = signed(rng, part.stop - part.start) * RANDOM_GRAIN

    def replace(self, number: int, vector: FloatArray) -> None:
        """Put a vector that `signed` has drawn in the place of one of them."""
        self._grains[number] = vector * RANDOM_GRAIN

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
        # Without np.abs, which would make a copy of the row.
        return max(int(row.max(initial=0)), -int(row.min(initial=0))) / RANDOM_GRAIN

    def of(self, vector: FloatArray) -> FloatArray:
        """The inner product of each of them with `vector`."""
        if self.size <= PART_COORDINATES:
            with np.errstate(invalid="ignore"):
                return np.asarray((self._grains / RANDOM_GRAIN) @ vector)
        total = np.zeros(len(self))
        with np.errstate(invalid="ignore"):  # Infinite entries cancel to NaN.
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
        return np.asarray(unit * scales_given_typical(self._coordinates[part], self._typical))

    def reach(self, number: int) -> float:
        """Return the distance at which a first coordinate has moved by its scale."""
        return float(self._norms[number] / self._vectors.largest(number))

    def products(self, vector: FloatArray) -> FloatArray:
        """The inner product of each with `vector`."""
        total = np.zeros(self.shape[1])
        for part in parts(self.shape[0]):
            scaled = vector[part] * scales_given_typical(self._coordinates[part], self._typical)
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
