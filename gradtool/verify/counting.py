"""Counts what a check costs in calls of the user's code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.results import Cost
from gradtool.verify.protocol import (
    Argument,
    Array,
    Cotangents,
    Differentiable,
    Observation,
    Primals,
)


class Counter:
    """Calls of the user's forward and backward so far."""

    def __init__(self) -> None:
        self.forward = 0
        self.backward = 0

    def add(self, forward: int = 0, backward: int = 0) -> None:
        """Count some calls."""
        self.forward += forward
        self.backward += backward

    @property
    def cost(self) -> Cost:
        """The calls so far as part of a report."""
        return Cost(forward=self.forward, backward=self.backward)


class Counted:
    """A Differentiable that counts its calls, and those of what is derived from it.

    `order` says how many backward passes are inside: evaluating a Function's backward map is
    one forward and one backward of the user's code.
    """

    def __init__(self, inner: Differentiable, counter: Counter, order: int = 0) -> None:
        self._inner = inner
        self._counter = counter
        self._order = order

    @property
    def name(self) -> str:
        """As the inner one's."""
        return self._inner.name

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """As the inner one's."""
        return self._inner.arguments

    @property
    def primals(self) -> tuple[Array, ...]:
        """As the inner one's."""
        return self._inner.primals

    @property
    def declares_once_differentiable(self) -> bool:
        """As the inner one's."""
        return self._inner.declares_once_differentiable

    @property
    def defines_both_backward_and_vjp(self) -> bool:
        """As the inner one's."""
        return self._inner.defines_both_backward_and_vjp

    def evaluate(self, primals: Primals) -> tuple[Array | None, ...]:
        """Outputs at `primals`; counted."""
        self._count(backwards=0)
        return self._inner.evaluate(primals)

    def call(
        self, primals: Primals, cotangents: Cotangents | None = None, **options: Any
    ) -> Observation:
        """One observed call; counted."""
        self._count(backwards=int(cotangents is not None))
        return self._inner.call(primals, cotangents, **options)

    def vjps(self, primals: Primals, rows: Sequence[Cotangents]) -> list[tuple[Array | None, ...]]:
        """One forward and a backward for each row; counted."""
        self._count(backwards=len(rows))
        return self._inner.vjps(primals, rows)

    def backward_map(self, cotangents: Cotangents) -> Counted:
        """The map to the gradients, counting on the same counter."""
        return Counted(self._inner.backward_map(cotangents), self._counter, self._order + 1)

    def _count(self, *, backwards: int) -> None:
        self._counter.add(forward=1, backward=self._order + backwards)
