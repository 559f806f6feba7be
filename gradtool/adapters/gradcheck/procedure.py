"""One run of gradcheck: its checks in order, and the message when one fails."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from gradtool.adapters.gradcheck.batched_gradients import (
    expect_batched_backward,
    expect_batched_forward,
)
from gradtool.adapters.gradcheck.checked_function import CheckedFunction
from gradtool.adapters.gradcheck.derivatives import Derivatives, Gradients
from gradtool.adapters.gradcheck.forward_mode import ForwardMode
from gradtool.adapters.gradcheck.reverse_mode import compare
from gradtool.engine import Tensor
from gradtool.engine.autograd._node import Node, OutputEdge
from gradtool.engine.autograd._once_differentiable import Error
from gradtool.engine.autograd.gradcheck import GradcheckError, GradcheckOptions

_CLOSE_TO_ZERO = 1e-8
"""Largest gradient that ``masked`` accepts for a zero cotangent."""


def check(
    function: CheckedFunction, options: GradcheckOptions, names: Callable[[], Sequence[str]]
) -> None:
    """Ask everything that `options` wants to know of a function at its inputs.

    Args:
        function: The function.
        options: The options of gradcheck.
        names: Returns the names of the inputs.

    Raises:
        GradcheckError: A check fails.
        Exception: Whatever the user's code raises.
    """
    _Procedure(Derivatives(function, names, options.eps, options.seed), options).run()


class _Procedure:
    def __init__(self, derivatives: Derivatives, options: GradcheckOptions) -> None:
        self._derivatives = derivatives
        self._options = options

    def run(self) -> None:
        if not self._derivatives.graphed:
            self._expect_constant()
            return
        if self._options.check_backward_ad:
            self._expect_dtypes()
            self._expect_agreement()
        if self._options.check_forward_ad:
            self._check_forward_mode()
        if self._options.check_backward_ad:
            self._check_rest_of_backward()

    def _check_forward_mode(self) -> None:
        forward = ForwardMode(self._derivatives, self._options)
        forward.expect_agreement()
        if self._options.check_undefined_grad:
            forward.expect_zero_for_undefined()
        if self._options.check_batched_forward_grad:
            expect_batched_forward(self._derivatives, self._options)

    def _check_rest_of_backward(self) -> None:
        if self._options.check_batched_grad:
            expect_batched_backward(self._derivatives, self._options)
        with self._derivatives.function.graphed() as outputs:
            self._expect_zero_for_zero(outputs)
            if self._options.check_undefined_grad:
                self._expect_zero_for_undefined(outputs)

    def _expect_constant(self) -> None:
        """Require outputs, none of which requires a gradient, not to depend on any input."""
        derivatives = self._derivatives
        for target in range(len(derivatives.layouts)) if derivatives.positions else ():
            jacobian = derivatives.numeric(target)
            if not jacobian.any():
                continue
            row, column = np.argwhere(jacobian)[0]
            raise GradcheckError(
                "Numerical gradient for function expected to be zero, because no output requires "
                f"a gradient; but {self._output_entry(int(row))} depends on "
                f"{derivatives.input(target)} with a derivative of {jacobian[row, column]:.10g}"
            )

    def _output_entry(self, row: int) -> str:
        blocks = self._derivatives.outputs.blocks
        number = next(n for n, block in enumerate(blocks) if row < block.stop)
        index = blocks[number].index(row - blocks[number].start)
        return f"output {self._derivatives.positions[number]} at index {index}"

    def _expect_dtypes(self) -> None:
        if not self._options.check_grad_dtypes:
            return
        for name, returned, expected in self._derivatives.function.gradient_dtypes():
            if returned != expected:
                raise GradcheckError(
                    f"Gradient has dtype mismatch: backward returns {returned} for {name}, which "
                    f"is {expected}"
                )

    def _expect_agreement(self) -> None:
        found = compare(self._derivatives, self._options)
        if found.mismatches:
            lines = [*found.mismatches, *self._remarks(found.jitter)]
            raise GradcheckError("\n".join(lines))
        if found.jitter > self._options.nondet_tol:
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and "
                "grad_output multiple times gives different values, although analytical gradient "
                f"matches numerical gradient: two runs differ by {found.jitter:.3g}, nondet_tol "
                f"is {self._options.nondet_tol:.3g}"
            )

    def _remarks(self, jitter: float) -> Iterator[str]:
        """Yield possible explanations of a mismatch."""
        if jitter > self._options.nondet_tol:
            yield f"Backward is not reentrant either: two runs of it differ by {jitter:.3g}."
        derivatives = self._derivatives
        one, other = (derivatives.evaluate(derivatives.function.primals) for _ in range(2))
        if any(a.tobytes() != b.tobytes() for a, b in zip(one, other, strict=True)):
            yield "func is not deterministic: it returns different outputs for the same inputs."
        with derivatives.function.graphed() as outputs:
            if depends_on_once_differentiable(outputs):
                yield "A backward marked @once_differentiable was involved: it has no derivative."

    def _expect_zero_for_zero(self, outputs: Sequence[Tensor]) -> None:
        gradients = self._derivatives.vjp(outputs, self._derivatives.zeros)
        self._expect_zeros(gradients, "backward not multiplied by grad_output")

    def _expect_zero_for_undefined(self, outputs: Sequence[Tensor]) -> None:
        """Check undefined cotangents: of all outputs, then of one, with zeros for the others."""
        graphed = self._derivatives.graphed
        for missing in (graphed, *((at,) for at in graphed if len(graphed) > 1)):
            try:
                gradients = self._gradients_without(outputs, missing)
            except Exception as error:
                _warn_of_undefined()
                numbers = ", ".join(map(str, missing))
                raise GradcheckError(
                    "Expected backward function to handle undefined output grads, but without a "
                    f"grad_output for output {numbers} it raised {type(error).__name__}: {error}"
                ) from error
            if not self._are_zeros(gradients):
                _warn_of_undefined()
            self._expect_zeros(
                gradients,
                "Expected all input grads to be undefined or zero when all output grads are "
                "undefined or zero",
            )

    def _gradients_without(self, outputs: Sequence[Tensor], missing: tuple[int, ...]) -> Gradients:
        """Return the gradients for undefined cotangents of `missing` and zeros for the others."""
        given = {at: zero for at, zero in self._derivatives.zeros.items() if at not in missing}
        if given:
            return self._derivatives.vjp(outputs, given)
        return self._derivatives.undefined_vjp([outputs[at] for at in missing])

    def _are_zeros(self, gradients: Gradients) -> bool:
        return not any(flat.any() for flat in self._derivatives.flat(gradients))

    def _expect_zeros(self, gradients: Gradients, message: str) -> None:
        allowed = _CLOSE_TO_ZERO if self._options.masked else 0.0
        for number, flat in enumerate(self._derivatives.flat(gradients)):
            wrong = flat[~(np.abs(flat) <= allowed)]
            if wrong.size:
                raise GradcheckError(
                    f"{message}: the gradient of {self._derivatives.input(number)} has an entry of "
                    f"{wrong[0]:.10g} instead of zero"
                )


def _warn_of_undefined() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by "
        "default, but it may break existing callers of this function. If this is true for you, you "
        'can call this function with "check_undefined_grad=False" to disable the feature',
        UserWarning,
        stacklevel=2,
    )


def depends_on_once_differentiable(tensors: Iterable[Tensor]) -> bool:
    """Return True if the graph of `tensors` reaches a backward marked ``once_differentiable``."""
    pending: list[Node] = [tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None]
    seen: set[int] = set()
    while pending:
        edge = pending.pop()
        node = edge.node if isinstance(edge, OutputEdge) else edge
        if isinstance(node, Error):
            return True
        if id(node) not in seen:
            seen.add(id(node))
            pending.extend(node._edges)
    return False
