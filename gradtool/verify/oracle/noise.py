"""The noise floor: the jitter of a function's outputs that its inputs do not cause.

Rounding to the output's dtype is the least of it. A function may compute in float32 and return
float64, subtract numbers that nearly cancel, or stop an iteration early; then the jitter is far
larger, and a step chosen in ignorance of it measures nothing else. The jitter is measured: at
points so close together that any smooth function is a low polynomial there, high-order differences
vanish and leave only noise. Reference: J. J. Moré and S. M. Wild, "Estimating computational
noise", SIAM J. Sci. Comput. 33 (2011).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import msgspec
import numpy as np

from gradtool.measure.summary import quantile
from gradtool.verify.oracle.sampler import Sampler
from gradtool.verify.oracle.steps import epsilon, scales_given_typical, typical_scale
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray, is_continuous, real_view
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import parts
from gradtool.verify.thresholds.noise import (
    NOISE_CLEARANCE,
    NOISE_COARSE_SPACING,
    NOISE_DIFFERENCE_ORDER,
    NOISE_ELSEWHERE_SPACING,
    NOISE_LOOK_RANK,
    NOISE_LOOKS_RATIO,
    NOISE_MOST_COORDINATES,
    NOISE_POINTS,
    NOISE_SAFETY,
    NOISE_SHARED_QUANTILE,
    NOISE_SPACINGS,
    NOISE_VARIANCE_FACTOR,
    OUTPUT_ROUNDINGS,
    PLAIN_NOISE_ROUNDINGS,
    WIDE_SCALE_RATIO,
)

_DIFFERENCES = np.diff(np.eye(NOISE_POINTS), NOISE_DIFFERENCE_ORDER, axis=0)
"""Takes the values at the points of a look, from which the first is taken off, to differences."""


class Noise(msgspec.Struct, frozen=True):
    """A bound on the jitter of each output: `floor` near the base, `relative` to its size.

    `constant_nearby` says which outputs do not move at all over a distance of a few millionths.
    """

    floor: FloatArray
    relative: FloatArray
    constant_nearby: BoolArray

    def at(self, size: FloatArray) -> FloatArray:
        """The bound where the outputs have this size."""
        return np.fmax(self.floor, self.relative * size)

    def is_plain(self, base: FloatArray) -> BoolArray:
        """Flag outputs with no more noise than the rounding of a number of their size.

        An output that jitters more and yet rests when an input moves may move in steps.
        """
        return np.asarray(self.floor <= PLAIN_NOISE_ROUNDINGS * self.relative * np.abs(base))


def measure(
    sampler: Sampler,
    eps: FloatArray,
    rng: np.random.Generator,
    moved: Collection[int] | None = None,
) -> Noise:
    """The noise of each output of `sampler`, whose own precisions are `eps`.

    The larger of two: rounding to the output's precision, and what is measured as primals move:
    those at the positions `moved`, or all. What is constant may not fit others once it has moved,
    as two weights that have to add up to the same.
    """
    size = np.nan_to_num(np.abs(sampler.base), posinf=0.0)
    rounding = OUTPUT_ROUNDINGS * eps * size
    with np.errstate(all="ignore"):
        directions = [
            direction if moved is None or at in moved else None
            for at, direction in enumerate(_direction(each, rng) for each in sampler.primals)
        ]
        measured, constant_nearby = _measured(sampler, directions)
        # Steps of float16 or of a table are wider than the usual spacings, and look exact between
        # them.
        if constant_nearby.any():
            coarse, _ = _looks(sampler, directions, NOISE_COARSE_SPACING)
            measured = np.where(constant_nearby, coarse[NOISE_LOOK_RANK], measured)
        if (measured > PLAIN_NOISE_ROUNDINGS * rounding).any() and any(
            map(_is_wide, sampler.primals)
        ):
            # The lesser: moving a coordinate too far can only make noise look larger than it is.
            measured = np.fmin(measured, _at_own_scales(sampler, directions))
        shared = _shared(measured, size, sampler.blocks)
    return Noise(
        np.max([rounding, measured, shared], axis=0), OUTPUT_ROUNDINGS * eps, constant_nearby
    )


def _shared(measured: FloatArray, size: FloatArray, blocks: Sequence[slice]) -> FloatArray:
    """Return the noise of each entry that the others of its output suggest."""
    shared = np.zeros_like(size)
    for block in blocks:
        ratios = (measured[block] / size[block])[size[block] > 0]
        shared[block] = (_shared_ratio(ratios) if ratios.size else 0.0) * size[block]
    return shared


def _shared_ratio(ratios: FloatArray) -> float:
    # `np.quantile` imports `numpy.ma`, in each worker anew.
    ordered = np.sort(ratios).tolist()
    return math.nan if math.isnan(ordered[-1]) else quantile(ordered, NOISE_SHARED_QUANTILE)


def _is_wide(primal: Array) -> bool:
    """Return True if some coordinate is far smaller than others, whose scale is not its own."""
    if not is_continuous(primal.dtype) or not 0 < primal.size <= NOISE_MOST_COORDINATES:
        return False
    size = np.abs(real_view(np.ascontiguousarray(primal)))
    return bool((size[size > 0] * WIDE_SCALE_RATIO < size.max()).any())


def _at_own_scales(sampler: Sampler, directions: Sequence[Array | None]) -> FloatArray:
    """The noise of each output where no coordinate moves by more than its own scale allows.

    Next to larger ones a small coordinate may have been moved so far that a smooth function of
    it is no low polynomial any more. An output that rests now shows nothing: infinity.
    """
    own = [
        direction if direction is None else _shortened(direction, primal)
        for direction, primal in zip(directions, sampler.primals, strict=True)
    ]
    found, constant_nearby = _measured(sampler, own)
    return np.where(constant_nearby, np.inf, found)


def _measured(sampler: Sampler, directions: Sequence[Array | None]) -> tuple[FloatArray, BoolArray]:
    """Return the noise of each output, and flags of those that never moved.

    Where half of the looks are quiet and half are not, noise may be hidden from the first or a kink
    be in the others. Looks from elsewhere decide.
    """
    looks, constant_nearby = _looks(sampler, directions, 1.0)
    measured, louder = looks[NOISE_LOOK_RANK], looks[NOISE_LOOK_RANK + 1]
    inconsistent = louder > NOISE_LOOKS_RATIO * measured
    if inconsistent.any() and sampler.size <= NOISE_MOST_COORDINATES:
        elsewhere, _ = _looks(sampler, directions, NOISE_ELSEWHERE_SPACING)
        confirmed = np.fmax(measured, np.fmin(louder, elsewhere[NOISE_LOOK_RANK]))
        measured = np.where(inconsistent, confirmed, measured)
    return measured, constant_nearby


def _shortened(direction: Array, primal: Array) -> Array:
    coordinates = np.abs(real_view(np.ascontiguousarray(primal))).astype(np.float64)
    typical = typical_scale(coordinates)
    # A zero may be as small as the smallest other coordinate.
    own_scale = np.where(
        coordinates > 0, coordinates, coordinates[coordinates > 0].min(initial=typical)
    )
    part = own_scale / np.maximum(coordinates, typical)
    own = direction.copy()
    flat = real_view(own)
    flat *= part
    return own


def _direction(primal: Array, rng: np.random.Generator) -> Array | None:
    """A signed direction of the size of the primal, so irregular that no step is exact."""
    if not is_continuous(primal.dtype) or not primal.size:
        return None
    # In low precision the spacings would round to nothing, and all points be the same one.
    stretch = max(1.0, 8 * epsilon(primal.dtype) / min(np.abs(NOISE_SPACINGS)))
    coordinates = real_view(np.ascontiguousarray(primal))
    typical = typical_scale(coordinates)
    # At least float64: half precision would round the direction to a few values.
    direction = np.empty(primal.shape, np.result_type(primal.dtype, np.float64))
    flat = real_view(direction)
    for part in parts(flat.size):
        length = scales_given_typical(coordinates[part], typical) * stretch
        sign = rng.choice([-1.0, 1.0], length.shape)
        flat[part] = length * rng.uniform(0.6, 1.0, length.shape) * sign
    return direction


def _looks(
    sampler: Sampler, directions: Sequence[Array | None], coarseness: float
) -> tuple[FloatArray, BoolArray]:
    """Return the noise of each output in several looks, the quietest first, and if it moved at all.

    The points of a look lie on one side of the base, as far apart as its spacing.
    """
    distances = [
        (NOISE_CLEARANCE + k) * coarseness * s for s in NOISE_SPACINGS for k in range(NOISE_POINTS)
    ]
    values = np.array(list(sampler.at_moved(directions, distances)))
    values = values.reshape(len(NOISE_SPACINGS), NOISE_POINTS, sampler.size)
    # Differences do not see a constant, but a large one would cost their digits. The copy, because
    # the subtraction overwrites the column it reads.
    values -= values[:, :1].copy()
    remainders = _DIFFERENCES @ values
    noise = NOISE_SAFETY * np.sqrt(NOISE_VARIANCE_FACTOR * np.mean(remainders**2, axis=1))
    constant_nearby = np.asarray(~values.any(axis=(0, 1)))
    return np.nan_to_num(np.sort(noise, axis=0), nan=0.0, posinf=0.0), constant_nearby
