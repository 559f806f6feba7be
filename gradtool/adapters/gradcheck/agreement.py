"""Compares the Jacobians of the two sides: entry by entry, or by one random projection each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gradtool.adapters.gradcheck.mismatch import mismatch
from gradtool.adapters.gradcheck.probes import Probes
from gradtool.adapters.gradcheck.settings import Settings
from gradtool.adapters.gradcheck.sides import MOST_ENTRIES, Jacobians, Sides
from gradtool.verify.protocol.coordinates import FloatArray
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
    """Compare all entries. What a batch leads to say of a disagreement is not relied on."""
    rng = generator(settings.seed, "probes")
    sizes = [block.stop - block.start for block in sides.outputs.blocks]
    probes = [Probes(signed(rng, size), signed(rng, size)) for size in sizes]
    at_once = sides.jacobians_at_once(probes)
    if at_once:
        found = _compared(sides, settings, probes, at_once)
        if not found.mismatches and found.jitter <= settings.nondet_tol:
            return found
    return _compared(sides, settings, probes, sides.jacobians(probes))


def _compared(
    sides: Sides, settings: Settings, probes: Sequence[Probes], found: Jacobians
) -> Agreement:
    """Each row is divided by what it was asked for with.

    For the cotangent with many entries the gradient must be the sum of those for each entry.
    """
    result = Agreement(jitter=max((rows.jitter for rows in found.rows), default=0.0))
    for output, block in enumerate(sides.outputs.blocks):
        for target, returned in enumerate(found.rows[output].jacobians):
            jacobian = returned[:-1]
            jacobian /= probes[output].scaling[:, None]
            text = mismatch(
                jacobian,
                found.numeric[target][block.span],
                block,
                sides.block(target),
                settings.atol,
                settings.rtol,
            ) or not_linear(probes[output].together, jacobian, returned[-1], settings, _BACKWARD)
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
    difference = np.abs(returned - expected)
    if np.all(difference <= settings.atol):
        return None
    allowed = settings.atol + settings.rtol * (np.abs(cotangent) @ np.abs(jacobian))
    excess = difference - allowed
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
    rng = generator(settings.seed, "projections")
    directions = [signed(rng, layout.size) for layout in sides.layouts]
    numeric = [sides.numeric_along(t, direction) for t, direction in enumerate(directions)]
    for output, block in enumerate(sides.outputs.blocks):
        cotangent = signed(rng, block.stop - block.start)
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


def _head(sides: Sides, output: int, target: int) -> str:
    position = sides.positions[output]
    return f"Jacobian mismatch for output {position} with respect to {sides.input(target)}"
