"""Asking the checker, and taking no excuse that the case does not give."""

from __future__ import annotations

from collections.abc import Sequence

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.results.report import Verdict
from gradtool.verify.examine import Outcome, examine
from tests.engine.ops.cases.case import OpCase

FIRST = ("GT003", "GT004", "GT101", "GT106")
SECOND = ("GT201", "GT202", "GT203")
FORWARD = ("GT301", "GT302")
BATCHED = ("GT401", "GT402")
ALL = (*FIRST, *SECOND, *FORWARD, *BATCHED)

NOTHING_TO_ASK = frozenset(
    {
        "no argument requires a gradient",
        "no output is a floating-point or complex tensor",
        "no output requires a gradient",
        "every output is empty",
        "every argument that requires a gradient is empty",
        "no argument can be batched",
        "backward returns no gradient",
        "the gradient is not known to be right",
    }
)
"""Reasons to skip a rule that lie in what the operation is."""

WRITES_BATCHED = "writes what is batched into what is not, which is refused"

NOT_BATCHABLE = {
    "added in place": WRITES_BATCHED,
    "masked_scatter in place": WRITES_BATCHED,
    "scatter_reduce in place": WRITES_BATCHED,
    "equal of shapes": "whether two tensors are equal is not a tensor",
    "comparisons": "whether two tensors are equal is not a tensor",
    "cov with weights": "refuses weights by their values",
    "written parts": WRITES_BATCHED,
    "view_as_complex": "views pairs in memory, which those of one example may not be",
}
"""Name of a case -> why it cannot be batched, or not along every dimension."""


NOT_PUSHED = {
    "written parts": "writes what has a tangent into a view of what has none, which is refused",
}
"""Name of a case -> why a tangent of one input alone cannot be pushed through it."""


def codes_for(case: OpCase, codes: Sequence[str] = ALL) -> tuple[str, ...]:
    """The rules to ask of a case, or of what is made from it."""
    left_out = {"GT401"} if case.name in NOT_BATCHABLE or _is_assignment(case) else set()
    if case.name in NOT_PUSHED:
        left_out.update(FORWARD)
    return tuple([each for each in codes if each not in left_out])


def _is_assignment(case: OpCase) -> bool:
    """Return True for ``x[key] = tensor``, which is refused where the tensor alone is batched."""
    return "] = " in case.name and not case.name.endswith("number")


def objections(subject: FunctionDifferentiable, codes: Sequence[str]) -> list[str]:
    """What these rules have against it; empty when each passed or has nothing to ask."""
    outcomes, _ = examine(subject, codes=codes, seed=0)
    return [_worded(each) for each in outcomes if not _is_good(each)]


def _is_good(outcome: Outcome) -> bool:
    if outcome.verdict is Verdict.SKIPPED:
        return outcome.skip is not None and outcome.skip.detail in NOTHING_TO_ASK
    return outcome.verdict is Verdict.PASS


def _worded(outcome: Outcome) -> str:
    messages = [flaw.message for flaw in outcome.flaws] or [outcome.reason or str(outcome.skip)]
    return f"{outcome.rule.code} {outcome.verdict.value}: {'; '.join(messages)}"
