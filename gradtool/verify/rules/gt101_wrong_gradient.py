"""The gradient that backward returns differs from the derivative of forward.

What it does
------------

Compares the full Jacobian from backward with a numeric one computed from evaluations of forward.
Cotangents are random and signed. The numeric derivative comes with an estimate of its own error. If
a cheap difference quotient disagrees with backward, gradtool halves the step until successive
estimates agree, compares the one-sided limits to tell kinks from mistakes, and measures the noise
of forward. An entry fails if it differs from the numeric value by more than the error plus the
tolerance. The tolerance is relative to the entry (1e-6 in float64, 1e-3 in float32), so small
gradients must be right to as many digits as large ones.

If several entries tie for a maximum, or forward has another kink at the point, the gradient must be
an average of the gradients around it: tied entries may share the gradient of a maximum in any way,
as long as the shares add up to one.

A forward that reads one triangle of a symmetric matrix, as ``torch.linalg.eigh`` and ``cholesky``
do, does not depend on the entries of the other triangle. Its gradient may treat entries as
independent, or, as PyTorch's own does, the matrix as symmetric: if the matrices of the case are
symmetric (or Hermitian, if they are complex), a gradient passes if it is right for every change
that keeps them so. In that case only the sum of the gradients of an entry and its mirror image
counts. With ``-v``, gradtool says that the gradient passed this way.

Why it matters
--------------

Training with a wrong gradient still runs. It just converges worse, or to something else.

Wrong example
-------------

    from gradtool import Function


    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * x**2

Right example
-------------

    from gradtool import Function


    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 3 * x**2

How to fix
----------

The finding names the input, the worst entry with both values and, when a common mistake explains
every entry, that mistake: the sign, a factor, a transpose, a forgotten grad_output, gradients in
the wrong order, the derivative taken at the output, or a step of forward (with its line) that was
treated as a constant or counted twice. If only a part of the gradient is wrong (where x < 0, one
slice, one output), the finding says which part. A gradient that differs on purpose, such as that of
a straight-through estimator, is reported as GT120; if gradtool does not recognize it, declare it in
the configuration with `surrogate` and a reason.

Reference
---------

https://pytorch.org/docs/stable/notes/gradcheck.html explains the comparison; gradtool also
estimates the error of the numeric derivative.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gradtool.results.report import Evidence, Severity, Verdict
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.comparison.convex_hull import Tie
from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.comparison.tolerance import default_rtol
from gradtool.verify.diagnosis.altered_forward import altered_forward, chosen_operand
from gradtool.verify.diagnosis.bounds_of_forward import bounding_step
from gradtool.verify.diagnosis.constants import truncated_constant
from gradtool.verify.diagnosis.diagnosis import Diagnosis, diagnose
from gradtool.verify.diagnosis.evidence import evidence, find_worst, place_of_column, scalar
from gradtool.verify.diagnosis.explained_by_jitter import is_explained_by_jitter
from gradtool.verify.diagnosis.forgotten_steps import forgotten_step
from gradtool.verify.diagnosis.looks import Explanation
from gradtool.verify.diagnosis.patience import limited_patience
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import BoolArray
from gradtool.verify.protocol.differentiable import Examinable
from gradtool.verify.rules._contract import KEEPS_CONTRACT
from gradtool.verify.rules._judged import answer, is_derivable
from gradtool.verify.rules._rule import Answer, Flaw, Rule, blocked, reported_by, skipped
from gradtool.verify.rules._runs import jitter
from gradtool.verify.rules.codes import SURROGATE
from gradtool.verify.thresholds.comparison import GRADIENT_ROUNDINGS
from gradtool.verify.thresholds.rules import SAME_CONSTANT, SAME_GRADIENT_JITTERS
from gradtool.verify.wording import apart, at_column, off, outputs, share

if TYPE_CHECKING:
    from gradtool.verify.comparison.derivatives import Comparison
    from gradtool.verify.subject import Subject


_ALONE = "found by bisecting a random direction, which showed no other wrong entry"


class SumMismatch(msgspec.Struct, frozen=True):
    """A gradient for all cotangents together that is not the sum of its parts.

    `column` is the worst one, and `chosen` marks all columns that are off.
    """

    column: int
    chosen: BoolArray
    together: float
    summed: float
    allowed: float


def sum_mismatch(derivatives: Derivatives, comparison: Comparison) -> SumMismatch | None:
    """Find such a mismatch in the gradient of one argument; None if there is none."""
    layout = comparison.layout
    if layout.functionals is not None or not comparison.analytic.size:
        return None
    together = derivatives.gradient_at_cotangents(comparison.argument)
    summed = derivatives.cotangent @ comparison.analytic
    size = np.abs(derivatives.cotangent) @ np.abs(comparison.analytic)
    eps = max(float(layout.eps().max()), epsilon(derivatives.primals[comparison.argument].dtype))
    error = np.abs(derivatives.cotangent) @ np.nan_to_num(comparison.oracle_error)
    rounding = GRADIENT_ROUNDINGS * eps * (size.max() + 10 * comparison.tolerance.largest)
    allowed = default_rtol(eps) * size + error + rounding
    with np.errstate(all="ignore"):
        excess = np.abs(together - summed)
        chosen = ~(excess <= allowed)
    if not chosen.any() or not np.isfinite(comparison.analytic).all():
        return None
    column = int(np.argmax(np.where(chosen, np.nan_to_num(excess, nan=np.inf), -1.0)))
    return SumMismatch(
        column, chosen, float(together[column]), float(summed[column]), float(allowed[column])
    )


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    if not subject.given.comparisons:
        return _without_derivative(subject)
    if is_explained_by_jitter(subject):
        return blocked("GT601")
    with limited_patience():
        flaws = [*_flaws(subject), *_unlike_intention(subject)]
    found = answer(subject.given, flaws)
    return reported_by(SURROGATE) if subject.excused and found.verdict in _GOOD else found


_GOOD = (Verdict.PASS, Verdict.UNVERIFIED)


def _without_derivative(subject: Subject) -> Answer:
    """Answer for gradients none of which is meant to be the derivative."""
    if subject.excused:
        return reported_by(SURROGATE)
    if not subject.declared:
        return skipped("backward returns no gradient")
    if subject.intention is None:
        return skipped("every gradient is declared a surrogate")
    return answer(subject.intention, _unlike_intention(subject))


def _flaws(subject: Subject) -> Iterator[Flaw]:
    judgement = subject.given
    for comparison in judgement.comparisons:
        if (comparison.decision == Decision.FAIL).any():
            yield _wrong(subject, comparison)
        else:
            yield from _not_additive(subject, comparison)


def _unlike_intention(subject: Subject) -> Iterator[Flaw]:
    """Yield a flaw for each surrogate that is not the derivative it is declared to be."""
    intended = subject.intended.name if subject.intended else ""
    for comparison in subject.intention.comparisons if subject.intention else ():
        chosen = comparison.decision == Decision.FAIL
        if chosen.any():
            name = subject.function.arguments[comparison.argument].name
            worst = find_worst(comparison, chosen)
            yield Flaw(
                message=f"the surrogate gradient of `{name}` differs from the derivative of"
                f" `{intended}`{off(comparison, worst)}",
                evidence=evidence(comparison, worst, name),
            )


def _not_additive(subject: Subject, comparison: Comparison) -> Iterator[Flaw]:
    found = sum_mismatch(subject.given.at, comparison)
    if found is None or comparison.argument in subject.not_linear:
        return
    if abs(found.together - found.summed) <= SAME_GRADIENT_JITTERS * jitter(subject):
        return  # Large terms cancel inside.
    name = subject.function.arguments[comparison.argument].name
    together, summed = apart(found.together, found.summed)
    yield Flaw(
        message=f"gradient of `{name}` for all cotangents at once is not the sum of its parts"
        f"{at_column(comparison, found.column)}: {together}, not {summed}",
        hint="backward must be linear in its cotangents and sum the contributions of all outputs",
        evidence=Evidence(
            argument=name,
            input_index=place_of_column(comparison, found.column),
            analytic=scalar(found.together),
            numeric=scalar(found.summed),
            difference=scalar(abs(found.together - found.summed)),
            tolerance=scalar(found.allowed),
            wrong=int(found.chosen.sum()),
            compared=found.chosen.size,
        ),
    )


def _wrong(subject: Subject, comparison: Comparison) -> Flaw:
    name = subject.function.arguments[comparison.argument].name
    worst = find_worst(comparison, comparison.decision == Decision.FAIL)
    if comparison.tie:
        return _wrong_at_tie(comparison, comparison.tie, name)
    located = comparison.located
    found = _ALONE if located and located.explains_all else _cause(subject, comparison, name)
    return Flaw(
        message=f"gradient of `{name}` differs from the derivative of {outputs(worst)}"
        f"{off(comparison, worst)}",
        evidence=evidence(comparison, worst, name),
        hint=found.text if isinstance(found, Explanation) else found,
        step=(found.path, found.line) if isinstance(found, Explanation) else None,
        is_derivable=is_derivable(subject, [comparison]),
    )


def _wrong_at_tie(comparison: Comparison, tie: Tie, name: str) -> Flaw:
    chosen = comparison.decision == Decision.FAIL
    worst = find_worst(comparison, chosen)
    claimed, found = apart(tie.claimed, tie.found)
    return Flaw(
        message=f"at a tie, the gradient of `{name}` for {outputs(worst)} is not an average of "
        f"the gradients around it{share(comparison, worst)}: along the tied entries, its slope is "
        f"{claimed}, not {found}",
        hint="if several entries tie for a maximum, their shares of its gradient must add up to "
        "one",
        evidence=evidence(comparison, worst, name),
    )


def _cause(subject: Subject, comparison: Comparison, name: str) -> Explanation | str | None:
    """The mistake that explains the finding."""
    other = subject.given.symmetric
    if other is not None and comparison.argument in other.symmetric:
        return _cause_along_symmetric_changes(other, comparison.argument, name)
    if _is_close(comparison) and (constant := truncated_constant(subject.function.lines)):
        return constant
    at = subject.given.at
    diagnosis = diagnose(at, comparison, name)
    if diagnosis and not (diagnosis.leaves_open or diagnosis.is_partial):
        return diagnosis.hint
    # What holds at the case may rely on what longer axes lose, as rows with a sum of one.
    ways = filter(None, (at.with_longer_axes, at))
    named = (_named(subject, each, comparison, name, diagnosis) for each in ways)
    found = next(filter(None, named), None)
    return found or (None if diagnosis is None else diagnosis.hint)


def _named(
    subject: Subject,
    at: Derivatives,
    comparison: Comparison,
    name: str,
    diagnosis: Diagnosis | None,
) -> Explanation | None:
    """The step of forward, or the edit of backward, that explains the finding."""
    recorded = subject.recorded
    is_fraction = diagnosis is not None and diagnosis.has_simple_factor
    step = None
    if diagnosis is None or (diagnosis.loose and not is_fraction):
        step = _step(at, recorded, comparison, name)
    elif is_fraction:
        step = altered_forward(at, recorded, comparison, name, is_factor=True)
    elif diagnosis.is_description:
        step = chosen_operand(at, recorded, comparison, name)
    if step is not None and step.is_plain:
        return step
    repair = subject.repairs.explanation(
        comparison, name, is_fraction=is_fraction and at.longer is None, derivatives=at
    )
    return repair or step or bounding_step(at, recorded, comparison, name)


def _is_close(comparison: Comparison) -> bool:
    """Return True if the gradient is off by no more than a truncated constant makes it."""
    exact = comparison.numeric.value
    largest = np.abs(exact).max(initial=0.0)
    return bool(np.abs(comparison.analytic - exact).max(initial=0.0) <= SAME_CONSTANT * largest)


def _step(
    at: Derivatives, recorded: Examinable | None, comparison: Comparison, name: str
) -> Explanation | None:
    """The step of forward that explains the finding, in the plainest words."""
    forgotten = forgotten_step(at, recorded, comparison, name)
    if forgotten and forgotten.is_plain:
        return forgotten
    return altered_forward(at, recorded, comparison, name) or forgotten


def _cause_along_symmetric_changes(other: Derivatives, argument: int, name: str) -> str:
    """The mistake in the gradient of a symmetric argument of which forward reads one triangle."""
    said = f"forward reads one triangle of `{name}`, and"
    diagnosis = diagnose(other, other.comparison(argument), name)
    if diagnosis is None or (diagnosis.loose and not diagnosis.has_simple_factor):
        return f"{said} the gradient is wrong along symmetric changes, too"
    return f"{said} along symmetric changes {diagnosis.hint}"


RULE = Rule(
    code="GT101",
    name="wrong-gradient",
    summary="The gradient that backward returns differs from the derivative of forward.",
    severity=Severity.ERROR,
    page=__doc__,
    traced=False,
    proves="gradient",
    premises=(*KEEPS_CONTRACT, "GT114"),
    causes=("GT107", "GT111"),
    check=_check,
)
