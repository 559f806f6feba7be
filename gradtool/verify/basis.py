"""The evidence that the verdicts of a case rest on: evaluations, and the exact derivative."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gradtool.results.report import Basis
from gradtool.verify.comparison.derivatives import Comparison
from gradtool.verify.comparison.judgement import Judgement
from gradtool.verify.oracle.estimate import Status
from gradtool.verify.protocol.observation import Cut

EXACT = Basis(evidence="exact and numeric")


def basis_of(judgements: Sequence[Judgement], cuts: Sequence[Cut]) -> Basis | None:
    """Return the evidence behind all of these; None where nothing was compared.

    Args:
        judgements: Those of a case.
        cuts: Where its recorded forward left the engine.
    """
    numeric_only, compared = False, False
    for judgement in judgements:
        for comparison in judgement.comparisons:
            compared = compared or comparison.analytic.size > 0
            if not comparison.analytic.size or is_confirmed(comparison):
                continue
            numeric_only = True
            reason = _reason(judgement, comparison, cuts)
            if reason:
                return Basis(evidence="numeric only", reason=reason)
    if numeric_only:
        return Basis(evidence="numeric only")
    return EXACT if compared else None


def is_confirmed(comparison: Comparison) -> bool:
    """Return True if evaluations know some entry of the exact derivative that is not zero.

    Where all of it is zero they must know that of some entry.
    """
    exact, numeric = comparison.exact, comparison.numeric
    if exact is None:
        return False
    known = np.isin(numeric.status, (Status.KNOWN, Status.FLAT))
    if not exact.any():
        return bool(known.any())
    allowed = comparison.tolerance.meaningful_error(np.abs(exact).max(axis=1, initial=0.0))
    with np.errstate(invalid="ignore"):  # What is not known at all has no error either.
        known &= comparison.oracle_error <= allowed[:, None]
    return bool((known & (exact != 0)).any())


def _reason(judgement: Judgement, comparison: Comparison, cuts: Sequence[Cut]) -> str | None:
    """The reason why evaluations alone decided; None where no forward was recorded."""
    witness = judgement.at.witness
    if witness is None:
        return None
    if cuts:
        return _cut_words(cuts[0])
    if witness.silence:
        return witness.silence
    if comparison.exact is None:
        return "evaluations contradict the recorded forward"
    return "evaluations are too imprecise to confirm the recorded forward"


def _cut_words(cut: Cut) -> str:
    place = f"line {cut.line} of {Path(cut.path).name}"
    return f"forward leaves the engine at {place}: `{cut.conversion}`"
