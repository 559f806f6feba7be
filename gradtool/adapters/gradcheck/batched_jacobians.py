"""Numeric and analytic Jacobians from batched runs: many points, or cotangents, per call.

The user's code runs on batched tensors. Code that cannot, or that has side effects, gives no
Jacobians here: then each point and each cotangent gets a run of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.adapters.bundled.graphed_levels import GraphedBatch
from gradtool.adapters.common.side_effects import without_side_effects
from gradtool.adapters.gradcheck.checked_function import CheckedFunction
from gradtool.adapters.gradcheck.comparison import ProbeVectors
from gradtool.engine import Tensor
from gradtool.engine._tensor import wrap
from gradtool.engine.autograd import grad
from gradtool.verify.oracle.fixed_step import write_columns_at_once
from gradtool.verify.protocol.coordinates import Coordinates, FloatArray
from gradtool.verify.protocol.observation import Array

_MAX_BATCH_BYTES = 2**21
"""Bytes of the arrays that go into a batch and come out of it: about the size of a cache."""

_MIN_RUNS = 3
"""Runs below which a batch costs more than it saves."""


class CannotBatchError(Exception):
    """A batch would gain nothing, or needs too much memory."""


class BatchedJacobians:
    """Batched runs of a function at its inputs.

    Args:
        function: The function.
        outputs: Layout of the outputs that are compared.
        positions: Positions of those among all outputs.
    """

    def __init__(
        self, function: CheckedFunction, outputs: Coordinates, positions: Sequence[int]
    ) -> None:
        self._function = function
        self._outputs = outputs
        self._positions = positions
        self._gradients = Coordinates(function.primals)

    def jacobians(
        self, probes: Sequence[ProbeVectors], eps: float
    ) -> tuple[list[FloatArray], list[tuple[FloatArray, float]]] | None:
        """Return the numeric Jacobian of each target and, for each output, what `_rows` returns.

        None if the user's code cannot be batched.
        """
        try:
            with without_side_effects(self._function.roots()):
                numeric = [self._numeric(at, eps) for at in range(len(self._function.targets))]
                return numeric, [self._rows(at, each) for at, each in enumerate(probes)]
        except Exception:  # Code that cannot be batched may raise anything.
            return None

    def _numeric(self, target: int, eps: float) -> FloatArray:
        """The numeric Jacobian of all outputs with respect to one target."""
        primal = self._function.primals[target]
        jacobian = np.empty((self._outputs.size, Coordinates([primal]).size))

        def evaluate_many(points: Array) -> list[Array | None]:
            return self._evaluated(target, points)

        for part in _parts(jacobian.shape[1], 2 * (primal.nbytes + 8 * self._outputs.size)):
            write_columns_at_once(jacobian, evaluate_many, self._outputs, primal, eps, part)
        return jacobian

    def _evaluated(self, target: int, points: Array) -> list[Array | None]:
        targets = self._function.targets
        with GraphedBatch(len(points)) as level:
            stand_ins = [each.detach().requires_grad_() for each in targets]
            stand_ins[target] = level.wrap(wrap(points).to(targets[target].device)).requires_grad_()
            outputs = self._function.outputs(stand_ins)
            return level.views([outputs[at] for at in self._positions])

    def _rows(self, output: int, probes: ProbeVectors) -> tuple[FloatArray, float]:
        """The gradients of all targets, side by side, for each cotangent of one output.

        Backward runs twice; the largest difference between the two runs comes second.
        """
        rows = np.empty((len(probes), self._gradients.size))
        block = self._outputs.blocks[output]
        layout = Coordinates([np.empty(block.shape, block.dtype)])
        jitter = 0.0
        for part in _parts(len(rows), 8 * (block.stop - block.start + self._gradients.size)):
            (cotangents,) = layout.unflatten_many(probes.rows(part))
            here = rows[part.start : part.stop]
            jitter = max(jitter, self._vjp_twice(output, np.asarray(cotangents), here))
        return rows, jitter

    def _vjp_twice(self, output: int, cotangents: Array, rows: FloatArray) -> float:
        with self._function.called() as outputs, GraphedBatch(len(cotangents)) as level:
            at = outputs[self._positions[output]]
            self._flatten(level, at, cotangents, rows)
            return largest_difference(rows, self._flatten(level, at, cotangents))

    def _flatten(
        self, level: GraphedBatch, at: Tensor, cotangents: Array, rows: FloatArray | None = None
    ) -> FloatArray:
        count = level.size
        sent = level.wrap(wrap(cotangents.copy()).to(at.device))
        found = grad(at, self._function.targets, sent, retain_graph=True, allow_unused=True)
        arrays = [
            np.zeros((count, *primal.shape), primal.dtype) if each is None else each
            for each, primal in zip(level.views(found), self._function.primals, strict=True)
        ]
        return self._gradients.flatten_many(arrays, count, rows)


def _parts(count: int, each: int) -> list[range]:
    """Split `count` runs, each of which takes `each` bytes, into ranges that fit in memory.

    Raises:
        CannotBatchError: The ranges would be too short for a batch to gain anything.
    """
    step = _MAX_BATCH_BYTES // (each + 1)
    if count and step < _MIN_RUNS:
        raise CannotBatchError
    return [range(start, min(start + step, count)) for start in range(0, count, step)]


def largest_difference(one: FloatArray, other: FloatArray) -> float:
    """Return the largest difference between two arrays; NaN equals NaN."""
    if np.array_equal(one, other):
        return 0.0
    return float(np.nan_to_num(np.abs(one - other), nan=0.0).max(initial=0.0))
