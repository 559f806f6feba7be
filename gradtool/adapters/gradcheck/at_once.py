"""Both Jacobians in batched runs of what gradcheck examines: many points, many cotangents at once.

The user's code runs on batched tensors. Where it cannot, or does anything else than compute,
there is no answer, and each point or cotangent gets a run of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.adapters.bundled.graphed_levels import GraphedBatch
from gradtool.adapters.common.side_effects import without_side_effects
from gradtool.adapters.gradcheck.examined import Examined
from gradtool.adapters.gradcheck.probes import Probes
from gradtool.engine import Tensor
from gradtool.engine._tensor import wrap
from gradtool.engine.autograd import grad
from gradtool.verify.oracle.fixed_step import write_columns_at_once
from gradtool.verify.protocol.coordinates import Coordinates, FloatArray
from gradtool.verify.protocol.differentiable import Array

_BYTES_AT_ONCE = 2**21
"""Of the arrays that a batch is made from and that come of it: about what caches hold."""

_FEWEST = 3
"""Runs below which a batch costs more than it saves."""


class CannotBatchError(Exception):
    """There is nothing to gain, or no memory, for a batch."""


class AtOnce:
    """Batched runs of a function at its inputs.

    Args:
        examined: The function.
        outputs: The layout of the outputs that are compared.
        positions: Which of all its outputs those are.
    """

    def __init__(self, examined: Examined, outputs: Coordinates, positions: Sequence[int]) -> None:
        self._examined = examined
        self._outputs = outputs
        self._positions = positions
        self._gradients = Coordinates(examined.primals)

    def jacobians(
        self, probes: Sequence[Probes], eps: float
    ) -> tuple[list[FloatArray], list[tuple[FloatArray, float]]] | None:
        """The numeric Jacobian of each target, and for each output what `rows` returns.

        None where the user's code cannot be batched.
        """
        try:
            with without_side_effects(self._examined.roots()):
                numeric = [self._numeric(at, eps) for at in range(len(self._examined.targets))]
                return numeric, [self._rows(at, each) for at, each in enumerate(probes)]
        except Exception:  # Code that cannot be batched may raise anything.
            return None

    def _numeric(self, target: int, eps: float) -> FloatArray:
        """The numeric Jacobian of all outputs with respect to one target."""
        primal = self._examined.primals[target]
        jacobian = np.empty((self._outputs.size, Coordinates([primal]).size))

        def evaluate_many(points: Array) -> list[Array | None]:
            return self._evaluated(target, points)

        for part in _parts(jacobian.shape[1], 2 * (primal.nbytes + 8 * self._outputs.size)):
            write_columns_at_once(jacobian, evaluate_many, self._outputs, primal, eps, part)
        return jacobian

    def _evaluated(self, target: int, points: Array) -> list[Array | None]:
        targets = self._examined.targets
        with GraphedBatch(len(points)) as level:
            instead = [each.detach().requires_grad_() for each in targets]
            instead[target] = level.wrap(wrap(points).to(targets[target].device)).requires_grad_()
            outputs = self._examined.outputs(instead)
            return level.views([outputs[at] for at in self._positions])

    def _rows(self, output: int, probes: Probes) -> tuple[FloatArray, float]:
        """The gradients of all targets, side by side, for each cotangent of one output.

        Backward runs twice; with them comes the largest difference between the two.
        """
        rows = np.empty((len(probes), self._gradients.size))
        block = self._outputs.blocks[output]
        layout = Coordinates([np.empty(block.shape, block.dtype)])
        jitter = 0.0
        for part in _parts(len(rows), 8 * (block.stop - block.start + self._gradients.size)):
            (cotangents,) = layout.unflatten_many(probes.rows(part))
            here = rows[part.start : part.stop]
            jitter = max(jitter, self._pull(output, np.asarray(cotangents), here))
        return rows, jitter

    def _pull(self, output: int, cotangents: Array, rows: FloatArray) -> float:
        with self._examined.called() as outputs, GraphedBatch(len(cotangents)) as level:
            at = outputs[self._positions[output]]
            self._flatten(level, at, cotangents, rows)
            return furthest(rows, self._flatten(level, at, cotangents))

    def _flatten(
        self, level: GraphedBatch, at: Tensor, cotangents: Array, rows: FloatArray | None = None
    ) -> FloatArray:
        count = level.size
        sent = level.wrap(wrap(cotangents.copy()).to(at.device))
        found = grad(at, self._examined.targets, sent, retain_graph=True, allow_unused=True)
        arrays = [
            np.zeros((count, *primal.shape), primal.dtype) if each is None else each
            for each, primal in zip(level.views(found), self._examined.primals, strict=True)
        ]
        return self._gradients.flatten_many(arrays, count, rows)


def _parts(count: int, each: int) -> list[range]:
    """Ranges that together are `count`, of what takes `each` bytes of memory.

    Raises:
        CannotBatchError: They would be so short that a batch gains nothing.
    """
    step = _BYTES_AT_ONCE // (each + 1)
    if count and step < _FEWEST:
        raise CannotBatchError
    return [range(start, min(start + step, count)) for start in range(0, count, step)]


def furthest(one: FloatArray, other: FloatArray) -> float:
    """The largest difference between two arrays; NaN is no different from NaN."""
    if np.array_equal(one, other):
        return 0.0
    return float(np.nan_to_num(np.abs(one - other), nan=0.0).max(initial=0.0))
