"""Outputs that come to rest: constant around the point, or moving in steps.

A function that rounds to float16 inside moves in steps. Every difference quotient of it is
exactly zero once both ends fall on the same step, and looks perfectly settled. It differs
from a constant in that it follows its input over larger distances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradtool.verify.oracle.step_ladder import Samples
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray
from gradtool.verify.thresholds.steps import (
    COARSE_STEP,
    STEPPED_AVERAGED_RUNGS,
    STEPPED_CLEAR_RUNGS,
    STEPPED_SLOPE_RATIO,
)


@dataclass(frozen=True)
class Rest:
    """Whether each output is constant here, or moves in steps along `slope` on average."""

    constant: BoolArray
    in_steps: BoolArray
    slope: FloatArray


def rest_of(samples: Samples) -> Rest:
    """How each output comes to rest.

    One that moves in steps has slopes, at large distances, that agree on both sides; around a
    merely constant stretch they differ, or vanish. How long a step is shows on the side that
    comes to rest first. A function whose values are whole numbers means its steps: it is
    constant between them.
    """
    rungs = np.arange(len(samples.steps))[:, None]
    first = np.minimum(_first_rest(samples.right), _first_rest(samples.left))
    smallest = np.fmin.reduce(np.where(samples.moves > 0, samples.moves, np.inf), axis=0)
    rests = samples.has_come_to_rest() & (smallest > COARSE_STEP * np.abs(samples.base))
    last = np.minimum(first, np.maximum(first - STEPPED_CLEAR_RUNGS, 1))
    averaging = (rungs < last) & (rungs >= last - STEPPED_AVERAGED_RUNGS)
    slopes = np.where(averaging, [samples.right, samples.left], np.nan)
    in_steps = rests & _agree(slopes) & ~_is_whole(samples)
    return Rest(rests & ~in_steps, in_steps, _steepest(slopes))


def _first_rest(quotients: FloatArray) -> NDArray[np.intp]:
    """The first rung from which on an output does not move on one side."""
    resting = np.logical_and.accumulate(quotients[::-1] == 0, axis=0)[::-1]
    count = len(quotients)
    return np.asarray(np.where(resting, np.arange(count)[:, None], count).min(axis=0))


def _is_whole(samples: Samples) -> BoolArray:
    """Whether all values seen of an output are whole numbers."""
    moves = samples.moves[np.isfinite(samples.moves).all(axis=1)]
    whole = np.all(moves == np.round(moves), axis=0)
    return np.asarray((samples.base == np.round(samples.base)) & whole)


def _agree(slopes: FloatArray) -> BoolArray:
    """Whether all slopes, along the first two axes, have one sign and about one size."""
    low, high = np.fmin.reduce(slopes, axis=(0, 1)), np.fmax.reduce(slopes, axis=(0, 1))
    least, most = np.fmin(np.abs(low), np.abs(high)), np.fmax(np.abs(low), np.abs(high))
    return np.asarray((low * high > 0) & (most <= STEPPED_SLOPE_RATIO * least))


def _steepest(slopes: FloatArray) -> FloatArray:
    low, high = np.fmin.reduce(slopes, axis=(0, 1)), np.fmax.reduce(slopes, axis=(0, 1))
    return np.asarray(np.where(np.abs(low) > np.abs(high), low, high))
