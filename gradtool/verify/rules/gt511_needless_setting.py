"""A tolerance, or a setting or comment that ignores a rule, is not needed.

What it does
------------

If a case, or all cases of a Function, have their own tolerance, compares again with a tenth of it:
if everything still passes, the tolerance may hide mistakes. A tolerance for the whole run is
exempt. Rules that the configuration ignores for a Function still run: if none of them is violated,
the entry is no longer needed. The same holds for a ``# gradtool: ignore[GT505] reason`` comment in
the Function if that rule is not violated on its line.

Why it matters
--------------

A tolerance far above the error lets mistakes of that size pass. An entry that ignores a rule
outlives its reason, and hides the next mistake of that kind.

Wrong example
-------------

    from gradtool import Case, Function, randn


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad_output):
            return 2 * grad_output

        @staticmethod
        def sample_inputs():
            yield Case((randn(3, requires_grad=True),), atol=1e-2)

Right example
-------------

    from gradtool import Case, Function, randn


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad_output):
            return 2 * grad_output

        @staticmethod
        def sample_inputs():
            yield Case((randn(3, requires_grad=True),))

How to fix
----------

Remove the tolerance, the comment or the entry under ``ignore``, or lower the tolerance to a few
times the difference that the finding names.

Reference
---------

``warn_unused_ignores`` in mypy and RUF100 in ruff do the same for their comments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from gradtool.results.report import Severity
from gradtool.verify.comparison.compare import decide
from gradtool.verify.comparison.derivatives import Comparison
from gradtool.verify.comparison.tolerance import Tolerance, default_rtol
from gradtool.verify.rules._rule import Answer, Flaw, Rule, Scope, failed, passed
from gradtool.verify.thresholds.rules import NEEDLESS_TOLERANCE_FACTOR
from gradtool.verify.wording import listed, number

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def needless_tolerances(comparisons: Sequence[Comparison]) -> dict[str, float]:
    """The tolerances, ``atol`` or ``rtol``, of which a tenth would do, with their values."""
    if not comparisons:
        return {}
    given = comparisons[0].tolerance
    found = {}
    if given.atol and all(_passes(each, _tenth_of_atol(each)) for each in comparisons):
        found["atol"] = given.atol
    if given.rtol and all(_is_loose(each) for each in comparisons):
        found["rtol"] = given.rtol
    return found


def largest_difference(comparisons: Sequence[Comparison]) -> float:
    """By how much an analytic value is off at most, what the oracle cannot tell apart from it."""
    differences = [
        np.abs(each.analytic - each.numeric.value) - each.numeric.error for each in comparisons
    ]
    known = [each[np.isfinite(each)] for each in differences]
    return max((float(each.max(initial=0.0)) for each in known), default=0.0)


def _tenth_of_atol(comparison: Comparison) -> Tolerance:
    return replace(
        comparison.tolerance, atol=(comparison.tolerance.atol or 0.0) / NEEDLESS_TOLERANCE_FACTOR
    )


def _is_loose(comparison: Comparison) -> bool:
    """Return True if the relative tolerance is above the default and a tenth would do."""
    rtol, default = comparison.tolerance.rtol or 0.0, _default(comparison)
    tighter = replace(comparison.tolerance, rtol=max(rtol / NEEDLESS_TOLERANCE_FACTOR, default))
    return rtol > default and _passes(comparison, tighter)


def _default(comparison: Comparison) -> float:
    return max((default_rtol(float(eps)) for eps in comparison.tolerance.eps), default=0.0)


def _passes(comparison: Comparison, tolerance: Tolerance) -> bool:
    """Return True if no entry is judged worse with another tolerance."""
    blocks = comparison.layout.blocks()
    decision = decide(comparison.analytic, comparison.numeric, tolerance, blocks)
    return bool((decision <= comparison.decision).all())


def _check(subject: Subject) -> Answer:
    comparisons = [each for judgement in subject.judgements for each in judgement.comparisons]
    names = needless_tolerances(comparisons)
    if not names:
        return passed()
    given = listed([f"{name} {number(value)}" for name, value in names.items()])
    seen = number(largest_difference(comparisons))
    are, them = ("is", "it") if len(names) == 1 else ("are", "them")
    return failed(
        Flaw(
            message=f"{given} {are} more than ten times larger than needed:"
            f" no gradient is off by more than {seen}",
            hint=f"remove {them}, or lower {them} to a few times that difference",
        )
    )


RULE = Rule(
    code="GT511",
    name="needless-setting",
    summary="A tolerance, or a setting or comment that ignores a rule, is not needed.",
    severity=Severity.WARNING,
    page=__doc__,
    scopes=(Scope.CASE, Scope.ALL_CASES),
    premises=("GT101", "GT106", "GT201", "GT602", "GT603"),
    check=_check,
)
