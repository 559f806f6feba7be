"""The derivatives that gradcheck compares: from backward, and from difference quotients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gradtool.adapters.gradcheck.batched_jacobians import BatchedJacobians, largest_difference
from gradtool.adapters.gradcheck.checked_function import CheckedFunction, beside, copied
from gradtool.adapters.gradcheck.comparison import ProbeVectors
from gradtool.engine import Tensor
from gradtool.engine.autograd import grad
from gradtool.engine.autograd._walk import walk
from gradtool.verify.oracle.fixed_step import numeric_columns, projected_derivative
from gradtool.verify.protocol.coordinates import Block, Coordinates, FloatArray, is_continuous
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator

MAX_ENTRIES = 4_000_000
"""Jacobians with more entries are too large to confirm what a projection found."""

_SAME = 1e-9
"""Relative difference allowed to sums that were taken in another order."""

_ROUNDINGS = 64.0
"""Rounding errors allowed in one value of an output, in units of its machine epsilon."""

Gradients = Sequence[Tensor | None]


class Rows(NamedTuple):
    """Gradients from backward for several cotangents of one output."""

    jacobians: list[FloatArray]
    """For each target a matrix with one row for each cotangent."""
    jitter: float
    """The largest difference between two runs."""


class Jacobians(NamedTuple):
    """Numeric and analytic derivatives of all outputs with respect to all targets."""

    numeric: list[FloatArray]
    """For each target, from difference quotients of all outputs."""
    rows: list[Rows]
    """For each output, from backward."""


class Derivatives:
    """Numeric and analytic derivatives of a function at its inputs.

    Outputs and targets (inputs that require a gradient) are numbered among themselves;
    `positions` and `input` give the caller's numbers and names for them.
    """

    def __init__(
        self,
        function: CheckedFunction,
        names: Callable[[], Sequence[str]],
        eps: float,
        seed: int = 0,
    ) -> None:
        self.function = function
        self._names = names
        self._eps = eps
        self._seed = seed
        self._numeric: dict[int, FloatArray] = {}
        with function.graphed() as outputs:
            self._first = [copied(output) for output in outputs]
            self.graphed = tuple(at for at, each in enumerate(outputs) if each.requires_grad)
        continuous = tuple(at for at, o in enumerate(self._first) if is_continuous(o.dtype))
        self.positions = self.graphed or continuous
        """The outputs to compare: those that require a gradient; if none does, all that could."""
        self.outputs = Coordinates([self._first[at] for at in self.positions])
        self.layouts = [Coordinates([primal]) for primal in function.primals]
        self._targets = Coordinates(function.primals)

    @property
    def size(self) -> int:
        """Number of entries of all Jacobians together."""
        return self.outputs.size * sum(layout.size for layout in self.layouts)

    def block(self, target: int) -> Block:
        """The coordinates of a target."""
        return self.layouts[target].blocks[0]

    def input(self, target: int) -> str:
        """Return the caller's number and name for a target."""
        position = self.function.positions[target]
        return f"input {position} ({self._names()[position]})"

    # ---- numeric -----------------------------------------------------------------

    def evaluate(self, primals: Sequence[Array]) -> list[Array]:
        """Return the compared outputs at `primals`.

        Raises:
            AssertionError: An output has another shape or dtype than at the inputs.
        """
        with self.function.called(primals) as outputs:
            arrays = [copied(output) for output in outputs]
        for what in ("shape", "dtype"):
            if [getattr(a, what) for a in arrays] != [getattr(a, what) for a in self._first]:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are "
                    f"perturbed by {self._eps}, but got: {_forms(self._first)} became "
                    f"{_forms(arrays)}"
                )
        return [arrays[at] for at in self.positions]

    def numeric(self, target: int) -> FloatArray:
        """The numeric Jacobian of all compared outputs with respect to one target."""
        if target not in self._numeric:
            self._numeric[target] = self._columns(target, range(self.layouts[target].size))
        return self._numeric[target]

    def _columns(self, target: int, columns: Sequence[int]) -> FloatArray:
        primals = self.function.primals
        return numeric_columns(self.evaluate, self.outputs, primals, target, self._eps, columns)

    def numeric_along(self, directions: Mapping[int, FloatArray]) -> FloatArray:
        """The numeric derivative of all compared outputs along directions of these targets."""
        primals = self.function.primals
        along: list[Array | None] = [None] * len(primals)
        for target, direction in directions.items():
            along[target] = self.layouts[target].unflatten(direction)[0]
        return projected_derivative(self.evaluate, self.outputs, primals, along, self._eps)

    # ---- analytic ----------------------------------------------------------------

    def rows(self, output: int, cotangents: Iterable[FloatArray], runs: int = 2) -> Rows:
        """Run backward for each cotangent of one output, given in coordinates."""
        at = self.positions[output]
        found: list[list[FloatArray]] = [[] for _ in range(runs)]
        with self.function.graphed() as outputs:
            for vector in cotangents:
                for rows in found:
                    sent: dict[int, Array | None] = {at: self.unflattened(output, vector)}
                    rows.append(np.concatenate(self.flat(self.vjp(outputs, sent))))
        matrices = [np.array(rows).reshape(len(rows), self._targets.size) for rows in found]
        return Rows(self._split(matrices[0]), largest_difference(matrices[0], matrices[-1]))

    def _split(self, rows: FloatArray) -> list[FloatArray]:
        return [rows[:, block.span] for block in self._targets.blocks]

    # ---- both ---------------------------------------------------------------------

    def jacobians(self, probes: Sequence[ProbeVectors]) -> Jacobians:
        """Compute both, column by column and row by row."""
        return Jacobians(
            [self.numeric(target) for target in range(len(self.layouts))],
            [self.rows(output, each) for output, each in enumerate(probes)],
        )

    def batched_jacobians(self, probes: Sequence[ProbeVectors]) -> Jacobians | None:
        """Compute both in batched runs of the user's code.

        None if the code cannot be batched, or a sample that is recomputed one by one differs.
        """
        batch = BatchedJacobians(self.function, self.outputs, self.positions)
        found = batch.jacobians(probes, self._eps)
        if found is None:
            return None
        numeric, rows = found
        both = Jacobians(numeric, [Rows(self._split(each), jitter) for each, jitter in rows])
        return both if self._is_confirmed(both, probes) else None

    def _is_confirmed(self, found: Jacobians, probes: Sequence[ProbeVectors]) -> bool:
        """Recompute a sample of columns and rows one by one; return True if they are the same."""
        rng = generator(self._seed, "redone")
        for target, jacobian in enumerate(found.numeric):
            sample = _sample(rng, jacobian.shape[1])
            recomputed = self._columns(target, sample)
            if not _close(jacobian[:, sample], recomputed, self._rounding):
                return False
        for output, rows in enumerate(found.rows):
            sample = _sample(rng, len(probes[output]))
            again = self.rows(output, probes[output].rows(sample), runs=1).jacobians
            for one, other in zip(rows.jacobians, again, strict=True):
                if not _close(one[sample], other, _SAME * _largest(other)):
                    return False
        return True

    @cached_property
    def _rounding(self) -> float:
        """Rounding error allowed between two difference quotients of the same points."""
        largest = max((_largest(self._first[at]) for at in self.positions), default=0.0)
        eps = max((block.eps for block in self.outputs.blocks), default=0.0)
        return _ROUNDINGS * eps * largest / self._eps

    # ---- runs of backward -----------------------------------------------------------------

    def are_outputs(self, outputs: Sequence[Tensor]) -> bool:
        """Return True for tensors with the values of the outputs at the inputs."""
        arrays = [copied(output) for output in outputs]
        return len(arrays) == len(self._first) and all(
            one.dtype == other.dtype and np.array_equal(one, other)
            for one, other in zip(arrays, self._first, strict=True)
        )

    def unflattened(self, output: int, vector: FloatArray) -> Array:
        """Return the cotangent of an output that has these coordinates."""
        (found,) = self._layouts[output].unflatten(vector)
        assert found is not None
        return found

    @cached_property
    def _layouts(self) -> list[Coordinates]:
        """The coordinates of each compared output by itself."""
        return [Coordinates([self._first[at]]) for at in self.positions]

    def vjp(self, outputs: Sequence[Tensor], cotangents: dict[int, Array | None]) -> Gradients:
        """The gradient of each target, given cotangents for outputs by their positions."""
        sent = [(outputs[at], array) for at, array in cotangents.items() if array is not None]
        return grad(
            [output for output, _ in sent],
            self.function.targets,
            [beside(output, array.copy()) for output, array in sent],
            retain_graph=True,
            allow_unused=True,
        )

    def undefined_vjp(self, outputs: Sequence[Tensor]) -> Gradients:
        """The gradient of each target where the cotangents of these outputs are undefined.

        `grad` cannot be told so: for a cotangent that is left out it takes ones.
        """
        roots = [(output, None) for output in outputs]
        targets = self.function.targets
        return walk(roots, keep_graph=True, create_graph=False, targets=targets, accumulate=False)

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


def _sample(rng: np.random.Generator, count: int) -> list[int]:
    """Choose one of `count`, if there is any."""
    return [int(rng.integers(count))] if count else []


def _largest(array: Array) -> float:
    return float(np.nan_to_num(np.abs(array)).max(initial=0.0))


def _close(one: FloatArray, other: FloatArray, allowed: float) -> bool:
    """Return True if two arrays agree to within `allowed`; NaN equals NaN."""
    if np.array_equal(one, other):
        return True
    return np.allclose(one, other, rtol=_SAME, atol=allowed, equal_nan=True)


def _forms(arrays: Sequence[Array]) -> str:
    return ", ".join(f"{array.dtype}{list(array.shape)}" for array in arrays)
