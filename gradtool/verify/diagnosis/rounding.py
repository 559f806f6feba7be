"""Whether a gradient that differs from the derivative is right but for digits lost on the way.

A backward that computes in single precision is off by a few roundings of its largest term. Where
terms cancel that is more than the tolerance of one entry, at one point and not at the next. The
mistake is the same: it shows in how the gradient jitters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradtool.verify.comparison.compare import Decision
from gradtool.verify.thresholds.noise import EXPLAINED_JITTERS, LARGEST_SINGLE_JITTER

if TYPE_CHECKING:
    from gradtool.verify.comparison.derivatives import Comparison
    from gradtool.verify.subject import Subject


def is_only_rounded(subject: Subject) -> bool:
    """Whether the jitter of the gradients explains everything in which they are wrong."""
    wrong = [c for c in subject.given.comparisons if (c.decision == Decision.FAIL).any()]
    if not wrong or not all(_is_explained(each, LARGEST_SINGLE_JITTER) for each in wrong):
        return False  # Measuring the jitter costs some runs of backward.
    if isinstance(subject.rough_gradients, str):
        return False
    rough = {each.argument: each for each in subject.rough_gradients}
    return all(
        each.argument in rough and _is_explained(each, rough[each.argument].gradient)
        for each in wrong
    )


def _is_explained(comparison: Comparison, jitter: float) -> bool:
    """Whether a jitter of this part of the gradient's size can be what is wrong."""
    if comparison.located and comparison.located.explains_all:
        return False
    failed = comparison.decision == Decision.FAIL
    off = np.abs(comparison.analytic - comparison.numeric.value)[failed]
    largest = np.abs(comparison.analytic).max(initial=0.0)
    return bool(
        jitter <= LARGEST_SINGLE_JITTER and (off <= EXPLAINED_JITTERS * jitter * largest).all()
    )
