"""The noise floor: by how much the outputs of a function jitter without the inputs' doing.

Rounding to the output's dtype is the least of it. A function may compute in float32 and
return float64, subtract numbers that nearly cancel, or stop an iteration early; then the
jitter is far larger, and a step chosen in ignorance of it measures nothing else. The jitter
is measured: at points so close together that any smooth function is a low polynomial there,
high-order differences vanish and leave only noise. Reference: J. J. Moré and S. M. Wild,
"Estimating computational noise", SIAM J. Sci. Comput. 33 (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np

from gradtool.verify.oracle.functionals import parts
from gradtool.verify.oracle.sampler import Sampler
from gradtool.verify.oracle.steps import epsilon, scales_beside, typical_scale
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray, is_continuous, real_view
from gradtool.verify.protocol.differentiable import Array

_POINTS = 10
"""Points of one look; with `_ORDER` differences this leaves four samples of the noise."""

_ORDER = 6
_SPACINGS = tuple(part * 2.0**-22 for part in (0.8, -1.0, 1.2, -1.4))
"""Distances of two points, relative to the inputs' scale: about what float32 can tell apart.

There are several because steps may fall into the pattern of the roundings and hide them. The
sign is the side of the base: a kink close by looks like noise from one side only.
"""

_COARSE = 2.0**11
"""An output that rests at those distances is looked at again this much further out.

It may be constant, or follow its input in steps no finer than those of float16.
"""

_RANK = 1
"""Which of the looks counts, from the quietest: one may be hidden, and two see a kink."""

_APART = 1e3
_ELSEWHERE = 37.0
"""Looks that disagree by the one are borne out by looks the other times as far out."""

_SHARE = 0.25
"""The entries of an output are at least as noisy, relative to their size, as this share of them.

Other outputs tell nothing: a term that nearly cancels in one may stand alone in the other.
"""

_WIDE = 100.0
"""From this ratio of the largest coordinate of an input to another on, scales are told apart."""

_NOT_MANY = 4096
"""Coordinates above which one alone hardly matters."""

_CLEARANCE = 16
"""How many spacings the points stay away from the base, which may be a singular point."""

_DIFFERENCES = np.diff(np.eye(_POINTS), _ORDER, axis=0)
"""Takes the values at the points of a look, from which the first is taken off, to differences."""

_GAMMA = factorial(_ORDER) ** 2 / factorial(2 * _ORDER)
"""Turns the mean square of a difference of this order into the variance of the noise."""

_ROUNDINGS = 2.0
"""Roundings of its last operations that the value of any output carries."""

_PLAIN = 8.0
_SAFETY = 4.0
"""From the standard deviation of few samples to a bound on the noise."""


@dataclass(frozen=True)
class Noise:
    """A bound on the jitter of each output: `floor` near the base, `relative` to its size.

    `rests` says which outputs do not move at all over a distance of a few millionths.
    """

    floor: FloatArray
    relative: FloatArray
    rests: BoolArray

    def at(self, size: FloatArray) -> FloatArray:
        """The bound where the outputs have this size."""
        return np.fmax(self.floor, self.relative * size)

    def is_plain(self, base: FloatArray) -> BoolArray:
        """Whether each output shows no more than the rounding of a number of its size.

        An output that jitters more and yet rests, when an input moves, may move in steps.
        """
        return np.asarray(self.floor <= _PLAIN * self.relative * np.abs(base))


def measure(sampler: Sampler, eps: FloatArray, rng: np.random.Generator) -> Noise:
    """The noise of each output of `sampler`, whose own precisions are `eps`.

    The larger of two: rounding to the output's precision, and what is measured.
    """
    size = np.nan_to_num(np.abs(sampler.base), posinf=0.0)
    rounding = _ROUNDINGS * eps * size
    with np.errstate(all="ignore"):
        directions = [_direction(primal, rng) for primal in sampler.primals]
        measured, rests = _seen(sampler, directions)
        if rests.any():
            coarse, _ = _looks(sampler, directions, _COARSE)
            measured = np.where(rests, coarse[_RANK], measured)
        if (measured > _PLAIN * rounding).any() and any(map(_is_wide, sampler.primals)):
            measured = np.fmin(measured, _nearby(sampler, directions))
        shared = _shared(measured, size, sampler.blocks)
    return Noise(np.max([rounding, measured, shared], axis=0), _ROUNDINGS * eps, rests)


def _shared(measured: FloatArray, size: FloatArray, blocks: Sequence[slice]) -> FloatArray:
    """What the noise of the other entries of its output says of each entry's."""
    shared = np.zeros_like(size)
    for block in blocks:
        ratios = (measured[block] / size[block])[size[block] > 0]
        shared[block] = (float(np.quantile(ratios, _SHARE)) if ratios.size else 0.0) * size[block]
    return shared


def _is_wide(primal: Array) -> bool:
    """Whether some coordinate is far smaller than others: their scale is not its own."""
    if not is_continuous(primal.dtype) or not 0 < primal.size <= _NOT_MANY:
        return False
    size = np.abs(real_view(np.ascontiguousarray(primal)))
    return bool((size[size > 0] * _WIDE < size.max()).any())


def _nearby(sampler: Sampler, directions: Sequence[Array | None]) -> FloatArray:
    """The noise of each output where no coordinate moves by more than its own scale allows.

    Next to larger ones a small coordinate may have been moved so far that a smooth function of
    it is no low polynomial any more. An output that rests now shows nothing: infinity.
    """
    own = [
        direction if direction is None else _shortened(direction, primal)
        for direction, primal in zip(directions, sampler.primals, strict=True)
    ]
    found, rests = _seen(sampler, own)
    return np.where(rests, np.inf, found)


def _seen(sampler: Sampler, directions: Sequence[Array | None]) -> tuple[FloatArray, BoolArray]:
    """The noise of each output, and whether it rested in all looks.

    Where as many looks are quiet as are not, it may be hidden from those or a kink be seen by
    these. Looks from elsewhere tell.
    """
    looks, rests = _looks(sampler, directions, 1.0)
    measured, louder = looks[_RANK], looks[_RANK + 1]
    torn = louder > _APART * measured
    if torn.any() and sampler.size <= _NOT_MANY:
        elsewhere, _ = _looks(sampler, directions, _ELSEWHERE)
        heard = np.fmax(measured, np.fmin(louder, elsewhere[_RANK]))
        measured = np.where(torn, heard, measured)
    return measured, rests


def _shortened(direction: Array, primal: Array) -> Array:
    coordinates = np.abs(real_view(np.ascontiguousarray(primal))).astype(np.float64)
    typical = typical_scale(coordinates)
    part = np.where(coordinates > 0, coordinates / np.maximum(coordinates, typical), 1.0)
    own = direction.copy()
    flat = real_view(own)
    flat *= part
    return own


def _direction(primal: Array, rng: np.random.Generator) -> Array | None:
    """A signed direction of the size of the primal, so irregular that no step is exact."""
    if not is_continuous(primal.dtype) or not primal.size:
        return None
    stretch = max(1.0, 8 * epsilon(primal.dtype) / min(np.abs(_SPACINGS)))
    coordinates = real_view(np.ascontiguousarray(primal))
    typical = typical_scale(coordinates)
    direction = np.empty(primal.shape, np.result_type(primal.dtype, np.float64))
    flat = real_view(direction)
    for part in parts(flat.size):
        length = scales_beside(coordinates[part], typical) * stretch
        sign = rng.choice([-1.0, 1.0], length.shape)
        flat[part] = length * rng.uniform(0.6, 1.0, length.shape) * sign
    return direction


def _looks(
    sampler: Sampler, directions: Sequence[Array | None], coarseness: float
) -> tuple[FloatArray, BoolArray]:
    """The noise of each output from several looks, the quietest first, and whether it rested.

    The points of a look lie on one side of the base, as far apart as its spacing.
    """
    distances = [(_CLEARANCE + k) * coarseness * s for s in _SPACINGS for k in range(_POINTS)]
    values = np.array(list(sampler.at_moved(directions, distances)))
    values = values.reshape(len(_SPACINGS), _POINTS, sampler.size)
    values -= values[:, :1].copy()
    remainders = _DIFFERENCES @ values
    noise = _SAFETY * np.sqrt(_GAMMA * np.mean(remainders**2, axis=1))
    rests = np.asarray(~values.any(axis=(0, 1)))
    return np.nan_to_num(np.sort(noise, axis=0), nan=0.0, posinf=0.0), rests
