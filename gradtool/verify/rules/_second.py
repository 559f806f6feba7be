"""What the rules on double backward share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtool.verify.comparison.compare import Decision
from gradtool.verify.diagnosis.evidence import evidence, find_worst
from gradtool.verify.rules._rule import Flaw
from gradtool.verify.wording import listed, off

if TYPE_CHECKING:
    from gradtool.verify.comparison.derivatives import Comparison
    from gradtool.verify.subject import Subject

DECLARED = "declared once_differentiable"


def nothing_to_differentiate(subject: Subject) -> str | None:
    """Why there is no second derivative to ask for; None when there is one."""
    if subject.nothing_to_compare:
        return subject.nothing_to_compare
    if subject.function.declares_once_differentiable:
        return DECLARED
    if not subject.given.comparisons:
        return "backward returns no gradient"
    if subject.given.worst is Decision.UNVERIFIED:
        return "the first derivative could not be verified"
    return None


def is_cut(subject: Subject) -> bool:
    """Whether something wrong with the second derivatives is that autograd lost its way."""
    wrong = [c for c in subject.curvature.comparisons if (c.decision == Decision.FAIL).any()]
    return bool(wrong) and (saved_intermediate(subject) or any(map(_misses_a_block, wrong)))


def saved_intermediate(subject: Subject) -> bool:
    """Whether forward saved a tensor that is neither an input nor an output."""
    return "intermediate" in subject.first.baseline.saved


def _misses_a_block(comparison: Comparison) -> bool:
    """Whether a gradient changes with an argument although autograd has it that it does not."""
    return any(
        bool((comparison.decision[rows] == Decision.FAIL).any())
        and not comparison.analytic[rows].any()
        for rows in comparison.layout.blocks()
    )


def flaws(subject: Subject, hint: str | None = None) -> Iterator[Flaw]:
    """A flaw for each argument by which a gradient is wrongly differentiated."""
    for comparison in subject.curvature.comparisons:
        chosen = comparison.decision == Decision.FAIL
        if chosen.any():
            name = subject.second.function.arguments[comparison.argument].name
            worst = find_worst(comparison, chosen)
            yield Flaw(
                message=f"second derivative, of {_gradients(subject, worst.outputs)} by `{name}`,"
                f" is wrong{off(comparison, worst)}",
                evidence=evidence(comparison, worst, name),
                hint=hint,
            )


def _gradients(subject: Subject, outputs: tuple[int, ...]) -> str:
    """The gradients in question, by the names of their inputs."""
    names = [f"`{subject.function.arguments[i].name}`" for i in subject.first.inputs]
    if not outputs:
        return "the gradients"
    chosen = [names[output] for output in outputs]
    return f"the gradient{'s' if len(chosen) > 1 else ''} of {listed(chosen)}"
