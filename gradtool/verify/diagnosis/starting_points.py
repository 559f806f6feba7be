"""Arguments that an iteration starts from, and that its result hardly depends on.

What is left of a starting point when an iteration stops is less than the tolerance of its result,
and no derivative: it jumps where the iteration takes one step more or less, and it falls faster
than in proportion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradtool.verify.oracle.steps import scales
from gradtool.verify.protocol.coordinates import FloatArray, real_view
from gradtool.verify.randomness import generator, signed
from gradtool.verify.thresholds.rules import (
    STARTING_POINT_JUMP,
    STARTING_POINT_LOOKS,
    STARTING_POINT_REST,
)

if TYPE_CHECKING:
    from gradtool.verify.comparison.derivatives import Derivatives


def is_starting_point(at: Derivatives, argument: int) -> bool:
    """Return True if moving an argument by its own size moves the outputs a little, in jumps.

    An argument with a small factor moves them as little, but smoothly.
    """
    try:
        outputs = np.stack([_outputs(at, argument, part) for part in _PARTS])
    except Exception:  # Forward may refuse other points, or return other shapes there.
        return False
    if not np.isfinite(outputs).all():
        return False
    rest = np.abs(outputs - outputs[0]).max(initial=0.0)
    return bool(rest <= STARTING_POINT_REST * np.abs(outputs).max(initial=0.0) and _jumps(outputs))


_PARTS = np.linspace(0.0, 1.0, STARTING_POINT_LOOKS)


def _outputs(at: Derivatives, argument: int, part: float) -> FloatArray:
    """The outputs with a part of its scale added to each entry of an argument."""
    point = [np.array(primal, order="C") for primal in at.primals]
    moved = point[argument]
    flat = real_view(moved)
    direction = signed(generator(at.seed, "starting point"), flat.shape)
    flat += (part * direction * scales(moved)).astype(flat.dtype)
    return at.layout.outputs.flatten(at.function.evaluate(point))


def _jumps(outputs: FloatArray) -> bool:
    """Return True if some output changes as much from step to step as in the largest step."""
    steps = np.diff(outputs, axis=0)
    turns = np.abs(np.diff(steps, axis=0)).max(axis=0, initial=0.0)
    return bool((turns > STARTING_POINT_JUMP * np.abs(steps).max(axis=0, initial=0.0)).any())
