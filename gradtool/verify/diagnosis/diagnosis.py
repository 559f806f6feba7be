"""Names the mistake: tries common ones, and reports the first that fits.

A guess is a Jacobian made from the numeric one, as the mistake would have made it. It is named
only when the analytic Jacobian agrees with it in every entry, to the tolerance by which the
analytic one was found wrong. Guesses are tried from the most particular to the most general, since
a gradient that ignores its cotangent is also off by some factor. Where none fits all of it, the
parts that are wrong are distinguished from those that are right.
"""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import replace

from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.diagnosis.guesses import (
    DESCRIPTIONS,
    GUESSES,
    agrees,
    has_simple_factor,
    has_wrong_factor,
)
from gradtool.verify.diagnosis.partial_errors import LOOSE, PARTIAL_ERRORS
from gradtool.verify.protocol.coordinates import FloatArray


class Diagnosis(msgspec.Struct, frozen=True):
    """A mistake that explains a wrong gradient, and how well.

    `explained` of `compared` entries of the Jacobian have a value under this explanation; it fits
    every one of these.
    """

    text: str
    misfit: float | None = None
    """The largest difference that the explanation leaves, relative to the largest entry.

    None for an explanation that says which entries are wrong, but not what they are.
    """
    explained: int = 0
    compared: int = 0
    loose: bool = True
    """The explanation leaves open which mistake it is."""
    is_partial: bool = False
    """The explanation says where the gradient is wrong, and not why."""
    is_description: bool = False
    """The explanation says what the gradient is, in whole, and not what made it so."""
    has_simple_factor: bool = False
    """The gradient is the derivative times a fraction, which hardly depends on the inputs."""

    @property
    def leaves_open(self) -> bool:
        """True if the mistake behind it may be named more precisely."""
        return self.loose or self.has_simple_factor or self.is_description

    @property
    def hint(self) -> str:
        """The diagnosis as a finding words it."""
        if self.misfit is None:
            return self.text
        precision = f"to {self.misfit:.1g}" if self.misfit else "exactly"
        fits = f"every entry {precision}"
        if self.explained < self.compared:
            fits = (
                f"{self.explained} of {self.compared} entries {precision}; the rest are unexplained"
            )
        return f"{self.text} (fits {fits})"


def diagnose(derivatives: Derivatives, comparison: Comparison, name: str) -> Diagnosis | None:
    """The first mistake that explains what is wrong with the gradient of `name`."""
    for guess in (*GUESSES, *PARTIAL_ERRORS):
        for text, expected in guess(derivatives, comparison):
            if expected is None:
                return Diagnosis(f"the gradient of `{name}` {text}")
            if agrees(comparison, expected):
                found = _fitting(f"the gradient of `{name}` {text}", comparison, expected)
                simple = guess is has_wrong_factor and has_simple_factor(comparison)
                # Any one number is a multiple of any other.
                is_multiple = guess is has_wrong_factor and comparison.analytic.size == 1
                return replace(
                    found,
                    loose=guess in LOOSE or (is_multiple and not simple),
                    is_partial=guess in PARTIAL_ERRORS,
                    is_description=guess in DESCRIPTIONS,
                    has_simple_factor=simple,
                )
    return None


def _fitting(text: str, comparison: Comparison, expected: FloatArray) -> Diagnosis:
    known = np.isfinite(expected) & np.isfinite(comparison.numeric.value)
    difference = np.abs(comparison.analytic - expected)[known]
    largest = float(np.abs(expected[known]).max(initial=0.0))
    return Diagnosis(
        text=text,
        misfit=float(difference.max()) / largest if largest else 0.0,
        explained=int(known.sum()),
        compared=known.size,
    )
