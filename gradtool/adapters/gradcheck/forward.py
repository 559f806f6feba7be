"""The side of forward mode: tangents pushed through the user's function."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.adapters.bundled.graphed_levels import GraphedDual
from gradtool.adapters.gradcheck.agreement import not_linear
from gradtool.adapters.gradcheck.examined import Examined, copied
from gradtool.adapters.gradcheck.mismatch import mismatch
from gradtool.adapters.gradcheck.probes import Probes
from gradtool.adapters.gradcheck.settings import Settings
from gradtool.adapters.gradcheck.sides import MOST_ENTRIES, Sides
from gradtool.engine import Tensor
from gradtool.engine._tensor import wrap
from gradtool.engine.autograd.gradcheck import GradcheckError
from gradtool.verify.protocol.coordinates import FloatArray
from gradtool.verify.protocol.differentiable import Array
from gradtool.verify.randomness import generator, signed

Tangents = Sequence[Tensor | None]


def pushed(examined: Examined, tangents: Tangents) -> list[Tensor | None]:
    """The tangents of all outputs for these of the targets; None stands for undefined."""
    with GraphedDual() as level:
        duals = [
            level.dual(target.detach(), tangent).requires_grad_()
            for target, tangent in zip(examined.targets, tangents, strict=True)
        ]
        with examined.called(instead=duals) as outputs:
            return [level.tangent_of(output) for output in outputs]


class Forward:
    """Asks what gradcheck wants to know of forward mode."""

    def __init__(self, sides: Sides, settings: Settings) -> None:
        self._sides = sides
        self._settings = settings

    def expect_agreement(self) -> None:
        """Forward mode must say what the outputs do.

        Raises:
            GradcheckError: It does not, or its tangents have other dtypes than the outputs.
        """
        wrong = self._projections() if self._settings.fast_mode else None
        if not self._settings.fast_mode or (wrong and self._sides.size <= MOST_ENTRIES):
            wrong = self._entries()
        if wrong:
            raise GradcheckError("\n".join(wrong))

    def _entries(self) -> list[str]:
        """Each column is asked for with a tangent of random sign and size, as rows are."""
        wrong = []
        for target, layout in enumerate(self._sides.layouts):
            rng = generator(self._settings.seed, f"tangent {target}")
            scaling, together = signed(rng, layout.size), signed(rng, layout.size)
            *columns, moved = (self._along(target, v) for v in Probes(scaling, together))
            jacobian = np.array(columns).reshape(layout.size, -1).T / scaling
            for output, block in enumerate(self._sides.outputs.blocks):
                rows = jacobian[block.span]
                text = mismatch(
                    rows,
                    self._sides.numeric(target)[block.span],
                    block,
                    self._sides.block(target),
                    self._settings.atol,
                    self._settings.rtol,
                ) or not_linear(together, rows.T, moved[block.span], self._settings, _JVP)
                wrong += [f"{self._head(output, target)}: {text}"] if text else []
        return wrong

    def _projections(self) -> list[str]:
        wrong = []
        for target, layout in enumerate(self._sides.layouts):
            rng = generator(self._settings.seed, f"tangent {target}")
            direction = signed(rng, layout.size)
            moved = self._along(target, direction)
            numeric = self._sides.numeric_along(target, direction)
            for output, block in enumerate(self._sides.outputs.blocks):
                functional = signed(rng, block.stop - block.start)
                claimed = float(functional @ moved[block.span])
                measured = float(functional @ numeric[block.span])
                allowed = self._settings.atol + self._settings.rtol * abs(measured)
                if not abs(claimed - measured) <= allowed:
                    wrong.append(
                        f"{self._head(output, target)}: a random projection of it is "
                        f"{claimed:.10g} analytic and {measured:.10g} numeric, tolerance "
                        f"{allowed:.3g}"
                    )
        return wrong

    def _head(self, output: int, target: int) -> str:
        return (
            "Jacobian computed with forward mode mismatch for output "
            f"{self._sides.positions[output]} with respect to {self._sides.input(target)}"
        )

    def _along(self, target: int, direction: FloatArray) -> FloatArray:
        """How the compared outputs move, in coordinates, when one target does."""
        found = pushed(self._sides.examined, self._tangents(target, direction))
        compared = [found[at] for at in self._sides.positions]
        self._expect_dtypes(compared)
        return self._sides.outputs.flatten(
            [
                np.zeros(block.shape, block.dtype) if tangent is None else copied(tangent)
                for tangent, block in zip(compared, self._sides.outputs.blocks, strict=True)
            ]
        )

    def _tangents(self, target: int, direction: FloatArray) -> list[Tensor | None]:
        """One target moves along `direction`; the others have tangents of zeros."""
        arrays: list[Array | None] = [np.zeros_like(p) for p in self._sides.examined.primals]
        arrays[target] = self._sides.layouts[target].unflatten(direction)[0]
        return tensors(self._sides.examined, arrays)

    def _expect_dtypes(self, tangents: Tangents) -> None:
        if not self._settings.check_grad_dtypes:
            return
        blocks = zip(self._sides.positions, self._sides.outputs.blocks, tangents, strict=True)
        for position, block, tangent in blocks:
            if tangent is not None and tangent._array.dtype != block.dtype:
                raise GradcheckError(
                    f"Forward AD gradient has dtype mismatch: the tangent of output {position} "
                    f"is {tangent._array.dtype}, the output {block.dtype}"
                )

    def expect_zero_for_undefined(self) -> None:
        """An undefined tangent must be taken for one of zeros.

        Raises:
            GradcheckError: It is not.
        """
        examined = self._sides.examined
        rng = generator(self._settings.seed, "undefined tangents")
        drawn = [layout.unflatten(signed(rng, layout.size))[0] for layout in self._sides.layouts]
        for target, primal in enumerate(examined.primals):
            zero, undefined = (
                pushed(examined, tensors(examined, [*drawn[:target], each, *drawn[target + 1 :]]))
                for each in (np.zeros_like(primal), None)
            )
            for position, (one, other) in enumerate(zip(zero, undefined, strict=True)):
                if one is not None and other is not None and not _close(one, other):
                    raise GradcheckError(
                        f"Mismatch in tangent values for output {position}: it moves otherwise "
                        f"when the tangent of {self._sides.input(target)} is undefined than when "
                        "it is zero"
                    )


_JVP = ("jvp", "its tangent")


def tensors(examined: Examined, arrays: Sequence[Array | None]) -> list[Tensor | None]:
    """Tangents of these values, on the targets' devices."""
    return [
        None if array is None else wrap(np.array(array)).to(target.device)
        for target, array in zip(examined.targets, arrays, strict=True)
    ]


def _close(one: Tensor, other: Tensor) -> bool:
    return np.allclose(copied(one), copied(other), rtol=1e-5, atol=1e-8)
