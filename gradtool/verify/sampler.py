"""Where the function is sampled: the only place in the checker that evaluates it for numbers.

Many points are evaluated in one batched call, where the function allows that. A batch is held
against single evaluations: its first example is the base, and one of its other points is
evaluated again alone. Where either differs, batches are given up. What they lead to is only
ever relied on to let something pass; see `gradtool.verify.derivatives`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from gradtool.verify.coordinates import Coordinates, FloatArray
from gradtool.verify.functionals import Functionals
from gradtool.verify.patience import OutOfPatienceError, Patience
from gradtool.verify.protocol import Array, Stacked

Evaluate = Callable[[Sequence[Array]], Sequence[Array | None]]
"""Outputs at the given primals. May raise whatever the user's code raises."""

EvaluateMany = Callable[[Sequence[Array], Sequence[bool]], Stacked]
"""Outputs at many points, as `Differentiable.evaluate_many` without a loop."""

Point = Sequence[Array]
"""One array for each primal. Those that are the sampler's own objects have not moved."""

_BYTES_AT_ONCE = 2**21
"""Of the arrays that a batch is made from and that come of it: about what caches hold."""

_FEWEST = 12
"""Points below which a batch costs more than it saves."""

_ROUNDINGS = 256.0
"""By how many roundings of its largest entry an output of a batch may differ."""


class Sampler:
    """The outputs of a function as a real vector, at any point, whatever happens there.

    A point at which the function raises, returns arrays of other shapes or does not come to an
    end is outside its domain: all its outputs are NaN there. With `rows` (functionals of the
    outputs) the sampler returns their values instead of the outputs themselves.
    """

    def __init__(
        self,
        evaluate: Evaluate,
        primals: Sequence[Array],
        outputs: Coordinates,
        rows: Functionals | None = None,
        evaluate_many: EvaluateMany | None = None,
    ) -> None:
        self._evaluate = evaluate
        self._evaluate_many = evaluate_many
        self._outputs = outputs
        self._rows = rows
        self._redone = np.random.default_rng(0)
        self.primals = [np.asarray(primal, order="C") for primal in primals]
        self.size = outputs.size if rows is None else len(rows)
        self._patience = Patience()
        with self._patience.learning():
            self.base = self._at(self.primals)
        self.is_batched = False
        """Whether anything came of a batch."""

    @property
    def blocks(self) -> list[slice]:
        """The rows that belong to one output each; rows that mix outputs belong together."""
        if self._rows is not None:
            return [slice(0, self.size)]
        return [block.span for block in self._outputs.blocks]

    @property
    def most_at_once(self) -> int:
        """How many points are worth asking for together."""
        each = 8 * self._outputs.size + sum(primal.nbytes for primal in self.primals)
        return max(1, _BYTES_AT_ONCE // (each + 1))

    def at(self, primals: Point) -> FloatArray:
        """The outputs at `primals`."""
        try:
            with self._patience.limited():
                return self._at(primals)
        except OutOfPatienceError:
            return np.full(self.size, np.nan)

    def _at(self, primals: Point) -> FloatArray:
        with np.errstate(all="ignore"):
            try:
                vector = self._outputs.flatten(self._evaluate(primals))
            except Exception:  # Out of its domain a function may raise anything.
                return np.full(self.size, np.nan)
            return vector if self._rows is None else self._rows.of(vector)

    def at_many(self, points: Iterable[Point], count: int) -> Iterator[FloatArray]:
        """The outputs at each of `count` points."""
        points = iter(points)
        most = self.most_at_once
        while part := list(islice(points, most if min(count, most) >= _FEWEST else 1)):
            found = self._at_once(part) if len(part) >= _FEWEST else None
            yield from map(self.at, part) if found is None else found

    def _at_once(self, points: Sequence[Point]) -> FloatArray | None:
        """The outputs at all `points` in one call; None where that cannot be."""
        if self._evaluate_many is None:
            return None
        with np.errstate(all="ignore"):
            try:
                with self._patience.limited(len(points)):
                    found = self._batch(points)
            except Exception:  # One of the points may be out of the domain.
                return None
        if found is None or not self._is_borne_out(points, found):
            self._evaluate_many = None
            return None
        self.is_batched = True
        return found[1:]

    def _batch(self, points: Sequence[Point]) -> FloatArray | None:
        """The outputs at the base, then at each of `points`."""
        assert self._evaluate_many is not None
        moves = [
            any(point[at] is not primal for point in points)
            for at, primal in enumerate(self.primals)
        ]
        stacks = [
            np.stack([primal, *(point[at] for point in points)]) if move else primal
            for at, (primal, move) in enumerate(zip(self.primals, moves, strict=True))
        ]
        found = self._evaluate_many(stacks, moves)
        if not found.batched:
            return None
        rows = self._outputs.flatten_many(found.arrays, len(points) + 1)
        return rows if self._rows is None else np.array([self._rows.of(row) for row in rows])

    def _is_borne_out(self, points: Sequence[Point], found: FloatArray) -> bool:
        """Whether two examples of a batch are what they are alone."""
        chosen = int(self._redone.integers(len(points)))
        return self._is_close(found[0], self.base) and self._is_close(
            found[1 + chosen], self.at(points[chosen])
        )

    def _is_close(self, one: FloatArray, other: FloatArray) -> bool:
        if np.array_equal(one, other, equal_nan=True):
            return True
        eps = max((block.eps for block in self._outputs.blocks), default=0.0)
        largest = float(np.nan_to_num(np.abs(other), posinf=0.0).max(initial=0.0))
        allowed = _ROUNDINGS * eps * largest
        return np.allclose(one, other, rtol=0.0, atol=allowed, equal_nan=True)
