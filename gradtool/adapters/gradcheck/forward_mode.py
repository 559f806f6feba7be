"""The checks of forward mode: tangents from the user's jvp, against difference quotients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.adapters.gradcheck.checked_function import CheckedFunction, copied
from gradtool.adapters.gradcheck.comparison import ProbeVectors, mismatch, nonlinearity
from gradtool.adapters.gradcheck.derivatives import MAX_ENTRIES, Derivatives
from gradtool.engine import Tensor
from gradtool.engine._tensor import wrap
from gradtool.engine.autograd import forward_ad
from gradtool.engine.autograd.gradcheck import GradcheckError, GradcheckOptions
from gradtool.verify.protocol.coordinates import FloatArray
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, signed

Tangents = Sequence[Tensor | None]


def jvp(function: CheckedFunction, tangents: Tangents) -> list[Tensor | None]:
    """Return the tangents of all outputs for these of the targets; None stands for undefined."""
    with forward_ad.dual_level():
        duals = [
            target.detach() if tangent is None else forward_ad.make_dual(target.detach(), tangent)
            for target, tangent in zip(function.targets, tangents, strict=True)
        ]
        with function.called(instead=duals) as outputs:
            return [forward_ad.unpack_dual(output).tangent for output in outputs]


class ForwardMode:
    """The checks of forward mode in one run of gradcheck."""

    def __init__(self, derivatives: Derivatives, options: GradcheckOptions) -> None:
        self._derivatives = derivatives
        self._options = options

    def expect_agreement(self) -> None:
        """Require tangents to agree with difference quotients.

        Raises:
            GradcheckError: They disagree, or have other dtypes than the outputs.
        """
        wrong = self._projections() if self._options.fast_mode else None
        if not self._options.fast_mode or (wrong and self._derivatives.size <= MAX_ENTRIES):
            wrong = self._entries()
        if wrong:
            raise GradcheckError("\n".join(wrong))

    def _entries(self) -> list[str]:
        """Compare all entries. Each column comes from a tangent of random sign and size."""
        wrong = []
        for target, layout in enumerate(self._derivatives.layouts):
            rng = generator(self._options.seed, f"tangent {target}")
            scaling, together = signed(rng, layout.size), signed(rng, layout.size)
            *columns, tangent = (self._along(target, v) for v in ProbeVectors(scaling, together))
            size = self._derivatives.outputs.size
            jacobian = np.array(columns).reshape(layout.size, size).T / scaling
            for output, block in enumerate(self._derivatives.outputs.blocks):
                rows = jacobian[block.span]
                head = self._head(output, target)
                text = mismatch(
                    head,
                    rows,
                    self._derivatives.numeric(target)[block.span],
                    block,
                    self._derivatives.block(target),
                    self._options.atol,
                    self._options.rtol,
                ) or nonlinearity(
                    together,
                    rows.T,
                    tangent[block.span],
                    self._options.atol,
                    self._options.rtol,
                    head,
                    _JVP,
                )
                wrong += [text] if text else []
        return wrong

    def _projections(self) -> list[str]:
        wrong = []
        for target, layout in enumerate(self._derivatives.layouts):
            rng = generator(self._options.seed, f"tangent {target}")
            direction = signed(rng, layout.size)
            tangent = self._along(target, direction)
            numeric = self._derivatives.numeric_along({target: direction})
            for output, block in enumerate(self._derivatives.outputs.blocks):
                functional = signed(rng, block.stop - block.start)
                claimed = float(functional @ tangent[block.span])
                measured = float(functional @ numeric[block.span])
                allowed = self._options.atol + self._options.rtol * abs(measured)
                if not abs(claimed - measured) <= allowed:
                    wrong.append(
                        f"{self._head(output, target)}: a random projection of it is "
                        f"{claimed:.10g} analytically and {measured:.10g} numerically, tolerance "
                        f"{allowed:.3g}"
                    )
        return wrong

    def _head(self, output: int, target: int) -> str:
        position = self._derivatives.positions[output]
        return (
            f"Jacobian computed with forward mode mismatch for output {position} with respect to "
            f"{self._derivatives.input(target)}"
        )

    def _along(self, target: int, direction: FloatArray) -> FloatArray:
        """Return the tangents of the compared outputs along a direction of one target."""
        found = jvp(self._derivatives.function, self._tangents(target, direction))
        compared = [found[at] for at in self._derivatives.positions]
        self._expect_dtypes(compared)
        return self._derivatives.outputs.flatten(
            [
                np.zeros(block.shape, block.dtype) if tangent is None else copied(tangent)
                for tangent, block in zip(compared, self._derivatives.outputs.blocks, strict=True)
            ]
        )

    def _tangents(self, target: int, direction: FloatArray) -> list[Tensor | None]:
        """Return `direction` as the tangent of one target, and zeros for the others."""
        arrays: list[Array | None] = [np.zeros_like(p) for p in self._derivatives.function.primals]
        arrays[target] = self._derivatives.layouts[target].unflatten(direction)[0]
        return tensors(self._derivatives.function, arrays)

    def _expect_dtypes(self, tangents: Tangents) -> None:
        if not self._options.check_grad_dtypes:
            return
        blocks = zip(
            self._derivatives.positions, self._derivatives.outputs.blocks, tangents, strict=True
        )
        for position, block, tangent in blocks:
            if tangent is not None and tangent._array.dtype != block.dtype:
                raise GradcheckError(
                    f"Forward AD gradient has dtype mismatch: the tangent of output {position} "
                    f"is {tangent._array.dtype}, the output {block.dtype}"
                )

    def expect_zero_for_undefined(self) -> None:
        """Require an undefined tangent to count as zeros.

        Raises:
            GradcheckError: It does not.
        """
        function = self._derivatives.function
        rng = generator(self._options.seed, "undefined tangents")
        drawn = [
            layout.unflatten(signed(rng, layout.size))[0] for layout in self._derivatives.layouts
        ]
        for target, primal in enumerate(function.primals):
            zero, undefined = (
                jvp(function, tensors(function, [*drawn[:target], each, *drawn[target + 1 :]]))
                for each in (np.zeros_like(primal), None)
            )
            for position, (one, other) in enumerate(zip(zero, undefined, strict=True)):
                if one is not None and other is not None and not _close(one, other):
                    raise GradcheckError(
                        f"Mismatch in tangent values for output {position}: it is not the same "
                        f"for an undefined tangent of {self._derivatives.input(target)} as for a "
                        "zero one"
                    )


_JVP = ("jvp", "its tangent")


def tensors(function: CheckedFunction, arrays: Sequence[Array | None]) -> list[Tensor | None]:
    """Return tangents of these values, on the targets' devices."""
    return [
        None if array is None else wrap(np.array(array)).to(target.device)
        for target, array in zip(function.targets, arrays, strict=True)
    ]


def _close(one: Tensor, other: Tensor) -> bool:
    return np.allclose(copied(one), copied(other), rtol=1e-5, atol=1e-8)
