"""The numeric side in double precision, where the function takes that.

A difference quotient in float32 has lost half of its few digits. Most functions compute in
the precision of their inputs; such a function is sampled at the same point in float64, and only
the analytic side keeps the case's own precision. Chainer's gradient check does the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.verify.oracle.difference_quotients import Evaluate
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import Coordinates, is_continuous
from gradtool.verify.protocol.observation import Array
from gradtool.verify.thresholds.noise import WIDENED_OUTPUT_DIFFERENCE


def widened(
    evaluate: Evaluate, primals: Sequence[Array], outputs: Coordinates
) -> Sequence[Array] | None:
    """`primals` in double precision, if the function is the same there; None otherwise.

    `outputs` is the layout of the outputs in the case's own precision.
    """
    wide = [_wide(primal) for primal in primals]
    if all(new.dtype == old.dtype for new, old in zip(wide, primals, strict=True)):
        return None
    with np.errstate(all="ignore"):
        try:
            own, other = evaluate(primals), evaluate(wide)
            before, after = outputs.flatten(own), outputs.flatten(other)
        except Exception:  # A function may refuse another dtype in any way it likes.
            return None
        largest = np.max(np.abs(before[np.isfinite(before)]), initial=0.0)
        same = np.allclose(
            before, after, rtol=0.0, atol=WIDENED_OUTPUT_DIFFERENCE * largest, equal_nan=True
        )
    return wide if same and _is_double(other, outputs) else None


def _wide(primal: Array) -> Array:
    if not is_continuous(primal.dtype):
        return primal
    return primal.astype(np.result_type(primal.dtype, np.float64))


def _is_double(arrays: Sequence[Array | None], outputs: Coordinates) -> bool:
    """Whether all outputs that are compared came out in double precision."""
    finest = epsilon(np.dtype(np.float64))
    return all(
        array is not None and epsilon(array.dtype) == finest
        for array, block in zip(arrays, outputs.blocks, strict=True)
        if block.stop > block.start
    )
