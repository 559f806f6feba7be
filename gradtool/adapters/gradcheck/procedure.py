"""One run of gradcheck: its questions in their order, and what is said when one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gradtool.adapters.common.undefined import undefined_gradients
from gradtool.adapters.gradcheck.agreement import compare
from gradtool.adapters.gradcheck.batched import (
    expect_batched_backward,
    expect_batched_forward,
)
from gradtool.adapters.gradcheck.examined import Examined
from gradtool.adapters.gradcheck.forward import Forward
from gradtool.adapters.gradcheck.once import depends_on_once_differentiable
from gradtool.adapters.gradcheck.settings import Settings
from gradtool.adapters.gradcheck.sides import Gradients, Sides
from gradtool.engine import Tensor
from gradtool.engine.autograd.gradcheck import GradcheckError

_CLOSE_TO_ZERO = 1e-8


def check(examined: Examined, settings: Settings, names: Callable[[], Sequence[str]]) -> None:
    """Ask everything that `settings` wants to know of a function at its inputs.

    Args:
        examined: The function.
        settings: The options of gradcheck.
        names: Says what the inputs are called.

    Raises:
        GradcheckError: An answer is wrong.
        Exception: What the user's code raises.
    """
    _Procedure(Sides(examined, names, settings.eps, settings.seed), settings).run()


class _Procedure:
    def __init__(self, sides: Sides, settings: Settings) -> None:
        self._sides = sides
        self._settings = settings

    def run(self) -> None:
        if not self._sides.graphed:
            self._expect_constant()
            return
        if self._settings.check_backward_ad:
            self._expect_dtypes()
            self._expect_agreement()
        if self._settings.check_forward_ad:
            self._ask_forward_mode()
        if self._settings.check_backward_ad:
            self._ask_the_rest_of_backward()

    def _ask_forward_mode(self) -> None:
        forward = Forward(self._sides, self._settings)
        forward.expect_agreement()
        if self._settings.check_undefined_grad:
            forward.expect_zero_for_undefined()
        if self._settings.check_batched_forward_grad:
            expect_batched_forward(self._sides, self._settings)

    def _ask_the_rest_of_backward(self) -> None:
        if self._settings.check_batched_grad:
            expect_batched_backward(self._sides, self._settings)
        with self._sides.examined.called() as outputs:
            self._expect_zero_for_zero(outputs)
            if self._settings.check_undefined_grad:
                self._expect_zero_for_undefined(outputs)

    def _expect_constant(self) -> None:
        """No output requires a gradient: none may depend on an input."""
        sides = self._sides
        for target in range(len(sides.layouts)) if sides.positions else ():
            jacobian = sides.numeric(target)
            if not jacobian.any():
                continue
            row, column = np.argwhere(jacobian)[0]
            raise GradcheckError(
                "Numerical gradient for function expected to be zero, because no output requires "
                f"a gradient; but {self._output_entry(int(row))} depends on {sides.input(target)}"
                f" with a derivative of {jacobian[row, column]:.10g}"
            )

    def _output_entry(self, row: int) -> str:
        blocks = self._sides.outputs.blocks
        number = next(n for n, block in enumerate(blocks) if row < block.stop)
        index = blocks[number].index(row - blocks[number].start)
        return f"output {self._sides.positions[number]} at index {index}"

    def _expect_dtypes(self) -> None:
        if not self._settings.check_grad_dtypes:
            return
        for name, returned, expected in self._sides.examined.gradient_dtypes():
            if returned != expected:
                raise GradcheckError(
                    f"Gradient has dtype mismatch: backward returns {returned} for {name}, which "
                    f"is {expected}"
                )

    def _expect_agreement(self) -> None:
        found = compare(self._sides, self._settings)
        if found.mismatches:
            lines = [*found.mismatches, *self._remarks(found.jitter)]
            raise GradcheckError("\n".join(lines))
        if found.jitter > self._settings.nondet_tol:
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and "
                "grad_output multiple times gives different values, although analytical gradient "
                f"matches numerical gradient: two runs differ by {found.jitter:.3g}, nondet_tol "
                f"is {self._settings.nondet_tol:.3g}"
            )

    def _remarks(self, jitter: float) -> Iterator[str]:
        """What may explain a mismatch."""
        if jitter > self._settings.nondet_tol:
            yield f"Backward is not reentrant either: two runs of it differ by {jitter:.3g}."
        sides = self._sides
        one, other = (sides.evaluate(sides.examined.primals) for _ in range(2))
        if any(a.tobytes() != b.tobytes() for a, b in zip(one, other, strict=True)):
            yield "func is not deterministic: it returns different outputs for the same inputs."
        with sides.examined.called() as outputs:
            if depends_on_once_differentiable(outputs):
                yield "A backward marked @once_differentiable took part: it has no derivative."

    def _expect_zero_for_zero(self, outputs: Sequence[Tensor]) -> None:
        gradients = self._sides.pull_back(outputs, self._sides.zeros)
        self._expect_zeros(gradients, "backward not multiplied by grad_output")

    def _expect_zero_for_undefined(self, outputs: Sequence[Tensor]) -> None:
        """All outputs have no cotangent, then one of them, the others one of zeros."""
        graphed = self._sides.graphed
        for missing in (graphed, *((at,) for at in graphed if len(graphed) > 1)):
            try:
                gradients = self._gradients_without(outputs, missing)
            except Exception as error:
                numbers = ", ".join(map(str, missing))
                raise GradcheckError(
                    "Expected backward function to handle undefined output grads, but without a "
                    f"grad_output for output {numbers} it raised {type(error).__name__}: {error}"
                ) from error
            self._expect_zeros(
                gradients,
                "Expected all input grads to be undefined or zero when all output grads are "
                "undefined or zero",
            )

    def _gradients_without(self, outputs: Sequence[Tensor], missing: tuple[int, ...]) -> Gradients:
        """Where the outputs `missing` have no cotangent and the others one of zeros."""
        given = {at: zero for at, zero in self._sides.zeros.items() if at not in missing}
        if given:
            return self._sides.pull_back(outputs, given)
        chosen = [outputs[at] for at in missing]
        return undefined_gradients(chosen, self._sides.examined.targets)

    def _expect_zeros(self, gradients: Gradients, complaint: str) -> None:
        allowed = _CLOSE_TO_ZERO if self._settings.masked else 0.0
        for number, flat in enumerate(self._sides.flat(gradients)):
            wrong = flat[~(np.abs(flat) <= allowed)]
            if wrong.size:
                raise GradcheckError(
                    f"{complaint}: the gradient of {self._sides.input(number)} has an entry of "
                    f"{wrong[0]:.10g} instead of zero"
                )
