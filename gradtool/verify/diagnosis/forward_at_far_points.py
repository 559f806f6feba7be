"""Recognizes forwards that are steps, pass an argument on or ignore it, by points beside the case.

A sine near zero, or a maximum whose first argument is the larger one everywhere, returns its
argument too, and a relu of negative numbers is flat. Far from the case's own point they do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gradtool.verify.oracle.evaluation_timeout import EvaluationTimeout
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray, is_continuous
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, rounded_differently, signed
from gradtool.verify.thresholds.rules import STEP_SHIFTS, STEP_STILL, STILL_MOVE

if TYPE_CHECKING:
    from gradtool.verify.comparison.derivatives import Derivatives
    from gradtool.verify.subject import Subject

Outputs = tuple[Array | None, ...]


def is_passed_on(subject: Subject, argument: int) -> bool:
    """Return True if an output is this argument, unchanged, whatever the arguments are."""
    primals = subject.first.primals
    passing = _passing(subject.first.forward.outputs, primals[argument])
    if not passing:
        return False
    tried = 0
    everything = [i for i, primal in enumerate(primals) if is_continuous(primal.dtype)]
    for chosen in (everything, [argument]):
        for point in _far_points(subject, list(primals), chosen):
            outputs = _evaluated(subject, point)
            if outputs is not None:
                tried += 1
                passing &= _passing(outputs, point[argument])
        if tried:
            return bool(passing)
    return False


def _passing(outputs: Outputs, own: Array) -> set[int]:
    """The outputs that are `own`, maybe in another shape."""
    flat = np.ravel(own)
    return {
        i
        for i, output in enumerate(outputs)
        if output is not None and np.array_equal(np.ravel(output), flat)
    }


def is_step(subject: Subject, at: Derivatives, argument: int, rows: slice) -> bool:
    """Return True if a far move of the argument changes outputs that small ones leave alone.

    `rows` are the coordinates of these outputs. They are flat at the point itself already.
    """
    if at.layout.functionals is not None:
        rows = slice(None)
    rng = generator(subject.seed, "last digits")
    here = _coordinates(at, at.forward.outputs, rows)
    has_moved = False
    for point in _far_points(subject, list(at.primals), [argument]):
        there = _coordinates(at, _evaluated(subject, point), rows)
        if here is None or there is None or np.array_equal(here, there):
            continue
        has_moved = True
        beside = list(point)
        (beside[argument],) = rounded_differently([point[argument]], [0], rng)
        still = _coordinates(at, _evaluated(subject, beside), rows)
        if still is None or np.mean(still == there) < STEP_STILL:
            return False
    return has_moved


def is_still(
    subject: Subject, at: Derivatives, argument: int, entries: BoolArray, rows: slice
) -> bool:
    """Return True if no output changes when these entries of an argument move a little.

    What slope a difference quotient gave them is that of an edge beside them.
    """
    here = _coordinates(at, at.forward.outputs, rows)
    if entries.size != at.primals[argument].size:
        return False  # Those of complex numbers come in pairs.
    for sign in (1.0, -1.0):
        point = list(at.primals)
        own = np.ravel(point[argument])
        moves = sign * STILL_MOVE * (1.0 + np.abs(own)) * entries
        point[argument] = np.reshape(own + moves, point[argument].shape).astype(own.dtype)
        there = _coordinates(at, _evaluated(subject, point), rows)
        if here is None or there is None or not np.array_equal(here, there):
            return False
    return True


def is_ignored(subject: Subject, at: Derivatives, argument: int) -> bool:
    """Return True if not even a far move of the argument changes any output."""
    moved = [_evaluated(subject, p) for p in _far_points(subject, list(at.primals), [argument])]
    here = _coordinates(at, at.forward.outputs, slice(None))
    there = [_coordinates(at, outputs, slice(None)) for outputs in moved if outputs is not None]
    return here is not None and bool(there) and all(map(partial(_equal, here), there))


def _equal(one: FloatArray, other: FloatArray | None) -> bool:
    return other is not None and np.array_equal(one, other)


def _far_points(
    subject: Subject, primals: list[Array], arguments: list[int]
) -> Iterator[list[Array]]:
    """Yield points at which these arguments have moved by far, first one way, then the other."""
    rng = generator(subject.seed, "far points")
    for size in STEP_SHIFTS:
        moves = {i: size * signed(rng, primals[i].shape) for i in arguments}
        for sign in (1.0, -1.0):
            yield [
                np.asarray(primal + sign * moves[i], primal.dtype) if i in moves else primal
                for i, primal in enumerate(primals)
            ]


def _evaluated(subject: Subject, point: list[Array]) -> Outputs | None:
    try:
        with EvaluationTimeout().limited():
            return subject.function.evaluate(point)
    except Exception:  # The move may leave the domain.
        return None


def _coordinates(at: Derivatives, outputs: Outputs | None, rows: slice) -> FloatArray | None:
    try:
        return None if outputs is None else at.layout.outputs.flatten(outputs)[rows]
    except ValueError:  # The shape of an output may depend on the values.
        return None
