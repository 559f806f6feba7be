"""Counts the evaluations of the user's code that a check makes.

An evaluation is one point for forward, or one cotangent for backward. A batched call of many of
them counts as that many.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from gradtool.results.report import Cost
from gradtool.verify.protocol.differentiable import Examinable
from gradtool.verify.protocol.observation import (
    Argument,
    Array,
    ChangedByJvp,
    Cotangents,
    Leak,
    Observation,
    Primals,
    SourceLine,
    Stacked,
    Tangents,
)


class Counter:
    """Evaluations of the user's forward and backward so far."""

    def __init__(self) -> None:
        self.forward = 0
        self.backward = 0

    def add(self, forward: int = 0, backward: int = 0) -> None:
        """Count some evaluations."""
        self.forward += forward
        self.backward += backward

    @property
    def cost(self) -> Cost:
        """The evaluations so far as part of a report."""
        return Cost(forward=self.forward, backward=self.backward)


class Counted:
    """An Examinable that counts its calls, and those of what is derived from it.

    `order` says how many backward passes are inside: evaluating a Function's backward map is
    one forward and one backward of the user's code.
    """

    def __init__(self, inner: Examinable, counter: Counter, order: int = 0) -> None:
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

    @property
    def defines_jvp(self) -> bool:
        """As the inner one's."""
        return self._inner.defines_jvp

    @property
    def defines_vmap(self) -> bool:
        """As the inner one's."""
        return self._inner.defines_vmap

    @property
    def generates_vmap(self) -> bool:
        """As the inner one's."""
        return self._inner.generates_vmap

    @property
    def draws_random_numbers(self) -> bool:
        """As the inner one's."""
        return self._inner.draws_random_numbers

    @property
    def lines(self) -> frozenset[SourceLine]:
        """As the inner one's."""
        return self._inner.lines

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

    def jvps(self, primals: Primals, rows: Sequence[Tangents]) -> list[tuple[Array | None, ...]]:
        """A forward for each row; counted."""
        self._count(backwards=0, times=len(rows))
        return self._inner.jvps(primals, rows)

    def changed_by_jvp(self, primals: Primals, row: Tangents) -> ChangedByJvp:
        """Two forwards, one of them in forward mode; counted."""
        self._count(backwards=0, times=2)
        return self._inner.changed_by_jvp(primals, row)

    def tangent_map(self, tangents: Tangents) -> Counted:
        """The map to the tangents, counting on the same counter."""
        return Counted(self._inner.tangent_map(tangents), self._counter, self._order)

    def vmapped(self, primals: Primals, in_dims: Sequence[int | None]) -> tuple[Array | None, ...]:
        """A batched forward; counted as one."""
        self._count(backwards=0)
        return self._inner.vmapped(primals, in_dims)

    def vmapped_vjp(
        self, primals: Primals, in_dims: Sequence[int | None], cotangents: Cotangents
    ) -> tuple[Array | None, ...]:
        """A batched forward and backward; counted as one."""
        self._count(backwards=1)
        return self._inner.vmapped_vjp(primals, in_dims, cotangents)

    def evaluate_many(
        self, primals: Primals, stacked: Sequence[bool], *, or_loop: bool = True
    ) -> Stacked:
        """Outputs at many points; each point counts."""
        found = self._inner.evaluate_many(primals, stacked, or_loop=or_loop)
        self._count(backwards=0, times=_examples(found))
        return found

    def vjps_many(
        self, primals: Primals, cotangents: Cotangents, *, or_loop: bool = True
    ) -> Stacked:
        """Gradients for many cotangents; each cotangent counts."""
        found = self._inner.vjps_many(primals, cotangents, or_loop=or_loop)
        self._count(backwards=_examples(found))
        return found

    def with_defaults(self) -> Counted | None:
        """As the inner one's, counting on the same counter."""
        other = self._inner.with_defaults()
        return None if other is None else Counted(other, self._counter, self._order)

    def siblings(self) -> list[Counted]:
        """As the inner one's, counting on the same counter."""
        return [Counted(each, self._counter, self._order) for each in self._inner.siblings()]

    def interleaved(
        self,
        primals: tuple[Primals, Primals],
        cotangents: tuple[Cotangents, Cotangents],
        second: Examinable | None = None,
    ) -> tuple[Observation, Observation]:
        """Two calls; counted."""
        self._count(backwards=1, times=2)
        other = second._inner if isinstance(second, Counted) else second
        return self._inner.interleaved(primals, cotangents, other)

    def call_with_input_changed_between(
        self, primals: Primals, cotangents: Cotangents, argument: int
    ) -> Observation:
        """One call; counted."""
        self._count(backwards=1)
        return self._inner.call_with_input_changed_between(primals, cotangents, argument)

    def call_with_output_changed_between(
        self, primals: Primals, cotangents: Cotangents, output: int
    ) -> Observation:
        """One call; counted."""
        self._count(backwards=1)
        return self._inner.call_with_output_changed_between(primals, cotangents, output)

    def leaks(self, primals: Primals) -> Leak | None:
        """One forward; counted."""
        self._count(backwards=0)
        return self._inner.leaks(primals)

    def seeded(self, seed: int) -> AbstractContextManager[None]:
        """As the inner one's."""
        return self._inner.seeded(seed)

    def traced(self) -> AbstractContextManager[set[SourceLine]]:
        """As the inner one's."""
        return self._inner.traced()

    def _count(self, *, backwards: int, times: int = 1) -> None:
        self._counter.add(forward=times, backward=times * (self._order + backwards))


def _examples(found: Stacked) -> int:
    """How many points or cotangents these are the results for."""
    return max((len(array) for array in found.arrays if array is not None), default=1)
