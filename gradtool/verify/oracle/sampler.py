"""The only place in the checker that evaluates a function for numbers.

Many points are evaluated in one batched call, where the function allows that. A batch is compared
with single evaluations: its first example is the base, and one of its other points is evaluated
again alone. Where either differs, the function is no longer batched. Results of a batch are only
ever relied on to let something pass; see `gradtool.verify.comparison.derivatives`.

A function in lower precision is sampled in float64 if it computes the same there: a difference
quotient in float32 has lost half of its few digits. Chainer's gradient check does the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice

import numpy as np

from gradtool.verify.oracle.evaluation_timeout import EvaluationTimeout, EvaluationTimeoutError
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import Coordinates, FloatArray, is_continuous
from gradtool.verify.protocol.observation import Array, Stacked
from gradtool.verify.randomness import Functionals
from gradtool.verify.thresholds.comparison import BATCHED_OUTPUT_ROUNDINGS
from gradtool.verify.thresholds.effort import BATCH_BYTES, BATCH_FEWEST
from gradtool.verify.thresholds.noise import WIDENED_OUTPUT_DIFFERENCE

Evaluate = Callable[[Sequence[Array]], Sequence[Array | None]]
"""Outputs at the given primals. Exceptions of the user's code pass."""

EvaluateMany = Callable[[Sequence[Array], Sequence[bool]], Stacked]
"""Outputs at many points, as `Differentiable.evaluate_many` without a loop."""

Point = Sequence[Array]
"""One array for each primal. Those that are the sampler's own objects have not moved."""

Stacks = tuple[Sequence[Array], Sequence[bool]]
"""Each primal, at the base and then at each of many points if it moves, and whether it does."""


class Sampler:
    """The outputs of a function as a real vector, at any point.

    A point at which the function raises, returns arrays of other shapes or does not end is outside
    its domain: all its outputs are NaN there. With `rows` (functionals of the
    outputs) the sampler returns their values instead of the outputs themselves. `base` has the
    outputs at `primals` and a limit that knows how long they take, where that was seen already.
    """

    def __init__(
        self,
        evaluate: Evaluate,
        primals: Sequence[Array],
        outputs: Coordinates,
        rows: Functionals | None = None,
        evaluate_many: EvaluateMany | None = None,
        base: tuple[Sequence[Array | None], EvaluationTimeout] | None = None,
    ) -> None:
        self._evaluate = evaluate
        self._evaluate_many = evaluate_many
        self._outputs = outputs
        self._rows = rows
        self.primals = [np.asarray(primal, order="C") for primal in primals]
        self.size = outputs.size if rows is None else len(rows)
        self._timeout = EvaluationTimeout()
        if base is not None:
            outputs_there, self._timeout = base
            self.base = self._compared(outputs_there)
        else:
            # Unlimited: the case was already called at this point, so it ends.
            with self._timeout.calibrated():
                self.base = self._at(self.primals)
        self.is_batched = False
        """A batch was used."""

    @cached_property
    def _rng(self) -> np.random.Generator:
        # Fixed, so that each run confirms the same points of a batch.
        return np.random.default_rng(0)

    @property
    def blocks(self) -> list[slice]:
        """The rows that belong to one output each; rows that mix outputs belong together."""
        if self._rows is not None:
            return [slice(0, self.size)]
        return [block.span for block in self._outputs.blocks]

    @property
    def most_at_once(self) -> int:
        """The number of points that are worth evaluating together."""
        each = 8 * self._outputs.size + sum(primal.nbytes for primal in self.primals)
        return max(1, BATCH_BYTES // (each + 1))

    def at(self, primals: Point) -> FloatArray:
        """The outputs at `primals`."""
        try:
            with self._timeout.limited():
                return self._at(primals)
        except EvaluationTimeoutError:
            return np.full(self.size, np.nan)

    def _at(self, primals: Point) -> FloatArray:
        with np.errstate(all="ignore"):
            try:
                return self._compared(self._evaluate(primals))
            except Exception:  # Out of its domain a function may raise anything.
                return np.full(self.size, np.nan)

    def _compared(self, outputs: Sequence[Array | None]) -> FloatArray:
        vector = self._outputs.flatten(outputs)
        return vector if self._rows is None else self._rows.of(vector)

    def at_many(self, points: Iterable[Point], count: int) -> Iterator[FloatArray]:
        """The outputs at each of `count` points."""
        points = iter(points)
        most = self.most_at_once
        while part := list(islice(points, most if min(count, most) >= BATCH_FEWEST else 1)):
            yield from self._at_each(part.__getitem__, len(part), partial(self._stacked, part))

    def at_moved(
        self, directions: Sequence[Array | None], distances: Sequence[float]
    ) -> Iterator[FloatArray]:
        """The outputs at the base moved by each of `distances` along `directions`."""
        step = self.most_at_once
        for start in range(0, len(distances), step):
            part = distances[start : start + step]
            yield from self._at_each(
                partial(_moved_by, self.primals, directions, part),
                len(part),
                partial(_stacks_moved, self.primals, directions, part),
            )

    def _at_each(
        self, point: Callable[[int], Point], count: int, stacks: Callable[[], Stacks]
    ) -> Iterable[FloatArray]:
        """Return the outputs at each `point`, in one call for all of them where possible."""
        found = self._at_once(point, count, stacks) if count >= BATCH_FEWEST else None
        return map(self.at, map(point, range(count))) if found is None else found

    def _at_once(
        self, point: Callable[[int], Point], count: int, stacks: Callable[[], Stacks]
    ) -> FloatArray | None:
        """Return the outputs at all points in one call; None where that is impossible."""
        if self._evaluate_many is None:
            return None
        with np.errstate(all="ignore"):
            try:
                with self._timeout.limited(count):
                    found = self._batch(*stacks(), count)
            # The exception may also be the limit's: points one by one have limits of their own.
            except Exception:  # One of the points may be out of the domain.
                return None
        if found is None or not self._is_confirmed(point, found):
            self._evaluate_many = None
            return None
        self.is_batched = True
        return found[1:]

    def _stacked(self, points: Sequence[Point]) -> Stacks:
        moves = [
            any(point[at] is not primal for point in points)
            for at, primal in enumerate(self.primals)
        ]
        stacks = [
            np.stack([primal, *(point[at] for point in points)]) if move else primal
            for at, (primal, move) in enumerate(zip(self.primals, moves, strict=True))
        ]
        return stacks, moves

    def _batch(
        self, stacks: Sequence[Array], moves: Sequence[bool], count: int
    ) -> FloatArray | None:
        """The outputs at the base, then at each of `count` points."""
        assert self._evaluate_many is not None
        found = self._evaluate_many(stacks, moves)
        if not found.batched:
            return None
        rows = self._outputs.flatten_many(found.arrays, count + 1)
        return rows if self._rows is None else np.array([self._rows.of(row) for row in rows])

    def _is_confirmed(self, point: Callable[[int], Point], found: FloatArray) -> bool:
        """Return True if two examples of a batch are the same alone."""
        chosen = int(self._rng.integers(len(found) - 1))
        return self._is_close(found[0], self.base) and self._is_close(
            found[1 + chosen], self.at(point(chosen))
        )

    def _is_close(self, one: FloatArray, other: FloatArray) -> bool:
        # The common case; and infinities, which a difference cannot compare.
        if np.array_equal(one, other, equal_nan=True):
            return True
        eps = max((block.eps for block in self._outputs.blocks), default=0.0)
        largest = float(np.nan_to_num(np.abs(other), posinf=0.0).max(initial=0.0))
        allowed = BATCHED_OUTPUT_ROUNDINGS * eps * largest
        return np.allclose(one, other, rtol=0.0, atol=allowed, equal_nan=True)


def moved(primals: Sequence[Array], directions: Sequence[Array | None], t: float) -> list[Array]:
    """`primals` moved by `t` along `directions`, each in its own dtype."""
    return [
        primal if direction is None else (primal + t * direction).astype(primal.dtype)
        for primal, direction in zip(primals, directions, strict=True)
    ]


def _moved_by(
    primals: Sequence[Array],
    directions: Sequence[Array | None],
    distances: Sequence[float],
    number: int,
) -> list[Array]:
    return moved(primals, directions, distances[number])


def _stacks_moved(
    primals: Sequence[Array], directions: Sequence[Array | None], distances: Sequence[float]
) -> Stacks:
    """The base and what `moved` returns for each of `distances`."""
    far = np.array([0.0, *distances])
    stacks = [
        primal
        if direction is None
        else (primal + np.multiply.outer(far, direction)).astype(primal.dtype)
        for primal, direction in zip(primals, directions, strict=True)
    ]
    return stacks, [direction is not None for direction in directions]


def widened(
    evaluate: Evaluate, primals: Sequence[Array], outputs: Coordinates
) -> Sequence[Array] | None:
    """`primals` in double precision, if the function is the same there; None otherwise.

    `outputs` is the layout of the outputs in the case's own precision.
    """
    wide = [_wide(primal) for primal in primals]
    if all(new.dtype == old.dtype for new, old in zip(wide, primals, strict=True)):
        return None
    with np.errstate(all="ignore"):
        try:
            own, other = evaluate(primals), evaluate(wide)
            before, after = outputs.flatten(own), outputs.flatten(other)
        except Exception:  # A function may refuse another dtype in any way it likes.
            return None
        largest = np.max(np.abs(before[np.isfinite(before)]), initial=0.0)
        same = np.allclose(
            before, after, rtol=0.0, atol=WIDENED_OUTPUT_DIFFERENCE * largest, equal_nan=True
        )
    return wide if same and _is_double(other, outputs) else None


def _wide(primal: Array) -> Array:
    if not is_continuous(primal.dtype):
        return primal
    return primal.astype(np.result_type(primal.dtype, np.float64))


def _is_double(arrays: Sequence[Array | None], outputs: Coordinates) -> bool:
    """Return True if all outputs that are compared came out in double precision."""
    finest = epsilon(np.dtype(np.float64))
    return all(
        array is not None and epsilon(array.dtype) == finest
        for array, block in zip(arrays, outputs.blocks, strict=True)
        if block.stop > block.start
    )
