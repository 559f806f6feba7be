"""The point that decides: the case's own, or one nearby where the derivative exists.

At a kink, or where no limit is found, there is little to compare a gradient with; nor is there
where slopes along the coordinates do not add up to the slope across them. The same formula is then
judged a small step away, unless the gradients around the point convict it already. Only where that
does not help either does the case's own point decide, kinks included. Where the oracle is merely
blunt, because the function is noisy or moves in steps, it would be as blunt anywhere.

A gradient of symmetric matrices, of which forward reads one triangle, is judged along symmetric
changes where it is not right entry by entry.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from gradtool.verify.comparison.compare import Decision
from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.oracle.estimate import Status
from gradtool.verify.protocol.coordinates import BoolArray

_DECISIVE = (Decision.PASS, Decision.FAIL)
_SINGULAR = (Status.KINK, Status.UNKNOWN, Status.OUTSIDE)


class Judgement(msgspec.Struct, frozen=True):
    """The comparisons that decide, one for each argument, and those of the case's own point."""

    at: Derivatives
    comparisons: tuple[Comparison, ...]
    own: tuple[Comparison, ...]
    symmetric: Derivatives | None = None
    """Those along symmetric changes, where these are meant and show no less to be wrong."""

    def without(self, outputs: Collection[int]) -> Judgement:
        """The judgement in which some outputs pass, whatever their derivatives are."""
        if not outputs:
            return self
        comparisons = tuple(each.without(outputs) for each in self.comparisons)
        own = tuple(each.without(outputs) for each in self.own) if self.is_nearby else comparisons
        return replace(self, comparisons=comparisons, own=own)

    @property
    def is_nearby(self) -> bool:
        """A point other than the case's own decides."""
        # Identity is enough: `judge` passes the same tuple twice where the own point decides.
        return self.comparisons is not self.own

    @property
    def is_nondifferentiable(self) -> bool:
        """A gradient that looks wrong at the case's own point is right at the one that decides."""
        return _worst(self.own) is Decision.FAIL and self.worst is Decision.PASS

    @property
    def is_symmetric(self) -> bool:
        """Some argument was compared along symmetric changes."""
        return bool(self.at.symmetric)

    @property
    def worst(self) -> Decision:
        """The worst decision on any entry."""
        return _worst(self.comparisons)


def judge(
    own: Derivatives,
    arguments: Sequence[int],
    nearby: Callable[[Derivatives], list[Derivatives]],
    symmetric: Callable[[Derivatives], Derivatives | None],
) -> Judgement:
    """Compare the derivatives with respect to `arguments`, at a point that can decide.

    Args:
        own: Those at the case's own point.
        arguments: The arguments in question.
        nearby: Returns the derivatives at points around some point.
        symmetric: Returns derivatives along symmetric changes; None where these are not meant.
    """
    comparisons = _compare(own, arguments)
    other = None if _worst(comparisons) is Decision.PASS else symmetric(own)
    if other and is_comparable(other, own):
        others = _compare(other, arguments)
        if _is_righter(others, comparisons):
            own, comparisons, other = other, others, None
    is_needed = _needs_other_point(own, comparisons)
    if is_needed or _is_doubted(own, comparisons):
        tied = own.at_ties(comparisons)
        if any(each.tie for each in tied):
            return Judgement(own, tied, tied)
    for point in nearby(own) if is_needed else ():
        others = _compare(point, arguments) if is_comparable(point, own) else ()
        if others and _worst(others) in _DECISIVE:
            return Judgement(point, others, comparisons)
    return Judgement(own, comparisons, comparisons, other)


def _is_righter(others: Sequence[Comparison], comparisons: Sequence[Comparison]) -> bool:
    """Return True if some argument is judged better than in `comparisons`, and none worse."""
    pairs = [(_worst([a]), _worst([b])) for a, b in zip(others, comparisons, strict=True)]
    return any(a < b for a, b in pairs) and all(a <= b for a, b in pairs)


def _needs_other_point(own: Derivatives, comparisons: Sequence[Comparison]) -> bool:
    """Return True if another point might decide where this one does not, or wrongly."""
    if _worst(comparisons) in _DECISIVE:
        wrong = [c for c in comparisons if _wrong_rows(c).any()]
        singular = [_wrong_rows(c) for c in wrong if own.is_nondifferentiable(c)]
        # Where an output has no derivative by one argument, its slope by another may be any, too.
        return bool(singular) and all(
            not (_wrong_rows(c) & ~np.any(singular, axis=0)).any() for c in wrong
        )
    return any(_is_singular(c) for c in comparisons)


def _wrong_rows(comparison: Comparison) -> BoolArray:
    """Flag the rows with a wrong entry."""
    return np.asarray((comparison.decision == Decision.FAIL).any(axis=1))


def _is_doubted(own: Derivatives, comparisons: Sequence[Comparison]) -> bool:
    """Return True if the recorded forward has another gradient than the one that passes."""
    return _worst(comparisons) is Decision.PASS and any(
        own.is_unlike_witness(each).any() for each in comparisons
    )


def _compare(derivatives: Derivatives, arguments: Sequence[int]) -> tuple[Comparison, ...]:
    return tuple(derivatives.comparison(argument) for argument in arguments)


def _worst(comparisons: Sequence[Comparison]) -> Decision:
    return Decision(max((c.decision.max(initial=0) for c in comparisons), default=0))


def _is_singular(comparison: Comparison) -> bool:
    """Return True if some entry is undecided because there is no limit at this very point."""
    undecided = np.isin(comparison.decision, (Decision.KINK, Decision.UNVERIFIED))
    return bool(np.isin(comparison.numeric.status[undecided], _SINGULAR).any())


def is_comparable(point: Derivatives, own: Derivatives) -> bool:
    """Return True if the function can be differentiated at `point` as it can at its own."""
    return point.failure is None and point.layout.graphed == own.layout.graphed
