"""Compares the Jacobians of the two sides: entry by entry, or by one random projection each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from gradtool.gate.adapters.gradcheck.mismatch import mismatch
from gradtool.gate.adapters.gradcheck.settings import Settings
from gradtool.gate.adapters.gradcheck.sides import MOST_ENTRIES, Sides
from gradtool.verify.coordinates import FloatArray
from gradtool.verify.randomness import generator, signed


@dataclass
class Agreement:
    """What came of a comparison."""

    mismatches: list[str] = field(default_factory=list)
    """One line for each pair of an output and an input that disagree."""
    jitter: float = 0.0
    """By how much two runs of backward differ."""


def compare(sides: Sides, settings: Settings) -> Agreement:
    """Compare all Jacobians, in the way that the settings ask for.

    Where projections disagree the entries decide: errors that are each within the tolerance
    may add up in a projection.
    """
    if settings.fast_mode:
        projected = _compare_projections(sides, settings)
        if not projected.mismatches or sides.size > MOST_ENTRIES:
            return projected
    return _compare_entries(sides, settings)


def _compare_entries(sides: Sides, settings: Settings) -> Agreement:
    """Each row is asked for with a cotangent of random sign and size, and divided by it.

    A backward that squares or clips its cotangent would hide behind a cotangent of one, and
    one that mixes entries of it behind cotangents with a single entry. So there is one more,
    with all entries, for which the gradient must be the sum of those for each entry.
    """
    result = Agreement()
    numeric = [sides.numeric(target) for target in range(len(sides.layouts))]
    for output, block in enumerate(sides.outputs.blocks):
        scaling = signed(generator(settings.seed, f"scaling {output}"), block.stop - block.start)
        together = _cotangent(sides, settings, output)
        rows = sides.rows(output, chain(scaled_basis(scaling), [together]))
        result.jitter = max(result.jitter, rows.jitter)
        for target, returned in enumerate(rows.jacobians):
            jacobian = returned[:-1] / scaling[:, None] + 0.0  # -0 becomes 0
            text = mismatch(
                jacobian,
                numeric[target][block.span],
                block,
                sides.block(target),
                settings.atol,
                settings.rtol,
            ) or not_linear(together, jacobian, returned[-1], settings, _BACKWARD)
            if text is not None:
                result.mismatches.append(f"{_head(sides, output, target)}: {text}")
    return result


_BACKWARD = ("backward", "grad_output")


def not_linear(
    cotangent: FloatArray,
    jacobian: FloatArray,
    returned: FloatArray,
    settings: Settings,
    names: tuple[str, str],
) -> str | None:
    """What to say when what was `returned` for `cotangent` is not its product with `jacobian`.

    `names` are of the method and of what it should be linear in.
    """
    expected = cotangent @ jacobian
    allowed = settings.atol + settings.rtol * (np.abs(cotangent) @ np.abs(jacobian))
    excess = np.abs(returned - expected) - allowed
    if np.all(excess <= 0):
        return None
    worst = int(np.argmax(np.nan_to_num(excess, nan=np.inf)))
    return (
        f"every entry is right, but {names[0]} is not linear in {names[1]}: for one with several "
        f"entries it returns {returned[worst]:.10g}, for its entries one by one and summed "
        f"{expected[worst]:.10g}"
    )


def _compare_projections(sides: Sides, settings: Settings) -> Agreement:
    result = Agreement()
    directions = [
        signed(generator(settings.seed, f"direction {target}"), layout.size)
        for target, layout in enumerate(sides.layouts)
    ]
    numeric = [sides.numeric_along(t, direction) for t, direction in enumerate(directions)]
    for output, block in enumerate(sides.outputs.blocks):
        cotangent = _cotangent(sides, settings, output)
        rows = sides.rows(output, [cotangent])
        result.jitter = max(result.jitter, rows.jitter)
        for target, direction in enumerate(directions):
            claimed = float(rows.jacobians[target][0] @ direction)
            measured = float(cotangent @ numeric[target][block.span])
            allowed = settings.atol + settings.rtol * abs(measured)
            if not abs(claimed - measured) <= allowed:
                result.mismatches.append(
                    f"{_head(sides, output, target)}: a random projection of it is "
                    f"{claimed:.10g} analytic and {measured:.10g} numeric, tolerance "
                    f"{allowed:.3g}. It is too large to look for the entry: use smaller inputs."
                )
    return result


def _cotangent(sides: Sides, settings: Settings, output: int) -> FloatArray:
    """A random signed cotangent of one output, in coordinates."""
    block = sides.outputs.blocks[output]
    return signed(generator(settings.seed, f"cotangent {output}"), block.stop - block.start)


def _head(sides: Sides, output: int, target: int) -> str:
    position = sides.positions[output]
    return f"Jacobian mismatch for output {position} with respect to {sides.input(target)}"


def scaled_basis(scaling: FloatArray) -> Iterator[FloatArray]:
    """One cotangent for each coordinate, with its entry of `scaling` there."""
    for coordinate, value in enumerate(scaling):
        vector = np.zeros(len(scaling))
        vector[coordinate] = value
        yield vector
