"""Answers made from judgements of derivatives, and facts about second derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from gradtool.verify.comparison.compare import Decision
from gradtool.verify.diagnosis.evidence import evidence, find_worst
from gradtool.verify.diagnosis.forgotten_steps import forgotten_step_of_backward
from gradtool.verify.diagnosis.saved_names import assigned, intermediates
from gradtool.verify.rules._rule import Answer, Flaw, failed, passed, unverified
from gradtool.verify.wording import listed, off

if TYPE_CHECKING:
    from gradtool.verify.comparison.derivatives import Comparison
    from gradtool.verify.comparison.judgement import Judgement
    from gradtool.verify.diagnosis.looks import Explanation
    from gradtool.verify.subject import Subject


def answer(judgement: Judgement, flaws: Iterable[Flaw]) -> Answer:
    """Fail with `flaws`; without any, answer by the worst decision of the judgement."""
    found = tuple(flaws)
    if found:
        return failed(*found)
    if judgement.worst is Decision.UNVERIFIED:
        return unverified("the numeric derivative is not accurate enough")
    if judgement.worst is Decision.KINK:
        return passed("no derivative at this point; the gradient lies between the slopes")
    if judgement.is_nearby:
        return passed("no derivative at this point; checked nearby")
    if judgement.is_symmetric:
        return passed("compared along symmetric changes: forward reads one triangle")
    return passed()


ONCE = "@torch.autograd.function.once_differentiable"
"""The decorator as advice spells it: it works in any module that imports torch."""

DECLARED = "declared once_differentiable"


def nothing_to_differentiate(subject: Subject) -> str | None:
    """Explain why there is no second derivative to check; None if there is one."""
    if subject.nothing_to_compare:
        return subject.nothing_to_compare
    if subject.function.declares_once_differentiable:
        return DECLARED
    if not subject.given.comparisons:
        return (
            "the gradient is a surrogate" if subject.surrogates else "backward returns no gradient"
        )
    if subject.given.worst is Decision.UNVERIFIED:
        return "the first derivative could not be verified"
    return None


def is_cut(subject: Subject) -> bool:
    """Return True if second derivatives are wrong because autograd lost a connection."""
    wrong = [c for c in subject.curvature.comparisons if (c.decision == Decision.FAIL).any()]
    return bool(wrong) and (saved_intermediate(subject) or any(map(_misses_a_block, wrong)))


def saved_intermediate(subject: Subject) -> bool:
    """Return True if forward saved a tensor that is neither an input nor an output."""
    return "intermediate" in subject.first.baseline.saved


def treated_as_constant(subject: Subject) -> tuple[str, str, str]:
    """Name the intermediates that forward saves; what they are to autograd; their pronoun."""
    names = intermediates(subject.function.lines, subject.first.baseline.saved)
    if not names:
        return "a saved intermediate", "a constant", "it"
    words = ("a constant", "it") if len(names) == 1 else ("constants", "them")
    arguments = {argument.name for argument in subject.function.arguments}
    lines = assigned(subject.function.lines, arguments)
    told = [f"`{n}` (set on line {lines[n]})" if n in lines else f"`{n}`" for n in names]
    return listed(told), *words


def _misses_a_block(comparison: Comparison) -> bool:
    """Return True if a gradient changes with an argument that autograd sees no connection to."""
    return any(
        bool((comparison.decision[rows] == Decision.FAIL).any())
        and not comparison.analytic[rows].any()
        for rows in comparison.layout.blocks()
    )


def flaws(subject: Subject, hint: str | None = None) -> Iterator[Flaw]:
    """Yield a flaw for each argument by which the derivative of a gradient is wrong."""
    for comparison in subject.curvature.comparisons:
        chosen = comparison.decision == Decision.FAIL
        if chosen.any():
            name = subject.second.function.arguments[comparison.argument].name
            worst = find_worst(comparison, chosen)
            inputs = [subject.function.arguments[i].name for i in subject.first.inputs]
            rows = [f"the gradient of `{each}`" for each in inputs]
            step = _forgotten_step(subject, comparison, name)
            yield Flaw(
                message=f"derivative of {_gradients(inputs, worst.outputs)} with respect to "
                f"`{name}` is wrong{off(comparison, worst, rows)}",
                evidence=evidence(comparison, worst, name, inputs),
                hint="; ".join(filter(None, (step.text if step else None, hint))) or None,
                step=(step.path, step.line) if step else None,
                is_derivable=is_derivable(subject, subject.given.comparisons),
            )


def _forgotten_step(subject: Subject, comparison: Comparison, name: str) -> Explanation | None:
    """The step of backward that autograd does not differentiate as it should."""
    if subject.recorded is None or saved_intermediate(subject):
        return None
    recorded = subject.function.recorded_backward(subject.given.at.cotangents)
    return forgotten_step_of_backward(subject.curvature.at, recorded, comparison, name)


def is_derivable(subject: Subject, comparisons: Iterable[Comparison]) -> bool:
    """Return True if a right backward can be derived from the steps of forward.

    One that calls an argument would be right only for that function.
    """
    recorded = subject.recorded
    if recorded is None or recorded.cuts or subject.function.takes_functions:
        return False
    return all(comparison.exact is not None for comparison in comparisons)


def _gradients(inputs: Sequence[str], outputs: tuple[int, ...]) -> str:
    """The gradients in question, by the names of their inputs."""
    if not outputs:
        return "the gradients"
    chosen = [f"`{inputs[output]}`" for output in outputs]
    return f"the gradient{'s' if len(chosen) > 1 else ''} of {listed(chosen)}"
