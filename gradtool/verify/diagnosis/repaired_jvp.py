"""The smallest edit of jvp that makes it right, found as that of backward is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradtool.verify.comparison.analytic import width
from gradtool.verify.comparison.derivatives import Derivatives
from gradtool.verify.comparison.forward_mode import rows, tangents
from gradtool.verify.diagnosis.looks import Explanation, Looks, repair_in_words, shifted_point
from gradtool.verify.diagnosis.patience import limited_patience, patiently
from gradtool.verify.protocol.coordinates import FloatArray
from gradtool.verify.protocol.differentiable import Examinable
from gradtool.verify.protocol.observation import Primals, Repair, Tangents
from gradtool.verify.randomness import generator, signed
from gradtool.verify.thresholds.diagnosis import REPAIRS_MOST


def repaired_jvp(
    function: Examinable, recorded: Examinable | None, derivatives: Derivatives
) -> Explanation | None:
    """The sentence that names the edit; None if none makes jvp right.

    Args:
        function: The Function.
        recorded: Its forward, whose derivative is exact; None if it cannot be recorded.
        derivatives: The point, and the inputs that have a derivative.
    """
    if recorded is None:
        return None
    try:
        with limited_patience():
            return _found(function, recorded, derivatives)
    except Exception:  # The user's code may raise anything at another point.
        return None


def _found(
    function: Examinable, recorded: Examinable, derivatives: Derivatives
) -> Explanation | None:
    precision = Looks(derivatives, derivatives.inputs).precision
    first, *others = [
        (primals, row, rows(derivatives.layout, *recorded.jvps(primals, [row])))
        for primals, row in _points(derivatives)
    ]

    def agrees(look: tuple[Primals, Tangents, FloatArray], made: Repair) -> bool:
        primals, row, exact = look
        (found,) = function.repaired_jvp(primals, row, [made])
        if found is None:
            return False
        scale = np.abs(exact).max(initial=0.0)
        off = np.abs(rows(derivatives.layout, tuple(found)) - exact).max(initial=0.0)
        return bool(off <= precision * scale)

    for made in patiently(function.jvp_repairs(REPAIRS_MOST)):
        if agrees(first, made) and all(agrees(look, made) for look in others):
            return repair_in_words(made, "jvp")
    return None


def _points(derivatives: Derivatives) -> Iterator[tuple[Primals, Tangents]]:
    """Two tangents of all inputs at the case, and one nearby."""
    rng, layout = generator(0, "explanation of jvp"), derivatives.layout
    here = derivatives.primals
    for primals in (here, here, shifted_point(derivatives, rng)):
        weights = {each: signed(rng, width(layout, each)) for each in derivatives.inputs}
        yield primals, tangents(derivatives, weights)
