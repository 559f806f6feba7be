"""Right gradients by the numeric Jacobian, where no exact derivative tells them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.diagnosis.looks import Look, Looks
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, signed
from gradtool.verify.thresholds.diagnosis import MEASURED_LEAST_ENTRIES, MEASURED_LOOKS


class MeasuredGradients:
    """The gradient of one argument for any cotangent, at the point of the case alone.

    Args:
        derivatives: The gradients that backward returned.
        comparison: The numeric Jacobian of the argument.
    """

    def __init__(self, derivatives: Derivatives, comparison: Comparison) -> None:
        self._derivatives, self._comparison = derivatives, comparison
        self._looks = Looks(derivatives, (comparison.argument,))

    @property
    def can_tell(self) -> bool:
        """True if the Jacobian is known, tells edits apart, and is not what backward returned."""
        comparison, layout = self._comparison, self._comparison.layout
        is_whole = layout.functionals is None and layout.directions[comparison.argument] is None
        if not is_whole:
            return False
        several = int(np.count_nonzero(comparison.numeric.value[:, self._known]))
        return several >= MEASURED_LEAST_ENTRIES and not self.agree_at_first(self.first.returned)

    @cached_property
    def _known(self) -> BoolArray:
        """The entries of the argument by which the derivative of all outputs is known."""
        value, allowed = self._comparison.numeric.value, self._comparison.allowed
        return np.asarray((np.isfinite(value) & np.isfinite(allowed)).all(axis=0))

    @property
    def first(self) -> Look:
        """The cotangents of the case, and what backward returned."""
        return self._looks.first

    def others(self) -> Iterator[tuple[FloatArray, Look]]:
        """Yield other cotangents, as a vector and as a look at which nothing was returned."""
        rng, layout = generator(0, "measured gradients"), self._derivatives.layout
        for _ in range(MEASURED_LOOKS):
            cotangent = signed(rng, layout.outputs.size)
            yield cotangent, Look(self.first.primals, layout.cotangents(cotangent), ())

    def agree_at_first(self, gradients: Sequence[Array | None] | None) -> bool:
        """Return True if gradients are right for the cotangents of the case."""
        return self.agree(self._derivatives.cotangent, gradients)

    def agree(self, cotangent: FloatArray, gradients: Sequence[Array | None] | None) -> bool:
        """Return True if gradients are right for a cotangent, within the tolerance."""
        if gradients is None:
            return False
        known = self._known
        expected = cotangent @ self._comparison.numeric.value[:, known]
        allowed = np.abs(cotangent) @ self._comparison.allowed[:, known]
        found = self._looks.flat(gradients)[known]
        return bool((np.abs(found - expected) <= allowed).all())
