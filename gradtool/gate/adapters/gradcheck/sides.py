"""The two sides that gradcheck compares: what backward returns, and what the outputs do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gradtool.engine import Tensor
from gradtool.engine._tensor import wrap
from gradtool.engine.autograd import grad
from gradtool.engine.autograd.gradcheck import GradcheckError
from gradtool.gate.adapters.gradcheck.examined import Examined, copied
from gradtool.verify.coordinates import Block, Coordinates, FloatArray, is_continuous
from gradtool.verify.fixed_step import numeric_jacobian, projected_derivative
from gradtool.verify.protocol import Array

MOST_ENTRIES = 4_000_000
"""Jacobians with more entries are not computed to appeal against a projection."""

Gradients = Sequence[Tensor | None]


class Rows(NamedTuple):
    """What backward returned for several cotangents of one output."""

    jacobians: list[FloatArray]
    """For each target one row for each cotangent."""
    jitter: float
    """The largest difference between two runs."""


class Sides:
    """A function at its inputs, seen from both sides.

    Outputs and targets (inputs that require a gradient) are numbered among themselves;
    `output` and `input` tell what the caller calls them.
    """

    def __init__(self, examined: Examined, names: Sequence[str], eps: float) -> None:
        self.examined = examined
        self._names = names
        self._eps = eps
        self._numeric: dict[int, FloatArray] = {}
        with examined.called() as outputs:
            self._first = [copied(output) for output in outputs]
            self.graphed = tuple(at for at, each in enumerate(outputs) if each.requires_grad)
        continuous = tuple(at for at, o in enumerate(self._first) if is_continuous(o.dtype))
        self.positions = self.graphed or continuous
        """Which outputs are compared: where none requires a gradient, all that could."""
        self.outputs = Coordinates([self._first[at] for at in self.positions])
        self.layouts = [Coordinates([primal]) for primal in examined.primals]

    @property
    def size(self) -> int:
        """Entries of all Jacobians together."""
        return self.outputs.size * sum(layout.size for layout in self.layouts)

    def block(self, target: int) -> Block:
        """The coordinates of a target."""
        return self.layouts[target].blocks[0]

    def input(self, target: int) -> str:
        """What the caller calls a target."""
        position = self.examined.positions[target]
        return f"input {position} ({self._names[position]})"

    # ---- the numeric side -----------------------------------------------------------------

    def evaluate(self, primals: Sequence[Array]) -> list[Array]:
        """The compared outputs at `primals`.

        Raises:
            GradcheckError: An output has another shape or dtype than at the inputs.
        """
        with self.examined.called(primals) as outputs:
            arrays = [copied(output) for output in outputs]
        if _forms(arrays) != _forms(self._first):
            raise GradcheckError(
                "Expected func to return outputs with the same shape and dtype when inputs are "
                f"perturbed by eps, but {_forms(self._first)} became {_forms(arrays)}"
            )
        return [arrays[at] for at in self.positions]

    def numeric(self, target: int) -> FloatArray:
        """The numeric Jacobian of all compared outputs with respect to one target."""
        if target not in self._numeric:
            self._numeric[target] = numeric_jacobian(
                self.evaluate, self.examined.primals, target, self._eps
            )
        return self._numeric[target]

    def numeric_along(self, target: int, direction: FloatArray) -> FloatArray:
        """The numeric derivative of all compared outputs along a direction of one target."""
        primals = self.examined.primals
        along: list[Array | None] = [None] * len(primals)
        along[target] = self.layouts[target].unflatten(direction)[0]
        return projected_derivative(self.evaluate, primals, along, self._eps)

    # ---- the analytic side ----------------------------------------------------------------

    def rows(self, output: int, cotangents: Iterable[FloatArray]) -> Rows:
        """Run backward twice for each cotangent of one output, given in coordinates."""
        at = self.positions[output]
        layout = Coordinates([self._first[at]])
        rows: list[list[FloatArray]] = []
        jitter = 0.0
        with self.examined.called() as outputs:
            for vector in cotangents:
                sent = {at: layout.unflatten(vector)[0]}
                once, again = (self.flat(self.pull_back(outputs, sent)) for _ in range(2))
                rows.append(once)
                jitter = max(jitter, _furthest(once, again))
        matrices = [
            np.array([row[target] for row in rows]).reshape(len(rows), each.size)
            for target, each in enumerate(self.layouts)
        ]
        return Rows(matrices, jitter)

    def pull_back(
        self, outputs: Sequence[Tensor], cotangents: dict[int, Array | None]
    ) -> Gradients:
        """The gradient of each target, given cotangents for outputs by their positions."""
        sent = [(outputs[at], array) for at, array in cotangents.items() if array is not None]
        return grad(
            [output for output, _ in sent],
            self.examined.targets,
            [wrap(array.copy()).to(output.device) for output, array in sent],
            retain_graph=True,
            allow_unused=True,
        )

    def flat(self, gradients: Gradients) -> list[FloatArray]:
        """The coordinates of each target's gradient; None counts as zero."""
        return [
            np.zeros(layout.size) if gradient is None else layout.flatten([copied(gradient)])
            for gradient, layout in zip(gradients, self.layouts, strict=True)
        ]

    @cached_property
    def zeros(self) -> dict[int, Array | None]:
        """A zero cotangent for each output that requires a gradient."""
        return {at: np.zeros_like(self._first[at]) for at in self.graphed}


def _furthest(one: Sequence[FloatArray], other: Sequence[FloatArray]) -> float:
    """The largest difference between two sets of arrays; NaN is no different from NaN."""
    gaps = [np.abs(a - b) for a, b in zip(one, other, strict=True)]
    return max((float(np.nan_to_num(gap, nan=0.0).max(initial=0.0)) for gap in gaps), default=0.0)


def _forms(arrays: Sequence[Array]) -> str:
    return ", ".join(f"{array.dtype}{list(array.shape)}" for array in arrays)
