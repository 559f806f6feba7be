"""The quick way to a pass: a few random cotangents in place of every output coordinate.

For a random signed cotangent u the row u·J costs one run of backward, whatever the size of J, and
the witness has the same row exactly. One wrong entry moves its column of that row by its own error
times a number between a half and three halves: nothing dilutes it but the roundings of the column's
sum, which are about eps times the root of the number of outputs. Evaluations confirm the witness
along one random direction of each argument. What does not pass like this has shown nothing yet,
and is compared entry by entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradtool.verify.comparison.compare import Decision
from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.comparison.tolerance import Tolerance
from gradtool.verify.oracle.estimate import Estimate, Status
from gradtool.verify.oracle.sampler import Sampler, moved
from gradtool.verify.oracle.steps import epsilon, scales
from gradtool.verify.protocol.coordinates import FloatArray, real_view
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, signed
from gradtool.verify.thresholds.comparison import (
    DOUBLE_EPS,
    PROJECTED_DIFFERENCE,
    PROJECTED_ERROR,
    PROJECTED_GAP,
    PROJECTED_ROUNDINGS,
    PROJECTED_STEP,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


def passes(at: Derivatives) -> bool:
    """Return True if every gradient is right by random cotangents, and keep the comparisons.

    Never raises for what the user's code does: False leaves it to the full comparison.
    """
    if not _is_worthwhile(at) or at.failure or at.witness is None or at.witness.silence:
        return False
    compared = [_compared(at, argument) for argument in at.inputs]
    if any(each.decision.any() for each in compared):
        return False
    sampler = Sampler(at.function.evaluate, at.primals, at.layout.outputs, at.layout.functionals)
    if not all(_is_confirmed(at, sampler, each) for each in compared):
        return False
    at.keep(compared)
    return True


def _is_worthwhile(at: Derivatives) -> bool:
    """Return True if all that is compared is in double precision, and there is a graph."""
    if at.forward.failure or not at.layout.has_graph or at.layout.functionals is None:
        return False
    dtypes = [at.primals[argument].dtype for argument in at.inputs]
    finest = max((epsilon(dtype) for dtype in dtypes), default=1.0)
    return finest <= DOUBLE_EPS and bool(at.layout.eps().max() <= DOUBLE_EPS)


def _compared(at: Derivatives, argument: int) -> Comparison:
    """Compare the rows of one argument with the witness; all that is no rounding is undecided."""
    assert at.witness is not None
    analytic, exact = at.analytic.matrices[argument], at.witness.jacobian(argument)
    assert exact is not None
    with np.errstate(all="ignore"):
        close = np.abs(analytic - exact) <= _roundings(at, exact)
    nothing = np.zeros_like(exact)
    unknown = np.full_like(exact, np.nan)
    status = np.full(exact.shape, Status.KNOWN, dtype=np.int8)
    tolerance = Tolerance(at.layout.eps(), float(np.nan_to_num(np.abs(exact)).max(initial=0.0)))
    return Comparison(
        argument=argument,
        layout=at.layout,
        analytic=analytic,
        numeric=Estimate(exact, nothing, status, unknown, unknown),
        decision=np.where(close, Decision.PASS, Decision.UNVERIFIED).astype(np.int8),
        tolerance=tolerance,
        allowed=tolerance.allowed(analytic, exact),
        oracle_error=nothing,
        exact=exact,
    )


def _roundings(at: Derivatives, exact: FloatArray) -> FloatArray:
    """Return what roundings of both sides explain in each entry."""
    eps = at.layout.eps()[:, None]
    # The rows are products with cotangents of one size: their spread is that of the column's sum.
    column = np.sqrt(np.mean(exact**2, axis=0, keepdims=True))
    row = np.abs(exact).max(axis=1, keepdims=True, initial=0.0)
    return np.asarray(eps * (PROJECTED_ROUNDINGS * column + row))


def _is_confirmed(at: Derivatives, sampler: Sampler, comparison: Comparison) -> bool:
    """Return True if evaluations along a random direction of the argument agree with the witness.

    Two steps, of which the difference tells the error of the better one.
    """
    argument, exact = comparison.argument, comparison.numeric.value
    primal = at.primals[argument]
    rng = generator(at.seed, f"confirmed {argument}")
    lengths = scales(primal)
    along = signed(rng, lengths.size) * lengths
    with np.errstate(all="ignore"):
        expected = exact @ along
        size = np.sqrt((exact**2) @ (along**2))
        wide, narrow = (
            _quotients(sampler, argument, along, PROJECTED_STEP * part) for part in (1.0, 0.5)
        )
        error = np.abs(wide.central - narrow.central)
        allowed = PROJECTED_DIFFERENCE * size + 4 * error
        agrees = np.abs(narrow.central - expected) <= allowed
        known = error <= PROJECTED_ERROR * size
        # Where there is no kink the slopes of both sides meet as the step shrinks.
        smooth = narrow.gap <= np.maximum(PROJECTED_GAP * wide.gap, allowed)
        return bool((agrees & known & smooth).all())


class _Quotients(NamedTuple):
    """The difference quotient of every row, and the gap between those of the two sides."""

    central: FloatArray
    gap: FloatArray


def _quotients(sampler: Sampler, argument: int, along: FloatArray, step: float) -> _Quotients:
    primals = sampler.primals
    direction = np.zeros(primals[argument].shape, primals[argument].dtype)
    real_view(direction)[:] = along
    directions: Sequence[Array | None] = [
        direction if at == argument else None for at in range(len(primals))
    ]
    ahead, back = (sampler.at(moved(primals, directions, sign * step)) for sign in (1.0, -1.0))
    central = (ahead - back) / (2 * step)
    return _Quotients(central, np.abs(ahead - 2 * sampler.base + back) / step)
