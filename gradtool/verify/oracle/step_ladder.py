"""The derivative along one line as a limit, with an error estimate that can be believed.

Steps halve from half the input's scale downwards. At each rung there are three difference
quotients: from the right, from the left, and central. Each sequence is extrapolated to step zero
(L. F. Richardson, 1911), and the rung with the least error is taken, as in C. Ridders, "Accurate
computation of F'(x) and F'(x)F''(x)", Advances in Engineering Software 4 (1982). Coarse rungs that
agree on an alias lose to fine ones that resolve the function.

The published error estimates of such schemes are no bounds: one small step from rung to rung can
be an accident. Here a rung counts only with the two before it, slow convergence is charged for the
part of the series that is still to come, and the noise of the outputs is added with the weight
that extrapolation gives it.

Left and right limits that differ by more than their errors are a kink. A one-sided quotient that
grows with every halving is a jump or a vertical tangent. Where one side is outside the domain, the
other side's limit stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from gradtool.verify.oracle.difference_quotients import Line, sample
from gradtool.verify.oracle.noise import Noise
from gradtool.verify.oracle.steps import power_of_two
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray
from gradtool.verify.thresholds.steps import (
    BELOW_NOISE_MOVES,
    CENTRAL_NOISE_SPREAD,
    CONSTANT_RUNGS,
    EXTRAPOLATION_LONGEST_TAIL,
    EXTRAPOLATION_SAFETY,
    EXTRAPOLATION_WITNESSES,
    FLAT_BREAK_MOVES,
    FLAT_FROM_RUNG,
    FLAT_MOVES,
    LADDER_CRUDE_ERROR,
    LADDER_FIRST_STEP,
    LADDER_LEAST_RUNGS,
    LADDER_MOST_RUNGS,
    LADDER_RUNGS_AT_A_TIME,
    ONE_SIDED_NOISE_SPREAD,
    SMALLEST_STEP_SPACINGS,
    UNMASKING_RUNGS,
    UNMASKING_SLOPE_RATIO,
)


class Samples(msgspec.Struct, frozen=True):
    """The outputs at every rung. Arrays have one row for each rung, except `base`."""

    steps: FloatArray
    base: FloatArray
    central: FloatArray
    right: FloatArray
    left: FloatArray
    moves: FloatArray
    """How far the output moved, on the side where it moved further."""
    noise: FloatArray

    def is_constant(self) -> BoolArray:
        """Flag rows that do not move at all at the finest rungs."""
        return np.asarray((self.moves[-CONSTANT_RUNGS:] == 0).all(axis=0))

    def unmasked(self) -> Samples:
        """Replace the noise where the finest rungs refute it.

        A function that turns many times within the spacing of the points where noise is measured
        looks like noise there. A row that is flat next to that noise, and yet follows its input
        steadily, by far less, is such a function.
        """
        right, left, steps = (
            self.right[-UNMASKING_RUNGS:],
            self.left[-UNMASKING_RUNGS:],
            self.steps[-UNMASKING_RUNGS:],
        )
        slopes = np.concatenate([right, left])
        least, most = np.abs(slopes).min(axis=0), np.abs(slopes).max(axis=0)
        # The sum of sizes is the size of the sum just where all slopes have one sign.
        steady = (np.abs(slopes.sum(axis=0)) == np.abs(slopes).sum(axis=0)) & (least > 0)
        below = self.moves[-UNMASKING_RUNGS:].max(axis=0) <= BELOW_NOISE_MOVES * self.noise[
            -UNMASKING_RUNGS:
        ].min(axis=0)
        finer = (
            steady
            & below
            & (most <= UNMASKING_SLOPE_RATIO * least)
            & (self.flat_from() < len(self.steps))
        )
        shown = FLAT_MOVES * (np.abs(right - left) * steps[:, None]).max(axis=0)
        return replace(self, noise=np.where(finer, shown, self.noise)) if finer.any() else self

    def flat_from(self) -> NDArray[np.intp]:
        """The first rung from which on a row moves by no more than noise can account for.

        It is one of the coarsest, or there is none: then it is the number of rungs. Moves that
        emerge from the noise little by little are no break, and the row is not flat below them.
        """
        still = np.logical_and.accumulate((self.moves <= FLAT_MOVES * self.noise)[::-1], axis=0)[
            ::-1
        ]
        count = len(self.steps)
        first = np.where(still, np.arange(count)[:, None], count).min(axis=0)
        above = np.take_along_axis(self.moves, np.maximum(first - 1, 0)[None], axis=0)[0]
        # NaN above the flat part, the edge of the domain, breaks it off as well.
        breaks = (first == 0) | ~(above <= FLAT_BREAK_MOVES * self.noise[0])
        return np.asarray(np.where(breaks & (first <= FLAT_FROM_RUNG), first, count))


class Ladder:
    """A line sampled at steps that halve."""

    def __init__(self, line: Line, noise: Noise) -> None:
        self._line = line
        self._noise = noise
        self._top = power_of_two(line.scale * LADDER_FIRST_STEP)
        self._samples: Samples | None = None

    @property
    def count(self) -> int:
        """The rungs sampled so far."""
        return 0 if self._samples is None else len(self._samples.steps)

    def next(self, rungs: int) -> list[tuple[Line, float]]:
        """Return the places of so many more rungs: both sides, the step halved each time."""
        return [(self._line, sign * step) for step in self._steps(rungs) for sign in (1.0, -1.0)]

    def _steps(self, rungs: int) -> list[float]:
        count = self.count
        return [self._top * 0.5 ** (count + k) for k in range(rungs)]

    def take(self, found: Sequence[tuple[float, FloatArray]]) -> None:
        """Add the outputs at the places that `next` returned."""
        added = self._rungs(found)
        self.__dict__.pop("samples", None)
        self._samples = added if self._samples is None else _joined(self._samples, added)

    def _rungs(self, found: Sequence[tuple[float, FloatArray]]) -> Samples:
        gone = np.array([distance for distance, _ in found])[:, None]
        values = np.array([outputs for _, outputs in found])
        ahead, back, plus, minus = gone[::2], gone[1::2], values[::2], values[1::2]
        base = self._line.base
        # From the base rather than from the other side: one-sided quotients are what shows a kink.
        up, down = plus - base, minus - base
        size = np.fmax(np.abs(plus), np.abs(minus))
        return Samples(
            steps=np.array(self._steps(len(plus))),
            base=base,
            central=(plus - minus) / (ahead - back),
            right=up / ahead,
            left=down / back,
            moves=np.fmax(np.abs(up), np.abs(down)),
            noise=self._noise.at(_finite(size, nan=0.0)),
        )

    @cached_property
    def samples(self) -> Samples:
        """All rungs sampled so far."""
        assert self._samples is not None
        return self._samples.unmasked()

    def is_exhausted(self) -> bool:
        """Return True if a smaller step would mean nothing."""
        step = self._top * 0.5**self.count
        return (
            self.count >= LADDER_MOST_RUNGS or step < SMALLEST_STEP_SPACINGS * self._line.resolution
        )


def _joined(one: Samples, other: Samples) -> Samples:
    """The rungs of both."""
    columns = ("steps", "central", "right", "left", "moves", "noise")
    return replace(
        one,
        **{name: np.concatenate([getattr(one, name), getattr(other, name)]) for name in columns},
    )


class Limits(msgspec.Struct, frozen=True):
    """The three limits of a line at its base."""

    central: Limit
    right: Limit
    left: Limit


def limits(samples: Samples) -> Limits:
    """Extrapolate the three sequences of quotients."""
    return Limits(
        extrapolate(samples.central, samples.steps, samples.noise, CENTRAL),
        extrapolate(samples.right, samples.steps, samples.noise, ONE_SIDED),
        extrapolate(samples.left, samples.steps, samples.noise, ONE_SIDED),
    )


def sample_ladders(
    lines: Sequence[Line],
    noise: Noise,
    wanted: Sequence[BoolArray],
    contested: Sequence[BoolArray],
) -> list[Samples]:
    """Sample each of `lines` until no smaller step can sharpen a limit of a `wanted` row.

    The rungs of all lines are sampled together. Rows that are flat are left, except those for
    which that is `contested`.
    """
    ladders = [Ladder(line, noise) for line in lines]
    _sample(ladders, LADDER_LEAST_RUNGS)
    moving = [
        rows & (ladder.samples.flat_from() == LADDER_LEAST_RUNGS)
        for rows, ladder in zip(wanted, ladders, strict=True)
    ]
    # More rungs may refute the noise that these rows are flat next to; see `Samples.unmasked`.
    deeper = [rows & claimed for rows, claimed in zip(wanted, contested, strict=True)]
    unfinished = list(zip(ladders, moving, deeper, strict=True))
    while unfinished := [each for each in unfinished if _goes_on(*each, noise)]:
        _sample([ladder for ladder, *_ in unfinished], LADDER_RUNGS_AT_A_TIME)
    return [ladder.samples for ladder in ladders]


def _sample(ladders: Sequence[Ladder], rungs: int) -> None:
    """Add `rungs` to each of `ladders`."""
    found = sample([place for ladder in ladders for place in ladder.next(rungs)])
    for number, ladder in enumerate(ladders):
        ladder.take(found[2 * rungs * number : 2 * rungs * (number + 1)])


def _goes_on(ladder: Ladder, wanted: BoolArray, contested: BoolArray, noise: Noise) -> bool:
    """Return True if another rung might sharpen a wanted row, or a contested one is still flat."""
    if ladder.is_exhausted():
        return False
    samples = ladder.samples
    is_flat = samples.flat_from() < ladder.count
    if (contested & is_flat).any():
        return True
    wanted = wanted | contested
    still_moving = wanted & noise.constant_nearby & ~samples.is_constant()
    return bool(still_moving.any()) or _can_sharpen(samples, wanted)


def _can_sharpen(samples: Samples, wanted: BoolArray) -> bool:
    """Return True if a smaller step might still sharpen a wanted row.

    It might while noise is below the error of some limit. It must be tried while the error is
    no small part of the quotients seen: their steps may have been too coarse altogether.
    """
    # Below this error halving the step only makes noise larger.
    floor = samples.noise[-1] / samples.steps[-1]
    crude = LADDER_CRUDE_ERROR * np.fmax.reduce(np.abs([samples.right, samples.left]), axis=(0, 1))
    for quotients, scheme in (
        (samples.central, CENTRAL),
        (samples.right, ONE_SIDED),
        (samples.left, ONE_SIDED),
    ):
        error = extrapolate(quotients, samples.steps, samples.noise, scheme).error
        if (wanted & ((floor < error) | (error > crude))).any():
            return True
    return False


class Limit(msgspec.Struct, frozen=True):
    """A limit and its error for each row; NaN and infinity where there is none."""

    value: FloatArray
    error: FloatArray


class Scheme(msgspec.Struct, frozen=True):
    """The convergence of a sequence of quotients when the step is halved.

    `factors` are 2 to the powers of the error's terms, in the order in which they are
    eliminated; `spread` bounds what extrapolation makes of noise of size one in the outputs,
    in units of one over the smallest step.
    """

    factors: tuple[int, ...]
    spread: float


CENTRAL = Scheme((4, 16), CENTRAL_NOISE_SPREAD)
"""Even powers of the step only. The noise of two outputs over twice the step is its start."""

ONE_SIDED = Scheme((2, 4, 8), ONE_SIDED_NOISE_SPREAD)
"""All powers of the step; the noise of two outputs over one step is its start."""


def extrapolate(
    quotients: FloatArray, steps: FloatArray, noise: FloatArray, scheme: Scheme
) -> Limit:
    """The limit at step zero of `quotients`, one row for each of `steps`, from the best rung.

    `noise` bounds the noise of the outputs that each quotient was made of.
    """
    rungs = quotients
    for factor in scheme.factors:
        rungs = (factor * rungs[1:] - rungs[:-1]) / (factor - 1)
    order = len(scheme.factors)
    rounding = scheme.spread * noise[: len(rungs)] / steps[order:, None]
    values = rungs[EXTRAPOLATION_WITNESSES:]
    errors = _moving(rungs) + rounding[EXTRAPOLATION_WITNESSES:]
    # Infinite rather than removed: each row may lose other rungs, and the arrays stay rectangular.
    errors[_contradicted(values, errors)] = np.inf
    best = np.argmin(errors, axis=0)[None]
    value = np.take_along_axis(values, best, axis=0)[0]
    error = np.take_along_axis(errors, best, axis=0)[0]
    return Limit(np.where(np.isfinite(error), value, np.nan), error)


def _moving(rungs: FloatArray) -> FloatArray:
    """The error of each rung that has its witnesses, from how much it moved; infinite if unknown.

    Where each change is the same part of the one before, those still to come add up to a
    geometric series, which is its tail.
    """
    changes = np.abs(np.diff(rungs, axis=0))
    last, before = changes[1:], changes[:-1]
    ratio = last / before
    tail = np.where(ratio < 1, ratio / (1 - ratio), 1.0).clip(1.0, EXTRAPOLATION_LONGEST_TAIL)
    return _finite(EXTRAPOLATION_SAFETY * np.fmax(last * tail, before), nan=np.inf)


def _finite(values: FloatArray, nan: float) -> FloatArray:
    """Put numbers in the places of those that are none, which few arrays have."""
    return values if np.isfinite(values).all() else np.nan_to_num(values, nan=nan)


def _contradicted(values: FloatArray, errors: FloatArray) -> BoolArray:
    """Flag rungs whose interval misses that of some finer rung.

    Then the coarse rungs had settled on an alias, or on the slope of a neighbourhood.
    """
    low, high = _finite(values - errors, nan=-np.inf), _finite(values + errors, nan=np.inf)
    finer_low = np.maximum.accumulate(low[::-1], axis=0)[::-1]
    finer_high = np.minimum.accumulate(high[::-1], axis=0)[::-1]
    return (high < finer_low) | (low > finer_high)
