"""Names the mistake: tries what people get wrong, and reports the guess that fits.

A guess is a Jacobian made from the numeric one, as the mistake would have made it. It is
named only when the analytic Jacobian agrees with it in every entry, to the tolerance by which
the analytic one was found wrong. Guesses are tried from the most particular to the
most general, since a gradient that ignores its cotangent is also off by some factor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gradtool.verify.coordinates import FloatArray
from gradtool.verify.derivatives import Comparison, Derivatives

_DENOMINATORS = 1000
"""The largest denominator of a fraction that a factor is named by."""

_EXACT = 1e-6


@dataclass(frozen=True)
class Diagnosis:
    """A mistake that explains a wrong gradient, and how well."""

    text: str
    misfit: float
    """The largest difference that the explanation leaves, relative to the largest entry."""

    @property
    def hint(self) -> str:
        """The diagnosis as a finding words it."""
        return f"{self.text} (fits every entry to {self.misfit:.1g})"


def diagnose(derivatives: Derivatives, comparison: Comparison, name: str) -> Diagnosis | None:
    """The first mistake that explains what is wrong with the gradient of `name`."""
    for guess in _GUESSES:
        for text, expected in guess(derivatives, comparison):
            misfit = _misfit(comparison, expected)
            if misfit is not None:
                return Diagnosis(f"the gradient of `{name}` {text}", misfit)
    return None


Guess = Callable[[Derivatives, Comparison], Iterator[tuple[str, FloatArray]]]


def _is_zero(_: Derivatives, comparison: Comparison) -> Iterator[tuple[str, FloatArray]]:
    yield "is zero everywhere", np.zeros_like(comparison.analytic)


def _ignores_cotangent(
    derivatives: Derivatives, comparison: Comparison
) -> Iterator[tuple[str, FloatArray]]:
    """Backward that returns the same, whatever it is given."""
    returned = comparison.analytic * derivatives.analytic.scaling[:, None]
    together = derivatives.together(comparison.argument)
    if np.allclose(returned, together, rtol=_EXACT, atol=0.0):
        text = "does not depend on grad_output: backward must multiply by it"
        yield text, comparison.analytic


def _has_wrong_sign(_: Derivatives, comparison: Comparison) -> Iterator[tuple[str, FloatArray]]:
    yield "has the wrong sign", -comparison.numeric.value


def _is_transposed(_: Derivatives, comparison: Comparison) -> Iterator[tuple[str, FloatArray]]:
    block = comparison.layout.inputs[comparison.argument].blocks[0]
    square = len(block.shape) > 1 and block.shape[-1] == block.shape[-2]
    if square and comparison.layout.directions[comparison.argument] is None:
        parts = (2,) if block.is_complex else (1,)
        cube = comparison.numeric.value.reshape(-1, *block.shape, *parts)
        flipped = np.swapaxes(cube, -2, -3)
        yield "is the transpose of the derivative", flipped.reshape(comparison.analytic.shape)


def _is_anothers(
    derivatives: Derivatives, comparison: Comparison
) -> Iterator[tuple[str, FloatArray]]:
    """Gradients returned in the wrong order."""
    arguments = derivatives.function.arguments
    own = arguments[comparison.argument]
    if comparison.layout.directions[comparison.argument] is not None:
        return
    for other in derivatives.inputs:
        if other != comparison.argument and arguments[other].shape == own.shape:
            value = derivatives.comparison(other).numeric.value
            if value.shape == comparison.analytic.shape:
                text = f"is that of `{arguments[other].name}`: check the order in backward's return"
                yield text, value


def _has_wrong_factor(_: Derivatives, comparison: Comparison) -> Iterator[tuple[str, FloatArray]]:
    numeric = comparison.numeric.value
    known = np.isfinite(numeric) & np.isfinite(comparison.analytic)
    square = float(np.sum(numeric[known] ** 2))
    if square:
        factor = float(np.sum(comparison.analytic[known] * numeric[known])) / square
        if factor:
            yield f"is the derivative times {_named(factor)}", factor * numeric


_GUESSES: Sequence[Guess] = (
    _is_zero,
    _ignores_cotangent,
    _has_wrong_sign,
    _is_transposed,
    _is_anothers,
    _has_wrong_factor,
)


def _named(factor: float) -> str:
    """The factor as a small whole number or fraction of one, if it is one."""
    for denominator in range(1, _DENOMINATORS + 1):
        whole = factor * denominator
        if round(whole) and abs(whole - round(whole)) <= _EXACT * abs(whole):
            if denominator == 1:
                return str(round(whole))
            if abs(round(whole)) == 1:
                return f"{round(whole)}/{denominator}"
    return f"{factor:.6g}"


def _misfit(comparison: Comparison, expected: FloatArray) -> float | None:
    """What the guess leaves unexplained, if that is within tolerance everywhere."""
    known = np.isfinite(comparison.numeric.value)
    if not known.any():
        return None
    difference = np.abs(comparison.analytic - expected)
    allowed = comparison.tolerance.allowed(comparison.analytic, expected)
    error = float(np.nanmax(comparison.numeric.error))
    if not bool((difference <= allowed + error)[known].all()):
        return None
    largest = float(np.max(np.abs(expected[known]), initial=0.0))
    return float(difference[known].max()) / largest if largest else 0.0
