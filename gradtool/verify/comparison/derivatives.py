"""One function at one point: its analytic Jacobian, the numeric one, and the comparison of both.

Everything is computed when it is first needed, and once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from functools import cached_property, partial
from typing import cast

import msgspec
import numpy as np
from msgspec.structs import replace

from gradtool.results.report import LadderCurve
from gradtool.verify.comparison.analytic import AnalyticJacobian, analytic_jacobian, projected
from gradtool.verify.comparison.compare import (
    Decision,
    DecisionArray,
    decide,
    is_below_rounding_floor,
    is_unresolved,
)
from gradtool.verify.comparison.convex_hull import Tie, outside_hull
from gradtool.verify.comparison.locate import EntrySearch, Located, Projection
from gradtool.verify.comparison.longer_axes import LongerPoint, longer_point
from gradtool.verify.comparison.nearby_kinks import has_no_tie, narrowed
from gradtool.verify.comparison.tolerance import LargestMoves, Tolerance
from gradtool.verify.comparison.witness import Witness, is_consistent, sharpened
from gradtool.verify.oracle.estimate import Estimate, Status
from gradtool.verify.oracle.evaluation_timeout import EvaluationTimeout
from gradtool.verify.oracle.layout import Layout, lay_out, only
from gradtool.verify.oracle.numeric_jacobian import Numeric
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray, is_continuous
from gradtool.verify.protocol.differentiable import Differentiable
from gradtool.verify.protocol.observation import Array, Cotangents, Failure, Observation
from gradtool.verify.randomness import generator, rounded_differently, signed
from gradtool.verify.thresholds.comparison import ROUNDED_DIFFERENCE
from gradtool.verify.thresholds.noise import (
    IRREGULAR_FACTOR,
    SENSITIVITY_LOOKS,
    SENSITIVITY_SAFETY,
)


class Comparison(msgspec.Struct, frozen=True):
    """The derivative of all outputs with respect to one argument, analytic and numeric.

    All matrices have the rows and columns of `layout`.
    """

    argument: int
    layout: Layout
    analytic: FloatArray
    numeric: Estimate
    decision: DecisionArray
    tolerance: Tolerance
    oracle_error: FloatArray
    """The error of what evaluations alone show; that of `numeric` may be less."""
    located: Located | None = None
    """A wrong entry, where rows or columns are random products of entries."""
    exact: FloatArray | None = None
    """The derivative of the recorded forward, where `numeric` agrees with it and has its digits."""
    tie: Tie | None = None
    """The slope along tied entries, where that is what is wrong."""
    curve: Callable[[int, int], LadderCurve] | None = None
    """The difference quotients of a row and column at falling steps; evaluates the function."""

    @property
    def allowed(self) -> FloatArray:
        """The tolerance of each entry, the oracle's error included."""
        value = self.numeric.value
        return self.tolerance.allowed(self.analytic, value) + self.numeric.error

    def without(self, outputs: Collection[int]) -> Comparison:
        """The comparison in which some outputs pass, whatever their derivatives are."""
        decision = self.decision.copy()
        for at, rows in enumerate(self.layout.blocks()):
            if at in outputs:
                decision[rows] = Decision.PASS
        return replace(self, decision=decision)


class Derivatives:
    """The first derivatives of a Differentiable at one point.

    Args:
        function: The function to differentiate.
        primals: The point.
        seed: Seed of all random numbers.
        ungraphed: Compare outputs that require no gradient too, as claims that their
            derivative is zero.
        cancellation_scale: For each coordinate of the outputs the size of the numbers that it is a
            difference of: what it changes by less than their roundings is nothing.
        atol: Overrides the default absolute tolerance.
        rtol: Overrides the default relative tolerance.
        left_out: Part of the largest second derivative that an operation of forward leaves out.
        recorded: The same function, differentiated by the steps of forward; None to rely on
            evaluations alone.
        projected: Compare a few random products of the outputs, whatever their number.
        symmetric: Arguments that only move along directions that keep them symmetric.
    """

    def __init__(
        self,
        function: Differentiable,
        primals: Sequence[Array],
        *,
        seed: int,
        recorded: Differentiable | None = None,
        projected: bool = False,
        ungraphed: bool = False,
        cancellation_scale: FloatArray | None = None,
        atol: float | None = None,
        rtol: float | None = None,
        left_out: float = 0.0,
        symmetric: Collection[int] = (),
    ) -> None:
        self.function = function
        self.primals = tuple(primals)
        self.seed = seed
        self._projected = projected
        self.recorded = recorded
        self.ungraphed = ungraphed
        self.cancellation_scale = cancellation_scale
        self._atol = atol
        self.rtol = rtol
        self.left_out = left_out
        self.symmetric = frozenset(symmetric)
        self._comparisons: dict[int, Comparison] = {}
        self._at_once = True
        self.longer: LongerPoint | None = None
        """A point with longer axes, and what backward returned there, if they are looked at."""
        self.is_settled = False
        """True if random products of all gradients are the witness's, but for roundings."""

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        """The arguments that are differentiated."""
        return tuple(i for i, a in enumerate(self.function.arguments) if a.differentiable)

    @cached_property
    def timeout(self) -> EvaluationTimeout:
        """A limit for calls like `forward`, which took as long as it knows."""
        return EvaluationTimeout()

    @cached_property
    def forward(self) -> Observation:
        """One call, without backward or before it."""
        with self.timeout.calibrated():
            if not self._projected:
                return self.function.call(self.primals)
            # What is only compared by random products needs backward right after forward.
            self.__dict__["baseline"] = self.function.call(self.primals, self._chosen_cotangents)
        return cast("Observation", self.__dict__["forward"])

    def _chosen_cotangents(self, forward: Observation) -> Cotangents | None:
        self.__dict__["forward"] = forward
        return None if forward.failure else self.cotangents

    def share_calls(self, other: Derivatives) -> None:
        """Take over the calls to the same function at the same point that `other` has made."""
        for name in ("forward", "baseline", "timeout"):
            if name in other.__dict__:
                self.__dict__[name] = other.__dict__[name]

    @cached_property
    def layout(self) -> Layout:
        """The rows and columns of the Jacobians."""
        outputs = self.forward.outputs
        graphed = tuple(
            output is not None and is_continuous(output.dtype) and wanted
            for output, wanted in zip(outputs, self.forward.output_requires_grad, strict=True)
        )
        compared = outputs if self.ungraphed else only(outputs, graphed)
        layout = lay_out(
            self.primals,
            compared,
            graphed,
            self.seed,
            projected=self._projected,
            symmetric=self.symmetric,
        )
        if self._projected and layout.functionals is not None:
            layout.functionals.replace(0, self._drawn_cotangent(layout))
        return layout

    def _drawn_cotangent(self, layout: Layout) -> FloatArray:
        # Not the same for gradients: products with the cotangent that they are of would not be
        # random.
        purpose = f"cotangent of {len(self.primals)}" if self.ungraphed else "cotangent"
        return signed(generator(self.seed, purpose), layout.outputs.size)

    @cached_property
    def cotangent(self) -> FloatArray:
        """A random signed cotangent of all outputs, in coordinates."""
        functionals = self.layout.functionals
        if self._projected and functionals is not None:
            return functionals[0]
        return self._drawn_cotangent(self.layout)

    @cached_property
    def cotangents(self) -> Cotangents:
        """`cotangent` as one array for each output that has a graph, None for the others."""
        return self.layout.cotangents(self.cotangent)

    @cached_property
    def baseline(self) -> Observation:
        """One call with backward, at `cotangents`."""
        return self.function.call(self.primals, self.cotangents)

    @cached_property
    def analytic(self) -> AnalyticJacobian:
        """The analytic Jacobian with respect to every argument.

        Raises what the user's code or the engine raises in backward.
        """
        scaling = signed(generator(self.seed, "scaling"), self.layout.rows)
        first = None
        if self._projected:
            # The others get cotangents that float32 does not hold: digits that get lost show.
            scaling *= IRREGULAR_FACTOR
            scaling[0], first = 1.0, self.baseline.gradients
        return analytic_jacobian(
            self.function, self.primals, self.layout, scaling, at_once=self._at_once, first=first
        )

    @cached_property
    def with_longer_axes(self) -> Derivatives | None:
        """These derivatives beside those where axes are longer; None if forward refuses."""
        other = copy(self)
        other.longer = longer_point(self.function, self.primals, self.seed)
        return other if other.longer else None

    @property
    def is_plain(self) -> BoolArray:
        """Flags of rows with no more noise than the rounding of a number of their size."""
        return self._numeric.is_plain

    def rounding_floor(self, argument: int) -> FloatArray:
        """Return for each entry a slope that is lost in the roundings of its output."""
        return self._numeric.rounding_floor(argument)

    @cached_property
    def failure(self) -> Failure | None:
        """The first failure on the way to the analytic Jacobian."""
        if self.forward.failure:
            return self.forward.failure
        if self.layout.has_graph and self.baseline.failure:
            return self.baseline.failure
        try:
            _ = self.analytic
        except Exception as error:  # What the user's backward may raise has no bounds.
            return Failure("backward", "raised", f"{type(error).__name__}: {error}")
        return None

    def gradient_at_cotangents(self, argument: int) -> FloatArray:
        """The gradient of one argument at `cotangents`, in the argument's columns."""
        gradients = self.baseline.gradients or (None,) * len(self.primals)
        (row,) = projected(self.layout, argument, [gradients[argument]])
        return np.asarray(row)

    def comparison(self, argument: int) -> Comparison:
        """The derivative of all outputs with respect to one argument."""
        if argument not in self._comparisons:
            self._comparisons[argument] = self._compare(argument)
        return self._comparisons[argument]

    def settle(self, comparisons: Sequence[Comparison]) -> None:
        """Take these as the comparisons of their arguments: they agree with the witness."""
        self._comparisons.update({each.argument: each for each in comparisons})
        self.is_settled = True

    def tolerance(self, argument: int) -> Tolerance:
        """The tolerance of the entries of one argument, before any look at their jitter."""
        eps = np.maximum(self.layout.eps(), epsilon(self.primals[argument].dtype))
        return Tolerance(
            eps,
            largest=self._largest_moves.at(self.reaches[argument]),
            resting=self._resting / np.maximum(self.reaches[argument], 1.0),
            cancels=self.ungraphed,
            left_out=self.left_out,
            atol=self._atol,
            rtol=self.rtol,
        )

    @cached_property
    def reaches(self) -> list[FloatArray]:
        """For each argument the distances along its columns that change it by its own size."""
        return self.layout.reaches(self.primals)

    @cached_property
    def _largest_moves(self) -> LargestMoves:
        return LargestMoves.of(self.analytic.matrices, self.reaches)

    @property
    def _resting(self) -> FloatArray | float:
        """For each row the size of the terms that its entries are sums of, one at the most."""
        terms = self.cancellation_scale
        if terms is None or terms.shape != (self.layout.rows,):
            return 1.0
        return np.minimum(terms, 1.0)[:, None]

    def is_nondifferentiable(self, comparison: Comparison) -> bool:
        """Return True if outputs that look wrong have no derivative here, hidden from coordinates.

        Of three equal numbers none alone moves the second largest, and yet all together do.
        """
        argument, numeric = comparison.argument, comparison.numeric
        hidden = (comparison.decision == Decision.FAIL) & (numeric.status != Status.KINK)
        wrong = hidden.any(axis=1)
        if self.layout.directions[argument] is not None or not wrong.any():
            return False
        if has_no_tie(self, comparison, hidden, self._numeric.noise):
            return False
        additive = self._numeric.is_additive(argument, numeric, comparison.tolerance)
        return not additive[wrong].any()

    def is_unlike_witness(self, comparison: Comparison) -> BoolArray:
        """Flag rows of a gradient that the recorded forward does not have.

        None of three equal numbers alone moves the median: each may seem to have no gradient.
        """
        exact = None if self.witness is None else self.witness.jacobian(comparison.argument)
        if exact is None or self.ungraphed:
            return np.zeros(len(comparison.analytic), bool)
        allowed = comparison.tolerance.allowed(comparison.analytic, exact)
        with np.errstate(invalid="ignore"):  # Infinity less infinity is unlike nothing.
            return np.asarray((np.abs(comparison.analytic - exact) > allowed).any(axis=1))

    def at_ties(self, comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
        """Fail what passes at a tie or kink only because each entry is looked at by itself."""
        # A second derivative at a kink of the function may be anything.
        if self.ungraphed or not comparisons:
            return tuple(comparisons)
        return outside_hull(self, comparisons, self._numeric.point)

    def _compare(self, argument: int) -> Comparison:
        """Compare with batched runs; an argument that does not pass is redone one by one."""
        comparison = self._compare_once(argument)
        # Batches may be wrong, so they are only relied on to let something pass.
        if self._is_batched and comparison.decision.any():
            self._at_once = False
            # Cached properties live in __dict__; dropping them recomputes them without batches.
            for name in _OF_BATCHES:
                self.__dict__.pop(name, None)
            comparison = self._compare_once(argument)
        return comparison

    @property
    def _is_batched(self) -> bool:
        return self.analytic.is_batched or self._numeric.is_batched

    def _compare_once(self, argument: int) -> Comparison:
        tolerance = self.tolerance(argument)
        comparison = self._compare_at(argument, tolerance)
        if _may_be_rounding(comparison, at_any_size=self.ungraphed):
            # Only now: each look costs another analytic Jacobian.
            moved = self._rounding_sensitivity[argument]
            if comparison.exact is not None:
                moved = moved + self._exact_sensitivity[argument]
            jitter = SENSITIVITY_SAFETY * moved
            comparison = self._compare_at(argument, replace(tolerance, jitter=jitter))
        return self._with_located_entry(comparison)

    def _with_located_entry(self, comparison: Comparison) -> Comparison:
        """Add the place of a wrong entry, where random products of entries were compared.

        One wrong entry among very many moves a product by less than the tolerance of an entry.
        A product that is certainly off is therefore followed to the entry.
        """
        layout, tolerance = self.layout, comparison.tolerance
        if layout.functionals is None and layout.directions[comparison.argument] is None:
            return comparison
        # The search ends at one entry, which does not move without its mirror.
        if layout.is_symmetric(comparison.argument):
            return comparison
        strict = comparison
        # Only with default tolerances: a user's own says what is good enough.
        if not comparison.decision.any() and self.rtol is None and not self._atol:
            sharp = replace(tolerance, rtol=tolerance.sharpest_rtol())
            # A sum over very many entries resolves more than any one of them does.
            error = comparison.numeric.error - self._numeric.resolution_error(comparison.argument)
            numeric = replace(comparison.numeric, error=error)
            decision = decide(comparison.analytic, numeric, sharp, layout.blocks())
            strict = replace(comparison, tolerance=sharp, decision=decision)
        wrong = np.argwhere(strict.decision == Decision.FAIL)
        located = self._locate(strict, *map(int, wrong[0])) if len(wrong) else None
        return replace(strict, located=located) if located else comparison

    def _locate(self, comparison: Comparison, row: int, column: int) -> Located | None:
        argument, layout = comparison.argument, self.layout
        directions = layout.directions[argument]
        (cotangent,) = layout.cotangent_rows([row])
        off = comparison.analytic[row, column] - comparison.numeric.value[row, column]
        wrong = Projection(
            argument,
            # Without a graph there is no analytic side to halve.
            np.where(layout.graphed_coordinates(), cotangent, 0.0),
            column if directions is None else partial(directions.part, column),
            1.0 if directions is None else directions.reach(column),
            float(off),
        )
        numeric = self._numeric
        search = EntrySearch(
            self.function, self.primals, numeric.point, layout, numeric.working_eps, self.rtol
        )
        try:
            return search.run(wrong) if np.isfinite(off) else None
        except Exception:  # On the way the user's code may leave its domain.
            return None

    def _compare_at(self, argument: int, tolerance: Tolerance) -> Comparison:
        analytic = self.analytic.matrices[argument]
        numeric = self._numeric.jacobian(argument, analytic, tolerance)
        oracle_error = numeric.error
        exact = self._exact(argument, numeric, tolerance)
        if exact is not None:
            noise = self._numeric.noise
            is_followed = self.witness is not None and self.witness.follows(argument)
            numeric = sharpened(
                numeric, exact, analytic, tolerance, self.is_plain, is_followed=is_followed
            )
            numeric = narrowed(self, argument, numeric, exact, tolerance, noise)
        decision = decide(analytic, numeric, tolerance, self.layout.blocks())
        if decision.any():
            decision[self._lost_in_rounding(argument, analytic, numeric, decision)] = Decision.PASS
        return Comparison(
            argument=argument,
            layout=self.layout,
            analytic=analytic,
            numeric=numeric,
            tolerance=tolerance,
            decision=decision,
            oracle_error=oracle_error,
            exact=exact,
            curve=partial(self._numeric.curve, argument),
        )

    def _exact(self, argument: int, numeric: Estimate, tolerance: Tolerance) -> FloatArray | None:
        """The exact derivative by one argument; None without one that evaluations agree with."""
        exact = None if self.witness is None else self.witness.jacobian(argument)
        if exact is None or not is_consistent(exact, numeric, tolerance, self.layout.blocks()):
            return None
        return exact

    @cached_property
    def witness(self) -> Witness | None:
        """The recorded forward at this point; None where evaluations alone are relied on."""
        if self.recorded is None:
            return None
        layout, scaling = self.layout, self.analytic.scaling
        outputs = self.forward.outputs
        return Witness(self.recorded, self.primals, layout, scaling, outputs, self._projected)

    def _lost_in_rounding(
        self, argument: int, analytic: FloatArray, numeric: Estimate, decision: DecisionArray
    ) -> BoolArray:
        """Flag entries that are lost in roundings of the outputs, or of their terms.

        A gradient that moves in steps, and is constant between them, is that of straight pieces.
        """
        floor_of = partial(self._numeric.rounding_floor, argument)
        lost = is_unresolved(analytic, numeric, floor_of(), decision, self.reaches[argument])
        terms = self.cancellation_scale
        if terms is not None and terms.shape == analytic.shape[:1]:
            lost |= is_below_rounding_floor(analytic, numeric, floor_of(terms))
            stepped = (decision == Decision.UNVERIFIED) & (numeric.status == Status.STEPPED)
            coarse = self._numeric.is_made_of_roundings(terms)[:, None]
            lost |= stepped & (coarse | (analytic == 0))
        if ((decision == Decision.FAIL) & ~lost).any():
            floor = floor_of(self._numeric.cancellation_scale)
            lost |= is_below_rounding_floor(analytic, numeric, floor)
        return lost

    @cached_property
    def _rounding_sensitivity(self) -> tuple[FloatArray, ...]:
        """The change of the analytic Jacobians when the inputs change by a rounding."""
        function, layout, scaling = self.function, self.layout, self.analytic.scaling
        others = (
            analytic_jacobian(function, point, layout, scaling, at_once=self._at_once).matrices
            for point in self._rounded_points
        )
        return _largest_changes(self.analytic.matrices, others)

    @cached_property
    def _exact_sensitivity(self) -> tuple[FloatArray, ...]:
        """The same of the recorded forward's: it may cancel terms that backward never has."""
        assert self.witness is not None
        # What a large term swallows is the same at all these points, and not at another scale.
        scales = generator(self.seed, "scales").uniform(0.5, 1.0, SENSITIVITY_LOOKS)
        looks = map(self.witness.jacobians_near, self._rounded_points, scales)
        return _largest_changes(self.witness.jacobians, filter(None, looks))

    @property
    def _rounded_points(self) -> list[list[Array]]:
        """Points that are a rounding away."""
        rng = generator(self.seed, "wavering")
        return [
            rounded_differently(self.primals, self.inputs, rng) for _ in range(SENSITIVITY_LOOKS)
        ]

    @cached_property
    def _numeric(self) -> Numeric:
        return Numeric(self.function, self.primals, self.layout, self.seed, at_once=self._at_once)


_OF_BATCHES = (
    "analytic",
    "_largest_moves",
    "_numeric",
    "_rounding_sensitivity",
    "_exact_sensitivity",
)
"""Properties that batched runs may have gone into."""


def _largest_changes(
    here: Sequence[FloatArray], others: Iterable[Sequence[FloatArray]]
) -> tuple[FloatArray, ...]:
    """Return the largest change of each entry of each matrix."""
    changes = [np.zeros_like(matrix) for matrix in here]
    for there in others:
        for most, one, other in zip(changes, here, there, strict=True):
            with np.errstate(invalid="ignore"):  # Both may be infinite.
                np.fmax(most, np.abs(other - one), out=most)
    return tuple(changes)


def _may_be_rounding(comparison: Comparison, *, at_any_size: bool) -> bool:
    """Return True if all errors are small enough to be left by cancellation in backward.

    autograd differentiates backward term by term, and large terms that nearly cancel leave their
    roundings in entries that evaluations of backward show to be far smaller.
    """
    wrong = comparison.decision == Decision.FAIL
    if at_any_size:
        return bool(wrong.any())
    difference = np.abs(comparison.analytic - comparison.numeric.value)
    small = difference <= ROUNDED_DIFFERENCE * comparison.tolerance.largest
    return bool(wrong.any() and small[wrong].all())
