"""Comparison of backward with difference quotients: by entries, or by a random projection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gradtool.adapters.gradcheck.comparison import ProbeVectors, mismatch, nonlinearity
from gradtool.adapters.gradcheck.derivatives import MAX_ENTRIES, Derivatives, Jacobians
from gradtool.adapters.gradcheck.witnessed import LEAST_ENTRIES, jitter_if_right
from gradtool.engine.autograd.gradcheck import GradcheckOptions
from gradtool.verify.protocol.coordinates import FloatArray
from gradtool.verify.randomness import generator, signed

_CERTAIN = 0.125
"""Part of the absolute tolerance within which projections of all inputs have to add up."""

_SHARES = (0.5, 1.0)
"""Factors of the inputs' directions where all of them move at once."""


@dataclass
class Agreement:
    """Outcome of a comparison."""

    mismatches: list[str] = field(default_factory=list)
    """One line for each pair of an output and an input that disagree."""
    jitter: float = 0.0
    """Largest difference between two runs of backward."""


def compare(derivatives: Derivatives, options: GradcheckOptions) -> Agreement:
    """Compare all Jacobians, by projections in fast mode or if they are large and right.

    If projections disagree the entries decide: errors that are each within the tolerance may
    add up in a projection.
    """
    if options.fast_mode:
        projected = _compare_projections(derivatives, options)
        if not projected.mismatches or derivatives.size > MAX_ENTRIES:
            return projected
    elif derivatives.size >= LEAST_ENTRIES:
        jitter = jitter_if_right(derivatives, options)
        if jitter is not None:
            return Agreement(jitter=jitter)
    return _compare_entries(derivatives, options)


def _compare_entries(derivatives: Derivatives, options: GradcheckOptions) -> Agreement:
    """Compare all entries. A disagreement that a batch shows is checked again without one."""
    rng = generator(options.seed, "probes")
    sizes = [block.stop - block.start for block in derivatives.outputs.blocks]
    probes = [ProbeVectors(signed(rng, size), signed(rng, size)) for size in sizes]
    batched = derivatives.batched_jacobians(probes)
    if batched:
        found = _compared(derivatives, options, probes, batched)
        if not found.mismatches and found.jitter <= options.nondet_tol:
            return found
    return _compared(derivatives, options, probes, derivatives.jacobians(probes))


def _compared(
    derivatives: Derivatives,
    options: GradcheckOptions,
    probes: Sequence[ProbeVectors],
    found: Jacobians,
) -> Agreement:
    """Compare both Jacobians, of which each analytic row is divided by its cotangent's entry.

    The gradient for the cotangent with many entries must be the sum of those for each entry.
    """
    result = Agreement(jitter=max((rows.jitter for rows in found.rows), default=0.0))
    for output, block in enumerate(derivatives.outputs.blocks):
        for target, returned in enumerate(found.rows[output].jacobians):
            jacobian = returned[:-1]
            jacobian /= probes[output].scaling[:, None]
            head = _head(derivatives, output, target)
            text = mismatch(
                head,
                jacobian,
                found.numeric[target][block.span],
                block,
                derivatives.block(target),
                options.atol,
                options.rtol,
            ) or nonlinearity(
                probes[output].together,
                jacobian,
                returned[-1],
                options.atol,
                options.rtol,
                head,
                _BACKWARD,
            )
            if text is not None:
                result.mismatches.append(text)
    return result


_BACKWARD = ("backward", "grad_output")


def _compare_projections(derivatives: Derivatives, options: GradcheckOptions) -> Agreement:
    """Compare a projection of each output's derivative: of all inputs at once, then of each.

    If those of all inputs add up, it takes a coincidence for those of one not to agree.
    """
    rng = generator(options.seed, "projections")
    directions = dict(enumerate([signed(rng, layout.size) for layout in derivatives.layouts]))
    # Signed directions have few digits: errors of two inputs could cancel in their plain sum.
    shares = rng.uniform(*_SHARES, len(directions))
    measured = derivatives.numeric_along({at: shares[at] * each for at, each in directions.items()})
    result, is_certain = Agreement(), True
    found: list[tuple[FloatArray, list[float]]] = []
    for output, block in enumerate(derivatives.outputs.blocks):
        cotangent = signed(rng, block.stop - block.start)
        rows = derivatives.rows(output, [cotangent])
        result.jitter = max(result.jitter, rows.jitter)
        claimed = [float(rows.jacobians[at][0] @ each) for at, each in directions.items()]
        found.append((cotangent, claimed))
        difference = float(shares @ claimed - cotangent @ measured[block.span])
        is_certain = is_certain and abs(difference) <= _CERTAIN * options.atol
    if not is_certain:
        result.mismatches += _different_projections(derivatives, options, directions, found)
    return result


def _different_projections(
    derivatives: Derivatives,
    options: GradcheckOptions,
    directions: dict[int, FloatArray],
    found: Sequence[tuple[FloatArray, list[float]]],
) -> Iterator[str]:
    """Yield a line for each output and input whose projections by backward, `found`, are wrong."""
    numeric = [derivatives.numeric_along({at: along}) for at, along in directions.items()]
    for output, (cotangent, projections) in enumerate(found):
        span = derivatives.outputs.blocks[output].span
        for target, claimed in enumerate(projections):
            measured = float(cotangent @ numeric[target][span])
            allowed = options.atol + options.rtol * abs(measured)
            if not abs(claimed - measured) <= allowed:
                yield (
                    f"{_head(derivatives, output, target)}: a random projection of it is "
                    f"{claimed:.10g} analytically and {measured:.10g} numerically, tolerance "
                    f"{allowed:.3g}. The Jacobian is too large to locate the entry: use "
                    "smaller inputs."
                )


def _head(derivatives: Derivatives, output: int, target: int) -> str:
    position = derivatives.positions[output]
    return f"Jacobian mismatch for output {position} with respect to {derivatives.input(target)}"
