"""Functions of symmetric matrices that read one triangle only, as LAPACK does.

Their derivative by a single entry is zero in the other triangle, and twice the usual one in that
which they read. Neither is what a gradient of symmetric matrices is meant to be, so it is compared
along changes that keep the matrices symmetric.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from gradtool.verify.comparison.derivatives import Derivatives
from gradtool.verify.oracle.sampler import Sampler
from gradtool.verify.oracle.steps import scales
from gradtool.verify.oracle.symmetric_directions import is_symmetric
from gradtool.verify.protocol.coordinates import real_view
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, signed
from gradtool.verify.thresholds.comparison import TRIANGLE_LOOKS


def read_by_triangle(at: Derivatives, arguments: Collection[int]) -> frozenset[int]:
    """Return those of `arguments` that are symmetric, and of which one triangle is read."""
    suspects = [each for each in arguments if is_symmetric(at.primals[each])]
    if not suspects or at.forward.failure:
        return frozenset()
    sampler = Sampler(at.function.evaluate, at.primals, at.layout.outputs)
    if not np.isfinite(sampler.base).all():
        return frozenset()
    return frozenset(each for each in suspects if _reads_one(sampler, each, at.seed))


def _reads_one(sampler: Sampler, argument: int, seed: int) -> bool:
    """Return True if the outputs stay the same, to the last bit, as one triangle changes."""
    return _reads(sampler, argument, seed, upper=True) != _reads(
        sampler, argument, seed, upper=False
    )


def _reads(sampler: Sampler, argument: int, seed: int, *, upper: bool) -> bool:
    """Return True if some output changes with a triangle, without its diagonal.

    A forward may refuse a matrix that is not symmetric enough, so only what it accepts counts.
    """
    primal, rng = sampler.primals[argument], generator(seed, f"triangle {upper}")
    side = np.triu(np.ones(primal.shape, bool), 1)
    side = side if upper else side.swapaxes(-1, -2)
    looks = [
        sampler.at(_changed(sampler.primals, argument, side, part, rng)) for part in TRIANGLE_LOOKS
    ]
    accepted = [look for look in looks if not np.isnan(look).all()]
    return not accepted or any(not np.array_equal(look, sampler.base) for look in accepted)


def _changed(
    primals: Sequence[Array],
    argument: int,
    side: Array,
    part: float,
    rng: np.random.Generator,
) -> list[Array]:
    """The point with each entry on one side of an argument moved by part of its scale."""
    change = np.zeros_like(primals[argument])
    flat = real_view(change)
    flat[:] = part * signed(rng, flat.shape) * scales(primals[argument])
    moved = primals[argument] + np.where(side, change, 0)
    return [*primals[:argument], moved, *primals[argument + 1 :]]
