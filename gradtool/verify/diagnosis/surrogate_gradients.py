"""Recognises gradients that differ from the derivative on purpose.

Straight-through estimators, surrogate gradients and gradient reversal replace a derivative that is
useless for training. They break GT101 all the same, until they are declared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.verify.comparison.derivatives import Comparison
from gradtool.verify.protocol.coordinates import FloatArray
from gradtool.verify.protocol.observation import Array

DECLARE = "if it is meant, declare it under `functions`: `ignore: {%s: the reason}`"


def surrogate_pattern(comparison: Comparison) -> str | None:
    """Describe a wrong gradient that may be intended; None if it matches no known pattern.

    Only elementwise maps that are compared in full have such patterns.
    """
    analytic, numeric = comparison.analytic, comparison.numeric.value
    if comparison.layout.directions[comparison.argument] is not None:
        return None
    if analytic.shape[0] != analytic.shape[1] or not np.isfinite(numeric).all():
        return None
    own = np.diagonal(analytic)
    if not np.isfinite(own).all() or not _is_diagonal(analytic, own) or not own.any():
        return None
    name = _name(own, numeric, comparison.allowed)
    return name and f"this looks like {name}: {DECLARE % 'GT101'}"


def _name(own: FloatArray, numeric: FloatArray, allowed: FloatArray) -> str | None:
    if (np.abs(numeric) <= allowed).all():
        passing = own[own != 0]
        is_through = np.allclose(passing, 1.0, rtol=1e-9)
        return "a straight-through estimator" if is_through else "a surrogate gradient"
    if not (np.abs(numeric - np.eye(len(own))) <= allowed).all():
        return None
    if (own <= 0).all():
        return "gradient reversal"
    return "a masked gradient" if np.isin(own, (0.0, 1.0)).all() else "gradient scaling"


def _is_diagonal(matrix: FloatArray, own: FloatArray) -> bool:
    return bool(np.array_equal(matrix, np.diag(own)))


def passes_input_through(primals: Sequence[Array], outputs: Sequence[Array | None]) -> bool:
    """Return True if the first output is an unchanged input, so that only the gradient changes."""
    return any(outputs[0] is not None and np.array_equal(outputs[0], each) for each in primals)
