"""Random cotangents, directions and points: signed, seeded, and never near zero.

An all-ones cotangent hides a softmax whose backward is zero; a non-negative one hides
``abs(grad_output)``; an entry near zero hides the column it belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from gradtool.verify.oracle.steps import epsilon, scales
from gradtool.verify.protocol.coordinates import FloatArray, is_continuous, real_view
from gradtool.verify.protocol.observation import Array
from gradtool.verify.thresholds.noise import REROUNDED_DIGITS
from gradtool.verify.thresholds.steps import RANDOM_GRAIN, RANDOM_LARGEST, RANDOM_SMALLEST

_SIGNS = np.array([-1.0, 1.0])


def generator(seed: int, purpose: str) -> np.random.Generator:
    """A generator of its own for each purpose, so that asking one rule changes no other's data."""
    return np.random.default_rng([seed, crc32(purpose.encode())])


def signed(rng: np.random.Generator, shape: int | tuple[int, ...]) -> FloatArray:
    """Numbers of random sign whose size lies between a half and three halves.

    They have so few digits that every floating dtype holds them exactly.
    """
    size = (
        np.round(rng.uniform(RANDOM_SMALLEST, RANDOM_LARGEST, shape) * RANDOM_GRAIN) / RANDOM_GRAIN
    )
    return np.asarray(size * _SIGNS[rng.integers(0, 2, shape)])


def unit(rng: np.random.Generator, size: int) -> FloatArray:
    """A signed vector of norm one; no entry is smaller than a third of the largest."""
    vector = signed(rng, size)
    return vector / np.linalg.norm(vector)


def shifted(primals: Sequence[Array], part: float, rng: np.random.Generator) -> list[Array]:
    """A point near `primals`: each continuous entry moved by up to `part` of its scale."""
    return [_shift(primal, part, rng) for primal in primals]


def rounded_differently(primals: Sequence[Array], rng: np.random.Generator) -> list[Array]:
    """`primals` with each continuous entry changed by a few of its last digits."""
    return [_reround(primal, rng) for primal in primals]


def _reround(primal: Array, rng: np.random.Generator) -> Array:
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
        flat += (part / RANDOM_LARGEST * signed(rng, flat.shape) * scales(moved)).astype(flat.dtype)
    return moved
