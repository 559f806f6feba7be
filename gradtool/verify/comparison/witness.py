"""The witness: the engine's own derivative of forward, exact to rounding.

The engine differentiates every operation that it runs. A forward that is recorded step by step
therefore has a derivative that owes nothing to the user's backward and nothing to step sizes. It
is never believed alone: it sharpens what evaluations show, and only where they agree with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec
import numpy as np
from msgspec.structs import replace

from gradtool.verify.comparison.analytic import AnalyticJacobian, Rows, analytic_jacobian
from gradtool.verify.comparison.compare import Decision, decide
from gradtool.verify.comparison.tolerance import Tolerance, default_rtol
from gradtool.verify.oracle.estimate import Estimate, Status
from gradtool.verify.oracle.layout import Layout
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray, is_continuous
from gradtool.verify.protocol.differentiable import Differentiable
from gradtool.verify.protocol.observation import Array

_Found = tuple[AnalyticJacobian, Layout]


class Witness(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A recorded forward at one point.

    Args:
        function: The function, differentiated by the steps of its forward.
        primals: The point.
        layout: The rows and columns of its Jacobians: those of the Function.
        scaling: The scaling of each row, as of the Function's own Jacobian.
        outputs: The outputs of the Function at the point, which the recorded one must have.
        in_one_run: All rows are to come from the call that shows the outputs: they are few.
    """

    function: Differentiable
    primals: Sequence[Array]
    layout: Layout
    scaling: FloatArray
    outputs: Sequence[Array | None]
    in_one_run: bool = False

    @cached_property
    def _found(self) -> tuple[_Found | None, str | None]:
        """The Jacobians and their layout; or the reason why there are none."""
        if self.in_one_run:
            return self._found_at_once()
        seen = self.function.call(self.primals)
        if seen.failure:
            return None, f"forward cannot be recorded: {seen.failure.message}"
        if not _same(seen.outputs, self.outputs):
            return None, "forward gives different results when it is recorded"
        # What backward has lost the graph of, the recorded forward may have kept.
        graphed = tuple(
            requires_grad and block.stop > block.start
            for requires_grad, block in zip(
                seen.output_requires_grad, self.layout.outputs.blocks, strict=True
            )
        )
        layout = replace(self.layout, graphed=graphed)
        try:
            jacobian = analytic_jacobian(
                self.function, self.primals, layout, self.scaling, at_once=True
            )
        except Exception as error:  # What the steps of the user's forward raise has no bounds.
            return None, f"forward cannot be differentiated: {type(error).__name__}: {error}"
        return (jacobian, layout), None

    def _found_at_once(self) -> tuple[_Found | None, str | None]:
        """The same from one call, which says less of why there are none."""
        # What backward has lost the graph of, the recorded forward may have kept.
        graphed = tuple(block.stop > block.start for block in self.layout.outputs.blocks)
        layout = replace(self.layout, graphed=graphed)
        rows = Rows(self.function, self.primals, layout, self.scaling)
        try:
            jacobian = rows.with_outputs()
        except Exception as error:  # What the steps of the user's forward raise has no bounds.
            return None, f"forward cannot be differentiated: {type(error).__name__}: {error}"
        if not _same(jacobian.outputs or (), self.outputs):
            return None, "forward gives different results when it is recorded"
        return (jacobian, layout), None

    @property
    def silence(self) -> str | None:
        """The reason why there are no Jacobians; None where there are."""
        return self._found[1]

    def jacobian(self, argument: int) -> FloatArray | None:
        """The exact derivative with respect to one argument; None where it cannot be found."""
        found = self._found[0]
        return None if found is None else found[0].matrices[argument]

    @property
    def jacobians(self) -> tuple[FloatArray, ...]:
        """The exact derivatives with respect to all arguments; none where they cannot be found."""
        found = self._found[0]
        return () if found is None else found[0].matrices

    def jacobians_near(
        self, primals: Sequence[Array], scale: float
    ) -> tuple[FloatArray, ...] | None:
        """Return `jacobians` at a point close by, from cotangents that are `scale` times as large.

        None where there are none, or where steps of the user's forward raise.
        """
        found = self._found[0]
        if found is None:
            return None
        try:
            return analytic_jacobian(
                self.function, primals, found[1], self.scaling * scale, at_once=True
            ).matrices
        except Exception:  # What the steps of the user's forward raise has no bounds.
            return None

    def follows(self, argument: int) -> bool:
        """Return True if recorded steps lead from an argument to an output."""
        found = self._found[0]
        return found is not None and found[0].returned[argument]


def _same(outputs: Sequence[Array | None], others: Sequence[Array | None]) -> bool:
    return len(outputs) == len(others) and all(
        _equal(one, other) for one, other in zip(outputs, others, strict=True)
    )


def _equal(one: Array | None, other: Array | None) -> bool:
    """Return True for the same values; where these are gradients, backward rounds otherwise.

    A gradient that is missing is the same as one of zeros.
    """
    if one is None or other is None:
        there = other if one is None else one
        return there is None or not there.any()
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if not is_continuous(one.dtype):
        return np.array_equal(one, other)
    if np.array_equal(one, other):
        return True
    size = np.abs(other[np.isfinite(other)]).max(initial=0.0)
    near = default_rtol(epsilon(one.dtype)) * size
    return bool(np.isclose(one, other, rtol=0.0, atol=near, equal_nan=True).all())


def is_consistent(
    exact: FloatArray, numeric: Estimate, tolerance: Tolerance, blocks: Sequence[slice]
) -> bool:
    """Return True if evaluations contradict no entry of the exact derivative."""
    if not np.isfinite(exact).all():
        return False
    return bool((decide(exact, numeric, tolerance, blocks) != Decision.FAIL).all())


def sharpened(
    numeric: Estimate,
    exact: FloatArray,
    analytic: FloatArray,
    tolerance: Tolerance,
    is_plain: BoolArray,
    *,
    is_followed: bool,
) -> Estimate:
    """The numeric derivative with the digits of the exact one, which it agrees with.

    A value that is known gets its digits; its error too, in the rows that `is_plain` says carry
    no more noise than rounding. What is not known well enough, or not at all, is settled by the
    exact value only in favour of the gradient: a kink may have more than one. But an output that
    moves in steps is constant between them if its derivative is zero along a path that
    `is_followed` from the argument.
    """
    settled = np.isin(numeric.status, (Status.KNOWN, Status.FLAT)) & np.isfinite(numeric.value)
    doubtful = np.isin(numeric.status, (Status.UNKNOWN, Status.STEPPED)) | (
        settled & ~(numeric.error <= tolerance.meaningful_error(_scale(exact))[:, None])
    )
    resolved = doubtful & (np.abs(analytic - exact) <= tolerance.allowed(analytic, exact))
    resolved |= (numeric.status == Status.STEPPED) & (exact == 0) & is_followed
    sharp = resolved | (settled & ~doubtful & is_plain[:, None])
    return replace(
        numeric,
        value=np.where(sharp | settled & ~doubtful, exact, numeric.value),
        error=np.where(sharp, 0.0, numeric.error),
        status=np.where(resolved, Status.KNOWN, numeric.status).astype(np.int8),
    )


def _scale(exact: FloatArray) -> FloatArray:
    """The largest entry of each row."""
    return np.asarray(np.abs(exact).max(axis=1, initial=0.0))
