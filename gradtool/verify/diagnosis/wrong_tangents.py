"""The mistake in a jvp: the step of forward that it gets wrong, or the edit that makes it right.

The tangents that jvp returns are the derivative times those of the inputs. Multiplied by a
cotangent, that is a number which the gradients of a forward with a step held constant, or with one
expression altered, have to give as well. So what explains a wrong backward explains a wrong jvp.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from gradtool.verify.comparison.derivatives import Derivatives
from gradtool.verify.comparison.forward_mode import rows, tangent_weights, tangents
from gradtool.verify.diagnosis.altered_forward import altered_forward_of_jvp
from gradtool.verify.diagnosis.forgotten_steps import forgotten_step_of_jvp
from gradtool.verify.diagnosis.looks import (
    Explanation,
    Look,
    Looks,
    is_close,
    repair_in_words,
    shifted_point,
)
from gradtool.verify.diagnosis.patience import limited_patience, patiently
from gradtool.verify.protocol.coordinates import FloatArray
from gradtool.verify.protocol.differentiable import Examinable
from gradtool.verify.protocol.observation import Array, Primals, Repair, Tangents
from gradtool.verify.randomness import generator, signed
from gradtool.verify.thresholds.diagnosis import REPAIRS_MOST


def mistake_of_jvp(
    function: Examinable, recorded: Examinable | None, derivatives: Derivatives
) -> Explanation | None:
    """The sentence that names the mistake; None if none explains all tangents.

    Args:
        function: The Function.
        recorded: Its forward, whose derivative is exact; None if it cannot be recorded.
        derivatives: The point, and the inputs that have a derivative.
    """
    if recorded is None:
        return None
    try:
        with limited_patience():
            looks = _TangentLooks(function, derivatives)
            step = forgotten_step_of_jvp(looks, recorded)
            if step is None or not step.is_plain:
                step = altered_forward_of_jvp(looks, recorded) or step
            if step is not None and step.is_plain:
                return step
            return _repair(function, recorded, derivatives) or step
    except Exception:  # The user's code may raise anything at another point.
        return None


class _TangentLooks(Looks):
    """Products of a cotangent and the tangents that jvp returned, at the case and nearby."""

    def __init__(self, function: Examinable, derivatives: Derivatives) -> None:
        super().__init__(derivatives, derivatives.inputs)
        self._function = function
        self._row = _random_tangents(derivatives, generator(0, "explanation of jvp"))
        self.first = self._look(derivatives.primals, derivatives.cotangents)

    def others(self) -> Iterator[Look]:
        rng, layout = generator(1, "explanation of jvp"), self._derivatives.layout
        here = self._derivatives.primals
        for primals in (here, here, shifted_point(self._derivatives, rng)):
            yield self._look(primals, layout.cotangents(signed(rng, layout.outputs.size)))

    def _look(self, primals: Primals, cotangents: Sequence[Array | None]) -> Look:
        (outputs,) = self._function.jvps(primals, [self._row])
        return Look(primals, cotangents, outputs)

    def returned(self, look: Look) -> FloatArray:
        return _product(look.cotangents, look.returned)

    def flat(
        self,
        gradients: Sequence[Array | None],
        primals: Sequence[Array] | None = None,  # noqa: ARG002 the tangents are of the case alone
    ) -> FloatArray:
        return _product(gradients, self._row)


def _product(one: Sequence[Array | None], other: Sequence[Array | None]) -> FloatArray:
    """The sum of the products of two sequences, as the vector that a look compares."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    return np.array([sum(float(np.vdot(a, b).real) for a, b in pairs)])


def _random_tangents(derivatives: Derivatives, rng: np.random.Generator) -> Tangents:
    weights = {each: tangent_weights(derivatives, each, rng) for each in derivatives.inputs}
    return tangents(derivatives, weights)


def _repair(
    function: Examinable, recorded: Examinable, derivatives: Derivatives
) -> Explanation | None:
    search = _RepairSearch(function, recorded, derivatives)
    first, *others = search.points
    for made in patiently(function.jvp_repairs(REPAIRS_MOST)):
        if search.agrees(first, made) and all(search.agrees(each, made) for each in others):
            return repair_in_words(made, "jvp")
    return None


class _RepairSearch:
    """The exact tangents at some points, to try edits of jvp on."""

    def __init__(
        self, function: Examinable, recorded: Examinable, derivatives: Derivatives
    ) -> None:
        self._function, self._recorded, self._derivatives = function, recorded, derivatives
        self._precision = Looks(derivatives, derivatives.inputs).precision

    @cached_property
    def points(self) -> list[tuple[Primals, Tangents, FloatArray]]:
        """Two tangents of all inputs at the case, and one nearby, with those of the outputs."""
        rng, here = generator(0, "repair of jvp"), self._derivatives.primals
        found: list[tuple[Primals, Tangents, FloatArray]] = []
        for primals in (here, here, shifted_point(self._derivatives, rng)):
            row = _random_tangents(self._derivatives, rng)
            exact = rows(self._derivatives.layout, *self._recorded.jvps(primals, [row]))
            found.append((primals, row, exact))
        return found

    def agrees(self, point: tuple[Primals, Tangents, FloatArray], made: Repair) -> bool:
        """Return True if an edited jvp returns the exact tangents."""
        primals, row, exact = point
        (found,) = self._function.repaired_jvp(primals, row, [made])
        if found is None:
            return False
        return is_close(rows(self._derivatives.layout, tuple(found)), exact, self._precision)
