"""Gradients in few digits that are far from those of the same numbers in float64."""

from __future__ import annotations

import numpy as np

from gradtool.collect.checkable import Checkable
from gradtool.explore.observed import gradients_in_double, returned_gradients
from gradtool.explore.point import Point
from gradtool.results.evidence import scalar
from gradtool.results.report import Evidence, Verdict
from gradtool.verify.examine import Outcome
from gradtool.verify.protocol.observation import Array
from gradtool.verify.rules import RULES, Flaw, codes

_FAR_OFF = 0.5
"""Difference, next to an entry of a gradient in few digits, that is a mistake."""

_LEAST_WITH_DIGITS = 0.1
"""Size, next to the largest entry of such a gradient, from which on rounding leaves digits."""


def entry_far_off(found: Array | None, exact: Array | None) -> tuple[int, ...] | None:
    """Return the index of an entry that is wrong by more than its last digits, if there is one."""
    if found is None or exact is None or found.shape != exact.shape:
        return None
    sizes = np.abs(exact)
    has_digits = sizes > _LEAST_WITH_DIGITS * sizes.max(initial=0.0)
    is_off = has_digits & (np.abs(found - exact) > _FAR_OFF * sizes)
    places = np.argwhere(is_off)
    return tuple(map(int, places[0])) if len(places) else None


def lost_digits(checkable: Checkable, point: Point, seed: int) -> Outcome | None:
    """Return GT601 where a gradient has no digits that float64 has; None elsewhere."""
    exact = gradients_in_double(checkable, point, seed)
    for at, found in returned_gradients(checkable, point, seed).items():
        index = entry_far_off(found, exact.get(at))
        if index is not None and found.dtype == np.float32:  # Fewer digits are easily lost.
            name, dtype = point.names[at], found.dtype
            mine, other = scalar(found[index]), scalar(exact[at][index])
            place = f" at [{', '.join(map(str, index))}]" if index else ""
            flaw = Flaw(
                message=f"gradient of `{name}`{place} is {mine:g} in {dtype}, and {other:g} in "
                "float64: backward loses digits",
                hint="use a formula without a difference of nearly equal numbers, as a series",
                evidence=Evidence(argument=name, input_index=index, analytic=mine, numeric=other),
            )
            return Outcome(RULES[codes.LOSES_PRECISION], Verdict.FAIL, flaws=(flaw,))
    return None
