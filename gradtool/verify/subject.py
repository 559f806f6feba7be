"""One Function at one case, with everything that was ever computed of it.

Rules share a `Subject`, so a call, a Jacobian or a second derivative that several of them need is
made once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial

import numpy as np

from gradtool.results.report import Basis, Cost
from gradtool.verify.basis import basis_of
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.comparison.forward_mode import JvpComparison, JvpError, compare_jvps
from gradtool.verify.comparison.judgement import Judgement, is_comparable, judge
from gradtool.verify.comparison.one_triangle import read_by_triangle
from gradtool.verify.comparison.projection import passes
from gradtool.verify.diagnosis import gated_gradients
from gradtool.verify.diagnosis.low_precision import PrecisionLoss, low_precision_gradients
from gradtool.verify.diagnosis.methods import takes_softplus
from gradtool.verify.diagnosis.repaired_backward import Repairs
from gradtool.verify.diagnosis.starting_points import is_starting_point
from gradtool.verify.diagnosis.surrogate_gradients import surrogates
from gradtool.verify.oracle.steps import scales
from gradtool.verify.oracle.symmetric_directions import mirrored
from gradtool.verify.protocol.coordinates import FloatArray, is_continuous
from gradtool.verify.protocol.counting import Counter, counted
from gradtool.verify.protocol.differentiable import Differentiable, Examinable
from gradtool.verify.protocol.observation import Array, ChangedByJvp, Cotangents
from gradtool.verify.protocol.stand_in import WithForwardOf
from gradtool.verify.randomness import generator, shifted, signed
from gradtool.verify.thresholds.comparison import (
    LEFT_OUT_BY_SOFTPLUS,
    TELLING_TOLERANCE,
    THIRD_DERIVATIVE_ROUNDINGS,
    THIRD_DERIVATIVE_RTOL,
)
from gradtool.verify.thresholds.rules import COTANGENT_FACTORS
from gradtool.verify.thresholds.steps import NEARBY_POINT_SHIFTS

Gradients = tuple[Array | None, ...]


class Subject:
    """One Function at one case.

    Args:
        differentiable: The Function, as an adapter presents it.
        seed: Seed of all cotangents, directions and nearby points.
        atol: Overrides the default absolute tolerance.
        rtol: Overrides the default relative tolerance.
        twin: The same Function at the same case on the CPU, where it runs on another device.
        witness: Differentiate the recorded forward too, beside the evaluations.
        declared: Names of arguments whose gradient is declared a surrogate of the derivative.
        intended: The function whose derivative the declared surrogates are.
    """

    def __init__(
        self,
        differentiable: Examinable,
        *,
        seed: int = 0,
        atol: float | None = None,
        rtol: float | None = None,
        twin: Examinable | None = None,
        witness: bool = True,
        declared: Collection[str] = (),
        intended: Examinable | None = None,
    ) -> None:
        self._counter = Counter()
        self._declared = frozenset(declared)
        self.intended = intended and counted(intended, self._counter)
        self.twin = twin and counted(twin, self._counter)
        self._seed = seed
        self._atol = atol
        self._rtol = rtol
        self.function = counted(differentiable, self._counter)
        self._uses_witness = witness
        self.judgements: list[Judgement] = []
        """All judgements so far."""
        self._of_gradients: list[Judgement] = []
        """Those of first derivatives."""
        self._unsettled: list[Callable[[], Derivatives]] = []
        """Make anew what random products did not settle."""
        self._entries_of_surrogates = 0

    @property
    def cost(self) -> Cost:
        """Calls of the user's code so far."""
        return self._counter.cost

    @property
    def compared(self) -> int:
        """Entries of derivatives that were compared so far, and could have been found wrong.

        Those of surrogates count once: they are compared between runs, not with a derivative.
        """
        judged = sum(c.analytic.size for each in self.judgements for c in each.comparisons)
        entries = judged + self._entries_of_surrogates
        return 0 if entries and self.nothing_shown else entries

    @property
    def nothing_shown(self) -> str | None:
        """The reason why gradients that agree prove nothing here; None where they do.

        Those that disagree are wrong all the same.
        """
        if self._is_indulgent:
            return "the tolerance accepts every gradient between 0.5 and 1.5 times the right one"
        if self._underflows:
            return "the arguments are so small that their squares underflow to zero"
        return None

    @cached_property
    def _underflows(self) -> bool:
        """True if the square of every argument that requires a gradient vanishes."""
        return all(_underflows(self.first.primals[i]) for i in self.first.inputs)

    @property
    def _is_indulgent(self) -> bool:
        """True if the tolerance that was given accepts fractions and multiples of a gradient."""
        if self._atol is None and self._rtol is None:
            return False
        return any(_accepts_any(c) for each in self._of_gradients for c in each.comparisons)

    @property
    def basis(self) -> Basis | None:
        """The evidence behind all judgements so far; None where nothing was compared."""
        return basis_of(self.judgements, self.recorded.cuts if self.recorded else ())

    @cached_property
    def first(self) -> Derivatives:
        """The first derivatives at the case's own point."""
        return self._derivatives(self.function, self.function.primals, self.recorded)

    @cached_property
    def first_in_full(self) -> Derivatives:
        """The same, compared entry by entry even where random products have settled them."""
        if not self.first.is_settled:
            return self.first
        return self._again(self.first, self.first.primals, self.first.symmetric)

    @cached_property
    def recorded(self) -> Examinable | None:
        """The Function, differentiated by the steps of forward."""
        return self.function.recorded() if self._uses_witness else None

    @cached_property
    def nothing_to_check(self) -> str | None:
        """The reason why there is no gradient to check; None when there is one."""
        if not self.first.inputs:
            return "no argument requires a gradient"
        if not self.first.layout.has_graph:
            outputs = self.first.forward.outputs
            if any(output is not None and is_continuous(output.dtype) for output in outputs):
                return "no output requires a gradient"
            return "no output is a floating-point or complex tensor"
        return None

    @cached_property
    def nothing_to_compare(self) -> str | None:
        """The reason why there are no numbers to compare; None when there are."""
        if self.nothing_to_check:
            return self.nothing_to_check
        if not self.first.layout.outputs.size:
            return "every output is empty"
        if not any(self.first.layout.inputs[i].size for i in self.first.inputs):
            return "every argument that requires a gradient is empty"
        return None

    @cached_property
    def repeated(self) -> tuple[Gradients, Gradients] | str:
        """The gradients of two runs of backward over one forward; or what the second raises."""
        if self._runs:
            return self._runs[0], self._runs[-1]
        cotangents, primals = self.first.cotangents, self.first.primals
        try:
            first, again = self.function.vjps(primals, [cotangents, cotangents])
        except Exception as error:  # What the user's backward may raise has no bounds.
            return f"{type(error).__name__}: {error}"
        return first, again

    @cached_property
    def has_changed(self) -> bool:
        """True if random products settle now what the very same ones did not settle before."""
        return any(passes(again()) for again in self._unsettled)

    @cached_property
    def low_precision_gradients(self) -> list[PrecisionLoss] | str:
        """The gradients that have lost digits; or the error that kept them from being measured."""
        try:
            return low_precision_gradients(self.given.at, self._seed)
        except Exception as error:  # What backward may raise without a graph has no bounds.
            return f"{type(error).__name__}: {error}"

    @cached_property
    def missing(self) -> tuple[int, ...]:
        """The arguments that ask for a gradient and get None for every cotangent."""
        gradients = self.first.baseline.gradients or ()
        returned = self.first.analytic.returned
        return tuple(i for i in self.first.inputs if not returned[i] and gradients[i] is None)

    @cached_property
    def declared(self) -> frozenset[int]:
        """The arguments whose gradient is declared a surrogate of the derivative."""
        names = self.function.arguments
        return frozenset(i for i in self.first.inputs if names[i].name in self._declared)

    @cached_property
    def excused(self) -> dict[int, str]:
        """The arguments whose gradient is wrong, but meant to be, and the name of its kind.

        None is where one of the gradients differs from run to run by mistake.
        """
        if self.nothing_to_compare or self.first.failure:
            return {}
        if self._undeclared_judgement.worst is not Decision.FAIL:
            return {}
        if not self.random and not gated_gradients.is_steady(self):
            return {}
        nonlinear = {**self.not_linear, **self.random}
        return {**surrogates(self, self._undeclared_judgement, nonlinear), **nonlinear}

    @property
    def recognized(self) -> dict[int, str]:
        """The arguments with an undeclared surrogate, and the name of its kind."""
        return self.excused or self.not_linear

    @cached_property
    def scaled(self) -> dict[float, Gradients]:
        """The gradients for multiples of the cotangent, by the factor."""
        factors = (1.0, *COTANGENT_FACTORS)
        found = self._runs or self.function.vjps(self.first.primals, self._multiples(factors))
        return dict(zip(factors, found, strict=False))

    @cached_property
    def _run(self) -> tuple[Gradients, list[Gradients]] | None:
        """The outputs, and the gradients for multiples of the cotangent, then again for the first.

        All from one forward; None where any of them raises.
        """
        rows = self._multiples((1.0, *COTANGENT_FACTORS, 1.0))
        try:
            return self.function.valued_vjps(self.first.primals, rows)
        except Exception:  # What the user's backward may raise has no bounds.
            return None

    @property
    def _runs(self) -> list[Gradients] | None:
        return None if self._run is None else self._run[1]

    @property
    def gradients_for_zero(self) -> Gradients | None:
        """The gradients for a cotangent of zeros; None where a run for a multiple raises."""
        return None if self._runs is None else self.scaled[0.0]

    @property
    def outputs_again(self) -> Gradients | None:
        """The outputs of a second forward; None where none was needed for its gradients."""
        if self.nothing_to_check:
            return None
        if self.first.is_settled:
            return self.first.analytic.outputs
        return None if self._run is None else self._run[0]

    def _multiples(self, factors: Sequence[float]) -> list[Cotangents]:
        return [
            [None if c is None else np.asarray(factor * c, c.dtype) for c in self.first.cotangents]
            for factor in factors
        ]

    @cached_property
    def _undeclared_judgement(self) -> Judgement:
        """The judgement of all gradients that backward returned, but for declared surrogates."""
        return self._judgement(self.first, self._returned(self.declared))

    @cached_property
    def not_linear(self) -> dict[int, str]:
        """The arguments whose gradient is no linear function of the cotangent, on purpose."""
        return self._undeclared(gated_gradients.not_linear)

    @cached_property
    def random(self) -> dict[int, str]:
        """The arguments whose gradient is random on purpose."""
        return self._undeclared(gated_gradients.random)

    def _undeclared(self, find: Callable[[Subject], dict[int, str]]) -> dict[int, str]:
        try:
            found = find(self)
        except Exception:  # What the user's backward may raise at other cotangents has no bounds.
            return {}
        return {argument: kind for argument, kind in found.items() if argument not in self.declared}

    @cached_property
    def repairs(self) -> Repairs:
        """The edits of backward that may make its gradients right."""
        return Repairs(self.function, self.recorded, self.given.at)

    @property
    def surrogates(self) -> frozenset[int]:
        """The arguments whose gradient is not compared with the derivative."""
        return self.declared | self.excused.keys()

    @cached_property
    def given(self) -> Judgement:
        """The judgement of the gradients that backward returned, without surrogates."""
        self._entries_of_surrogates = sum(self.first.primals[i].size for i in self.surrogates)
        judgement = self._undeclared_judgement
        if self.excused:
            judgement = self._judgement(self.first, self._returned(self.surrogates))
        self.judgements.append(judgement)
        self._of_gradients.append(judgement)
        return judgement

    @cached_property
    def intention(self) -> Judgement | None:
        """The judgement of the declared surrogates against the function that they stand for."""
        if self.intended is None or not self.declared:
            return None
        stand_in = WithForwardOf(self.function, self.intended)
        at = self._derivatives(stand_in, self.function.primals, None)
        return self._judge(at, sorted(self.declared.difference(self.missing)))

    def _returned(self, excluded: Collection[int]) -> list[int]:
        out = {*self.missing, *excluded}
        return [i for i in self.first.inputs if i not in out]

    @cached_property
    def withheld(self) -> Judgement:
        """The judgement of the gradients that were None, taken as zero."""
        return self._judge(self.first, [i for i in self.missing if i not in self.starting_points])

    @cached_property
    def starting_points(self) -> frozenset[int]:
        """The arguments with None for a gradient that an iteration only starts from."""
        if self._judgement(self.first, self.missing).worst in (Decision.PASS, Decision.KINK):
            return frozenset()
        return frozenset(i for i in self.missing if is_starting_point(self.first, i))

    def _judge(self, at: Derivatives, arguments: Sequence[int]) -> Judgement:
        judgement = self._judgement(at, arguments)
        self.judgements.append(judgement)
        return judgement

    def _judgement(self, at: Derivatives, arguments: Sequence[int]) -> Judgement:
        return judge(at, arguments, self._nearby, self._along_symmetric_changes)

    @property
    def seed(self) -> int:
        """The seed of everything random."""
        return self._seed

    @cached_property
    def jvps(self) -> list[JvpComparison]:
        """The Function's jvp of a few tangents, compared with its derivative.

        Raises:
            JvpError: The user's jvp failed.
        """
        given, withheld = self.given, self.withheld
        # Jacobians of two points cannot be added up along one tangent.
        same = given.at is withheld.at
        judgements = [given, withheld] if same else [given]
        found = compare_jvps(self.function, judgements, self._seed)
        if any(each.off.any() for each in found):
            return self._symmetric_jvps(judgements) or found
        return found

    def _symmetric_jvps(self, judgements: Sequence[Judgement]) -> list[JvpComparison] | None:
        """The jvp of symmetric tangents, where only these are meant and it is right for them."""
        at = judgements[0].at
        other = None if at.symmetric else self._along_symmetric_changes(at)
        if other is None or not is_comparable(other, at):
            return None
        compared = tuple(other.comparison(c.argument) for j in judgements for c in j.comparisons)
        found = compare_jvps(self.function, [Judgement(other, compared, compared)], self._seed)
        return None if any(each.off.any() for each in found) else found

    @cached_property
    def jvp_failure(self) -> str | None:
        """The failure of the user's jvp; None when it returns tangents."""
        raised = self._jvp_error
        if raised is None:
            return None
        if raised.only_argument is None:
            return str(raised)
        name = self.function.arguments[raised.only_argument].name
        return f"{raised}, where only `{name}` has a tangent"

    @property
    def jvp_meets_gap(self) -> bool:
        """True if the failure of the user's jvp is that the engine lacks a name."""
        return self._jvp_error is not None and self._jvp_error.is_gap

    @cached_property
    def _jvp_error(self) -> JvpError | None:
        try:
            _ = self.jvps
        except JvpError as raised:
            return raised
        return None

    @cached_property
    def tangents(self) -> list[Array | None]:
        """A random tangent of each argument that is differentiated."""
        rng = generator(self._seed, "pushed")
        inputs, wanted = self.first.layout.inputs, self.first.inputs
        return [
            block.unflatten(signed(rng, block.size))[0] if at in wanted else None
            for at, block in enumerate(inputs)
        ]

    @cached_property
    def changed_by_jvp(self) -> ChangedByJvp:
        """The tensors that the Function's jvp changes in place; none where it raises."""
        if not self.function.defines_jvp:
            return ChangedByJvp()
        try:
            return self.function.changed_by_jvp(self.first.primals, self.tangents)
        except Exception:  # The user's jvp may raise anything: GT301 reports it.
            return ChangedByJvp()

    @cached_property
    def jvp_derivatives(self) -> Derivatives:
        """The derivatives of the tangents, where the first derivatives were judged."""
        point = [*self.given.at.primals, *(t for t in self.tangents if t is not None)]
        recorded = self.recorded and self.recorded.tangent_map(self.tangents)
        tangents = self.function.tangent_map(self.tangents)
        return self._derivatives(tangents, point, recorded, ungraphed=True)

    @cached_property
    def jvp_curvature(self) -> Judgement:
        """The judgement of the derivatives of the tangents that jvp returns."""
        return self._judge(self.jvp_derivatives, self.jvp_derivatives.inputs)

    @cached_property
    def second(self) -> Derivatives:
        """The second derivatives at the point where the first were judged."""
        return self.second_at(self.given.at.primals)

    def second_at(self, primals: Sequence[Array]) -> Derivatives:
        """The second derivatives at some point."""
        cotangents = self.given.at.cotangents
        point = [*primals, *(c for c in cotangents if c is not None)]
        return self._derivatives(
            self.function.backward_map(cotangents),
            point,
            self.recorded and self.recorded.backward_map(cotangents),
            ungraphed=True,
            cancellation_scale=self._slopes(primals),
        )

    def _slopes(self, primals: Sequence[Array]) -> FloatArray:
        """For each entry of a gradient the slope of an output that follows it all the way."""
        lengths = np.concatenate([scales(primals[i]) for i in self.first.inputs])
        return np.asarray(self._size / lengths)

    @cached_property
    def _size(self) -> float:
        """The largest number that forward returns."""
        outputs = [
            o for o in self.first.forward.outputs if o is not None and is_continuous(o.dtype)
        ]
        return max(float(np.abs(o[np.isfinite(o)]).max(initial=0.0)) for o in outputs)

    @cached_property
    def curvature(self) -> Judgement:
        """The judgement of the second derivatives, but for those of surrogates."""
        surrogates = [at for at, i in enumerate(self.first.inputs) if i in self.surrogates]
        return self._judge(self.second, self.second.inputs).without(surrogates)

    @cached_property
    def third(self) -> Judgement | None:
        """The judgement of the third derivatives; None when the second have no graph."""
        at = self.curvature.at
        if not at.layout.has_graph:
            return None
        cotangents = at.cotangents
        point = [*at.primals, *(c for c in cotangents if c is not None)]
        second, recorded = (
            each and each.backward_map(self.given.at.cotangents)
            for each in (self.function, self.recorded)
        )
        assert second is not None
        slopes = self._slopes(point[: len(self.first.primals)])
        lengths = np.concatenate([scales(point[i]) for i in at.inputs])
        third = self._derivatives(
            second.backward_map(cotangents),
            point,
            recorded and recorded.backward_map(cotangents),
            ungraphed=True,
            cancellation_scale=THIRD_DERIVATIVE_ROUNDINGS
            * float(slopes.max(initial=0.0))
            / lengths,
            rtol=max(self._rtol or 0.0, THIRD_DERIVATIVE_RTOL),
        )
        if third.failure:
            return None
        return judge(third, third.inputs, self._nearby, self._along_symmetric_changes)

    def _nearby(self, start: Derivatives) -> list[Derivatives]:
        """Points around `start` in the order in which they are to be tried."""
        rng = generator(self._seed, "nearby")
        points = [shifted(start.primals, part, rng) for part in NEARBY_POINT_SHIFTS]
        return [
            self._again(start, _as_symmetric(point, start), start.symmetric) for point in points
        ]

    def _along_symmetric_changes(self, at: Derivatives) -> Derivatives | None:
        """The same derivatives, where forward reads one triangle of a symmetric argument."""
        # Gradients and tangents are functions of the arguments of forward, which come first.
        found = self._triangles if at.ungraphed else read_by_triangle(at, at.inputs)
        return self._again(at, at.primals, found) if found else None

    @cached_property
    def _triangles(self) -> frozenset[int]:
        """The symmetric arguments of which forward reads one triangle."""
        return read_by_triangle(self.first, self.first.inputs)

    def _again(
        self, start: Derivatives, point: Sequence[Array], symmetric: Collection[int]
    ) -> Derivatives:
        """The same derivatives at some point, all of them compared in full."""
        return self._derivatives(
            start.function,
            point,
            start.recorded,
            ungraphed=start.ungraphed,
            cancellation_scale=start.cancellation_scale,
            rtol=start.rtol,
            quickly=False,
            symmetric=symmetric,
        )

    @cached_property
    def _left_out(self) -> float:
        return LEFT_OUT_BY_SOFTPLUS if takes_softplus(self.function.lines) else 0.0

    def _derivatives(
        self,
        function: Differentiable,
        primals: Sequence[Array],
        recorded: Differentiable | None,
        *,
        ungraphed: bool = False,
        cancellation_scale: FloatArray | None = None,
        rtol: float | None = None,
        quickly: bool = True,
        symmetric: Collection[int] = (),
    ) -> Derivatives:
        """Prepare the derivatives at a point; those that pass `quickly` are done already."""
        prepared = partial(
            Derivatives,
            function,
            primals,
            seed=self._seed,
            recorded=recorded,
            ungraphed=ungraphed,
            cancellation_scale=cancellation_scale,
            atol=self._atol,
            rtol=self._rtol if rtol is None else rtol,
            left_out=self._left_out if ungraphed else 0.0,
            symmetric=symmetric,
        )
        if recorded is not None and quickly:
            projected = prepared(projected=True)
            if passes(projected):
                return projected
            self._unsettled.append(partial(prepared, projected=True))
            full = prepared()
            full.share_calls(projected)
            return full
        return prepared()


def _accepts_any(comparison: Comparison) -> bool:
    """Return True if the tolerance of every entry that is not zero is half of it or more."""
    with np.errstate(invalid="ignore"):
        size = np.abs(comparison.numeric.value)
        is_there = size > comparison.oracle_error
        accepts = comparison.allowed >= TELLING_TOLERANCE * size
    return bool(is_there.any() and accepts[is_there].all())


def _underflows(primal: Array) -> bool:
    """Return True for entries that are not all zero, while their squares are."""
    with np.errstate(all="ignore"):
        return bool(primal.any() and not (primal * primal).any())


def _as_symmetric(point: Sequence[Array], start: Derivatives) -> list[Array]:
    """The point with those arguments symmetric that are compared along symmetric changes."""
    return [mirrored(each) if at in start.symmetric else each for at, each in enumerate(point)]
