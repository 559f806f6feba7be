"""Gradients that backward returned at its case and nearby, to try an explanation on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from gradtool.verify.comparison.derivatives import Derivatives
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import FloatArray, real_view
from gradtool.verify.protocol.observation import Array, Cotangents, Repair
from gradtool.verify.randomness import generator, shifted, signed
from gradtool.verify.thresholds.diagnosis import EXPLAINED_PRECISION, EXPLAINED_SHIFT, MENDED_LEAST
from gradtool.verify.wording import listed


class Explanation(msgspec.Struct, frozen=True):
    """A sentence that names a step of forward, and the line of the step."""

    text: str
    path: str
    line: int
    is_plain: bool = True
    """Its words are in the source: they name neither a computed factor nor an inner operation."""


def repair_in_words(made: Repair, who: str) -> Explanation:
    """Explain a mistake by the edit that undoes it."""
    lines = f"line{'s' if len(made.lines) > 1 else ''} {listed(made.lines)}"
    if made.words:
        text = f"{who} is right with {made.words} ({lines})"
    elif not made.other:
        text = f"{who} is right without `{made.code}` ({lines})"
    elif made.line_of_forward:
        which = "the last" if made.other == made.code else "the"
        value = f"{which} `{made.other}` of forward (line {made.line_of_forward})"
        text = f"{who} is right with {value} in place of `{made.code}` ({lines})"
    else:
        text = f"{who} is right with `{made.other}` in place of `{made.code}` ({lines})"
    return Explanation(text, made.path, made.lines[0])


class Look(msgspec.Struct, frozen=True):
    """A cotangent at a point, and what backward returned there."""

    primals: Sequence[Array]
    cotangents: Cotangents
    returned: Sequence[Array | None]


class Looks:
    """The gradients of some arguments, where an explanation of them has to hold."""

    def __init__(self, derivatives: Derivatives, arguments: Sequence[int]) -> None:
        self._derivatives, self.arguments = derivatives, arguments
        dtypes = [derivatives.primals[each].dtype for each in derivatives.inputs]
        self.precision = max(map(epsilon, dtypes)) ** EXPLAINED_PRECISION
        """Part of the largest entry by which two ways of computing a gradient differ."""
        returned = derivatives.baseline.gradients or ()
        self.first = Look(derivatives.primals, derivatives.cotangents, returned)

    def others(self) -> Iterator[Look]:
        """Yield another cotangent at the same point, one nearby, and one with longer axes."""
        derivatives, rng = self._derivatives, generator(0, "explanation")
        for primals in (derivatives.primals, shifted_point(derivatives, rng)):
            layout = derivatives.layout
            cotangents = layout.cotangents(signed(rng, layout.outputs.size))
            seen = derivatives.function.call(primals, cotangents)
            yield Look(primals, cotangents, seen.gradients or ())
        longer = derivatives.longer
        if longer is not None:
            yield Look(longer.primals, longer.cotangents, longer.gradients)

    def agree(self, look: Look, gradients: Sequence[Array | None] | None) -> bool:
        """Return True if some gradients are those of a look, but for the last digits."""
        if gradients is None:
            return False
        found = self.flat(gradients, look.primals)
        return is_close(found, self.returned(look), self.precision)

    def error(self, exact: Look, gradients: Sequence[Array | None]) -> float:
        """The largest difference of some gradients from exact ones."""
        found = self.flat(gradients, exact.primals)
        return float(np.abs(found - self.returned(exact)).max(initial=0.0))

    def mended(self, look: Look, exact: Look, gradients: Sequence[Array | None]) -> float:
        """The part of the wrong entries that some gradients have right; zero for less than half.

        And zero if they have another entry wrong that is right in the look.
        """
        right, before, after = (
            self.flat(each, look.primals) for each in (exact.returned, look.returned, gradients)
        )
        allowed = self.precision * np.abs(right).max(initial=0.0)
        was_wrong, is_wrong = np.abs(before - right) > allowed, ~(np.abs(after - right) <= allowed)
        part = 1 - is_wrong.sum() / max(was_wrong.sum(), 1)
        # What makes entries zero that are to be zero, makes them so by chance.
        is_plain = bool(right[was_wrong & ~is_wrong].any())
        return (
            float(part)
            if part > MENDED_LEAST and is_plain and not (is_wrong & ~was_wrong).any()
            else 0.0
        )

    def returned(self, look: Look) -> FloatArray:
        """The vector of what backward returned."""
        return self.flat(look.returned, look.primals)

    def flat(
        self, gradients: Sequence[Array | None], primals: Sequence[Array] | None = None
    ) -> FloatArray:
        """The gradients of the chosen arguments as one vector of real numbers.

        At the point `primals`; None for that of the case.
        """
        parts = []
        for each in self.arguments:
            primal, gradient = (primals or self._derivatives.primals)[each], gradients[each]
            full = np.zeros_like(primal) if gradient is None else gradient
            wide = np.result_type(full.dtype, np.float64)
            parts.append(np.asarray(real_view(np.array(full, dtype=wide, order="C"))).ravel())
        return np.concatenate(parts)


def is_close(found: FloatArray, expected: FloatArray, precision: float) -> bool:
    """Return True if two vectors differ by no more than a part of their largest entry."""
    scale = max(float(np.abs(each).max(initial=0.0)) for each in (expected, found))
    if not np.isfinite(scale):
        return False
    return bool(np.abs(expected - found).max(initial=0.0) <= precision * scale)


def shifted_point(derivatives: Derivatives, rng: np.random.Generator) -> list[Array]:
    """A point nearby. Only what is differentiated moves: a mask or a one-hot target stays one."""
    primals, inputs = derivatives.primals, set(derivatives.inputs)
    nearby = shifted(primals, EXPLAINED_SHIFT, rng)
    return [nearby[at] if at in inputs else each for at, each in enumerate(primals)]
