"""Errors of gradients that low precision explains.

A backward in single precision is off by a few roundings of its largest term. Where terms cancel
that is more than the tolerance of one entry, at one point and not at the next. The mistake is the
same everywhere: low precision, not a wrong formula.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradtool.verify.comparison.compare import Decision
from gradtool.verify.thresholds.noise import EXPLAINED_JITTERS, LARGEST_SINGLE_JITTER

if TYPE_CHECKING:
    from gradtool.verify.comparison.derivatives import Comparison
    from gradtool.verify.subject import Subject


def is_explained_by_jitter(subject: Subject) -> bool:
    """Return True if the jitter of the gradients explains all their errors."""
    wrong = [c for c in subject.given.comparisons if (c.decision == Decision.FAIL).any()]
    if not wrong or not all(_is_explained(each, LARGEST_SINGLE_JITTER) for each in wrong):
        return False  # Measuring the jitter costs some runs of backward.
    if isinstance(subject.low_precision_gradients, str):
        return False
    loss = {each.argument: each for each in subject.low_precision_gradients}
    return all(
        each.argument in loss and _is_explained(each, loss[each.argument].gradient)
        for each in wrong
    )


def _is_explained(comparison: Comparison, jitter: float) -> bool:
    """Return True if a jitter of this part of the gradient's size explains its errors."""
    if comparison.located and comparison.located.explains_all:
        return False
    failed = comparison.decision == Decision.FAIL
    off = np.abs(comparison.analytic - comparison.numeric.value)[failed]
    largest = np.abs(comparison.analytic).max(initial=0.0)
    return bool(
        jitter <= LARGEST_SINGLE_JITTER and (off <= EXPLAINED_JITTERS * jitter * largest).all()
    )
