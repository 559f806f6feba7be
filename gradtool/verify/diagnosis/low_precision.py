"""Gradients that have lost more digits than the function they belong to.

Rounding makes a smooth function jitter between points that lie close together. A backward that
goes through float32, or that subtracts large numbers which nearly cancel, makes the gradient
jitter far more than the outputs. Jitter that both share, because the function is ill-conditioned
at this point, is not backward's doing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial

import msgspec
import numpy as np

from gradtool.verify.comparison.derivatives import Derivatives
from gradtool.verify.oracle.noise import Noise, measure
from gradtool.verify.oracle.sampler import Sampler
from gradtool.verify.oracle.steps import epsilon, scales
from gradtool.verify.protocol.coordinates import (
    Block,
    Coordinates,
    FloatArray,
    is_continuous,
    real_view,
)
from gradtool.verify.protocol.differentiable import Differentiable
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator
from gradtool.verify.thresholds.noise import (
    BEARABLE_JITTER,
    CLEAR_JITTER,
    JITTER_FEW_COORDINATES,
    JITTER_OVER_OUTPUTS,
    JITTER_RETRIED_SIZE,
    JITTER_SIGNIFICANT_ENTRY,
    JITTER_TRIES,
)


class PrecisionLoss(msgspec.Struct, frozen=True):
    """The entry of a gradient that has lost the most digits.

    `gradient` and `outputs` are relative jitters. `index` is the entry's index in the argument.
    """

    argument: int
    index: tuple[int, ...]
    value: float
    gradient: float
    outputs: float


def low_precision_gradients(at: Derivatives, seed: int) -> list[PrecisionLoss]:
    """Find gradients that jitter far more than the outputs, and one entry of each."""
    # The cotangents that settle gradients have digits that float32 does not hold.
    if at.is_settled and all(map(_is_irregular, at.primals)):
        return []  # Digits that are lost nearby would be missing here too.
    cotangents = at.cotangents
    backward = at.function.backward_map(cotangents)
    point = [*at.primals, *(each for each in cotangents if each is not None)]
    sizes = [each.size for each in point if is_continuous(each.dtype)]
    tries = (
        JITTER_TRIES
        if min(sizes) < JITTER_FEW_COORDINATES and max(sizes) <= JITTER_RETRIED_SIZE
        else 1
    )
    for number in range(tries):
        found = _one_look(at, backward, point, seed + number)
        if found and (_is_clear(at, found) or _one_look(at, backward, point, seed + tries)):
            return found
    return []


def _is_clear(at: Derivatives, found: Sequence[PrecisionLoss]) -> bool:
    """Return True for a gradient that jitters by much more than it may."""
    return any(
        each.gradient > CLEAR_JITTER * _bearable(at.primals[each.argument].dtype) for each in found
    )


def _is_irregular(primal: Array) -> bool:
    """Return True if float32, or a format with fewer digits, would round most entries."""
    if not is_continuous(primal.dtype):
        return True
    entries = real_view(np.ascontiguousarray(primal))
    with np.errstate(over="ignore"):
        return int((entries.astype(np.float32) != entries).sum()) * 2 > entries.size


def _one_look(
    at: Derivatives, backward: Differentiable, point: Sequence[Array], seed: int
) -> list[PrecisionLoss]:
    sampler, noise, suspects = _suspects(at, backward, point, seed, at_once=True)
    if suspects and sampler.is_batched:  # A batch may be wrong: it only lets something pass.
        sampler, noise, suspects = _suspects(at, backward, point, seed, at_once=False)
    if not suspects:
        return []
    outputs, forward = _noise(
        at.function, at.primals, seed, _blocks(at.function, at.primals), {*at.inputs}
    )
    found = [
        _worst(at, argument, sampler.base[b.span], noise.floor[b.span], (outputs.base, forward))
        for argument, b in suspects
    ]
    return [each for each in found if each]


def _suspects(
    at: Derivatives, backward: Differentiable, point: Sequence[Array], seed: int, *, at_once: bool
) -> tuple[Sampler, Noise, list[tuple[int, Block]]]:
    """The gradients that jitter by much of their size, with what shows it."""
    blocks = _blocks(backward, point)
    moved = {*at.inputs, *_fine_cotangents(at, point)}
    sampler, noise = _noise(backward, point, seed, blocks, moved, at_once=at_once)
    suspects = [
        (argument, block)
        for argument, block in zip(at.inputs, blocks.blocks, strict=True)
        if _is_suspect(sampler.base[block.span], noise.floor[block.span], block.dtype)
    ]
    return sampler, noise, suspects


def _fine_cotangents(at: Derivatives, point: Sequence[Array]) -> Iterator[int]:
    """Yield the places in `point` of cotangents with as many digits as the finest argument.

    If forward rounds its output to a spike of float32, the cotangent is rounded, too. Steps of the
    size that suits a float64 argument make it jitter, and with it a gradient that loses nothing.
    """
    finest = min(map(_epsilon, (at.primals[argument] for argument in at.inputs)), default=0.0)
    for place in range(len(at.primals), len(point)):
        if _epsilon(point[place]) <= finest:
            yield place


def _epsilon(array: Array) -> float:
    return epsilon(array.dtype) if is_continuous(array.dtype) else np.inf


def _blocks(function: Differentiable, point: Sequence[Array]) -> Coordinates:
    return Coordinates(function.evaluate(point))


def _noise(
    function: Differentiable,
    point: Sequence[Array],
    seed: int,
    coordinates: Coordinates,
    moved: Collection[int],
    *,
    at_once: bool = False,
) -> tuple[Sampler, Noise]:
    eps = np.zeros(coordinates.size)
    for block in coordinates.blocks:
        eps[block.span] = epsilon(block.dtype) if block.stop > block.start else 0.0
    many = partial(function.evaluate_many, or_loop=False) if at_once else None
    sampler = Sampler(function.evaluate, point, coordinates, evaluate_many=many)
    return sampler, measure(sampler, eps, generator(seed, "roughness"), moved)


def _is_suspect(gradient: FloatArray, jitter: FloatArray, dtype: np.dtype) -> bool:
    """Return True if larger entries jitter by much of their size."""
    bearable = _bearable(dtype)
    large = np.abs(gradient) >= JITTER_SIGNIFICANT_ENTRY * np.abs(gradient).max(initial=0.0)
    return bool(gradient.any() and (jitter > bearable * np.abs(gradient))[large].any())


def _bearable(dtype: np.dtype) -> float:
    return (
        BEARABLE_JITTER.get(np.finfo(dtype).dtype.itemsize, np.inf)
        if is_continuous(dtype)
        else np.inf
    )


def _worst(
    at: Derivatives,
    argument: int,
    gradient: FloatArray,
    jitter: FloatArray,
    forward: tuple[FloatArray, Noise],
) -> PrecisionLoss | None:
    """The entry that is furthest beyond what the outputs' own jitter explains."""
    primal = at.primals[argument]
    base, noise = forward
    size = np.abs(gradient)
    moved = float(np.max(noise.floor * np.abs(at.cotangent), initial=0.0)) / scales(primal)
    sized = np.abs(base) > 0
    relative = float(np.max(noise.floor[sized] / np.abs(base[sized]), initial=0.0))
    explained = JITTER_OVER_OUTPUTS * np.maximum(moved, relative * size)
    allowed = np.maximum(explained, _bearable(primal.dtype) * size)
    with np.errstate(all="ignore"):
        lost = np.where(
            size >= JITTER_SIGNIFICANT_ENTRY * size.max(initial=0.0), jitter / allowed, 0.0
        )
    worst = int(np.argmax(lost))
    if not lost[worst] > 1:
        return None
    block = at.layout.inputs[argument].blocks[0]
    value, relative_jitter = float(gradient[worst]), float(jitter[worst] / size[worst])
    return PrecisionLoss(argument, block.index(worst), value, relative_jitter, relative)
