"""Comparison of backward with difference quotients: by entries, or by a random projection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gradtool.adapters.gradcheck.comparison import ProbeVectors, mismatch, nonlinearity
from gradtool.adapters.gradcheck.derivatives import MAX_ENTRIES, Derivatives, Jacobians
from gradtool.adapters.gradcheck.witnessed import LEAST_ENTRIES, jitter_if_right
from gradtool.engine.autograd.gradcheck import GradcheckOptions
from gradtool.verify.randomness import generator, signed


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
    result = Agreement()
    rng = generator(options.seed, "projections")
    directions = [signed(rng, layout.size) for layout in derivatives.layouts]
    numeric = [derivatives.numeric_along(t, direction) for t, direction in enumerate(directions)]
    for output, block in enumerate(derivatives.outputs.blocks):
        cotangent = signed(rng, block.stop - block.start)
        rows = derivatives.rows(output, [cotangent])
        result.jitter = max(result.jitter, rows.jitter)
        for target, direction in enumerate(directions):
            claimed = float(rows.jacobians[target][0] @ direction)
            measured = float(cotangent @ numeric[target][block.span])
            allowed = options.atol + options.rtol * abs(measured)
            if not abs(claimed - measured) <= allowed:
                result.mismatches.append(
                    f"{_head(derivatives, output, target)}: a random projection of it is "
                    f"{claimed:.10g} analytically and {measured:.10g} numerically, tolerance "
                    f"{allowed:.3g}. The Jacobian is too large to locate the entry: use "
                    "smaller inputs."
                )
    return result


def _head(derivatives: Derivatives, output: int, target: int) -> str:
    position = derivatives.positions[output]
    return f"Jacobian mismatch for output {position} with respect to {derivatives.input(target)}"
