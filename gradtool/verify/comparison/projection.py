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
from gradtool.verify.oracle.estimate import Estimate, Status
from gradtool.verify.oracle.sampler import Sampler, moved
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import FloatArray, real_view
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, signed
from gradtool.verify.thresholds.comparison import (
    DOUBLE_EPS,
    PROJECTED_BEND,
    PROJECTED_DIFFERENCE,
    PROJECTED_ERROR,
    PROJECTED_GAP,
    PROJECTED_ROUNDINGS,
    PROJECTED_SPREAD,
    PROJECTED_STEP,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


def passes(at: Derivatives) -> bool:
    """Return True if every gradient is right by random cotangents, and keep the comparisons.

    Never raises for what the user's code does: False leaves it to the full comparison.
    """
    compared = _all_compared(at)
    if not compared or any(each.decision.any() for each in compared):
        return False
    sampler = Sampler(
        at.function.evaluate,
        at.primals,
        at.layout.outputs,
        at.layout.functionals,
        base=(at.forward.outputs, at.timeout),
    )
    if not _is_confirmed(at, sampler, compared):
        return False
    at.settle(compared)
    return True


def agreeing(at: Derivatives) -> list[bool]:
    """Flag the arguments whose gradient is the witness's; none where nothing can be compared."""
    return [not each.decision.any() for each in _all_compared(at)]


def _all_compared(at: Derivatives) -> list[Comparison]:
    if not _is_worthwhile(at) or at.failure or at.witness is None or at.witness.silence:
        return []
    return [_compared(at, argument) for argument in at.inputs]


def _is_worthwhile(at: Derivatives) -> bool:
    """Return True if there is a graph, all in double precision, and of one scale."""
    if at.forward.failure or not at.layout.has_graph or at.layout.functionals is None:
        return False
    finest = max((epsilon(at.primals[argument].dtype) for argument in at.inputs), default=1.0)
    if finest > DOUBLE_EPS or at.layout.eps().max() > DOUBLE_EPS:
        return False
    return all(_is_of_one_scale(at.primals[i], at.reaches[i]) for i in at.inputs)


def _is_of_one_scale(primal: Array, scales: FloatArray) -> bool:
    """Return True if no entry is so small that a step of the others' size leads it astray."""
    size = np.abs(real_view(np.ascontiguousarray(primal)))
    return not ((size < PROJECTED_SPREAD * scales) & (size > 0)).any()


def _compared(at: Derivatives, argument: int) -> Comparison:
    """Compare the rows of one argument with the witness; all that is no rounding is undecided."""
    assert at.witness is not None
    analytic, exact = at.analytic.matrices[argument], at.witness.jacobian(argument)
    assert exact is not None
    with np.errstate(all="ignore"):
        # Nothing is close to infinity.
        close = (np.abs(analytic - exact) <= _roundings(at, exact)) & np.isfinite(exact)
    nothing = np.zeros_like(exact)
    unknown = np.full_like(exact, np.nan)
    status = np.full(exact.shape, Status.KNOWN, dtype=np.int8)
    return Comparison(
        argument=argument,
        layout=at.layout,
        analytic=analytic,
        numeric=Estimate(exact, nothing, status, unknown, unknown),
        decision=np.where(close, Decision.PASS, Decision.UNVERIFIED).astype(np.int8),
        tolerance=at.tolerance(argument),
        oracle_error=nothing,
        exact=exact,
    )


def _roundings(at: Derivatives, exact: FloatArray) -> FloatArray:
    """Return what roundings of both sides explain in each entry."""
    eps = at.layout.eps()[:, None]
    # The rows are products with cotangents of one size: their spread is that of the column's sum.
    column = np.hypot.reduce(exact) / np.sqrt(len(exact))
    row = np.abs(exact).max(axis=1, keepdims=True, initial=0.0)
    return np.asarray(eps * (PROJECTED_ROUNDINGS * column + row))


def _is_confirmed(at: Derivatives, sampler: Sampler, compared: Sequence[Comparison]) -> bool:
    """Return True if evaluations agree with the witness along random directions.

    One direction of all arguments tells at once, if it tells even the least of their shares.
    """
    rng = generator(at.seed, "confirmed")
    lines = [_line(at, each, rng) for each in compared]
    together = len(lines) > 1 and _agrees(sampler, lines)
    return together or all(_agrees(sampler, [line]) for line in lines)


class _Line(NamedTuple):
    """A direction of one argument, and the slope of every row along it by the witness.

    `size` is the root of the sum of the squares of the terms of each slope.
    """

    argument: int
    along: Array
    slope: FloatArray
    size: FloatArray


def _line(at: Derivatives, comparison: Comparison, rng: np.random.Generator) -> _Line:
    exact, primal = comparison.numeric.value, at.primals[comparison.argument]
    lengths = at.reaches[comparison.argument]
    along = signed(rng, lengths.size) * lengths
    direction = np.zeros(primal.shape, primal.dtype)
    real_view(direction)[:] = along
    with np.errstate(all="ignore"):
        terms = exact * along
        return _Line(comparison.argument, direction, terms.sum(axis=1), _norms(terms))


def _norms(rows: FloatArray) -> FloatArray:
    """Return Euclidean norms, also of numbers whose squares are too large or too small."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    unit = rows / np.where(largest > 0, largest, 1.0)[:, None]
    return np.asarray(largest * np.sqrt(np.einsum("ij,ij->i", unit, unit)))


def _agrees(sampler: Sampler, lines: Sequence[_Line]) -> bool:
    """Return True if the slope along all `lines` at once is that of the witness.

    One step tells where the function is nearly straight. Else the difference to half the step tells
    the error of the better one.
    """
    with np.errstate(all="ignore"):
        least = np.min([line.size for line in lines], axis=0)
        slope = np.sum([line.slope for line in lines], axis=0)
        wide = _quotients(sampler, lines, PROJECTED_STEP)
        straight = (np.abs(wide.central - slope) <= PROJECTED_DIFFERENCE * least) & (
            wide.gap <= PROJECTED_BEND * least
        )
        if straight.all():
            return True
        narrow = _quotients(sampler, lines, PROJECTED_STEP / 2)
        error = np.abs(wide.central - narrow.central)
        allowed = PROJECTED_DIFFERENCE * least + 4 * error
        agrees = np.abs(narrow.central - slope) <= allowed
        known = error <= PROJECTED_ERROR * least
        # Where there is no kink the slopes of both sides meet as the step shrinks.
        smooth = narrow.gap <= np.maximum(PROJECTED_GAP * wide.gap, allowed)
        return bool((agrees & known & smooth).all())


class _Quotients(NamedTuple):
    """The difference quotient of every row, and the gap between those of the two sides."""

    central: FloatArray
    gap: FloatArray


def _quotients(sampler: Sampler, lines: Sequence[_Line], step: float) -> _Quotients:
    directions: list[Array | None] = [None] * len(sampler.primals)
    for line in lines:
        directions[line.argument] = line.along
    ahead, back = (
        sampler.at(moved(sampler.primals, directions, sign * step)) for sign in (1.0, -1.0)
    )
    central = (ahead - back) / (2 * step)
    return _Quotients(central, np.abs(ahead - 2 * sampler.base + back) / step)
