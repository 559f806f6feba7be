"""Counts the evaluations of the user's code that a check makes.

An evaluation is one point for forward, or one cotangent for backward. A batched call of many of
them counts as that many.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from gradtool.results.report import Cost
from gradtool.verify.protocol.differentiable import Examinable
from gradtool.verify.protocol.observation import (
    Array,
    ChooseCotangents,
    Cotangents,
    Observation,
    Primals,
    Stacked,
    Tangents,
)

_CALLS = {
    "evaluate": (1, 0),
    "changed_by_jvp": (2, 0),
    "vmapped": (1, 0),
    "vmapped_vjp": (1, 1),
    "call_with_input_changed_between": (1, 1),
    "call_with_output_changed_between": (1, 1),
    "call_again_after_change": (2, 1),
    "leaks": (1, 0),
}
"""The forwards in a call to each method, and the backwards for each of these."""


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


def counted(inner: Examinable, counter: Counter) -> Examinable:
    """Return `inner` with its evaluations, and those of all that is derived from it, counted."""
    return _counted(inner, counter, 0)


def _counted(inner: Examinable, counter: Counter, order: int) -> Examinable:
    return cast("Examinable", _Counted(inner, counter, order))


class _Counted:
    """An Examinable that counts calls and passes everything else on.

    `order` is the number of backward passes inside: evaluating a Function's backward map is one
    forward and one backward of the user's code.
    """

    def __init__(self, inner: Examinable, counter: Counter, order: int) -> None:
        self._inner = inner
        self._counter = counter
        self._order = order

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in _CALLS:
            return found
        forwards, backwards = _CALLS[name]

        def call(*args: Any, **options: Any) -> Any:
            self._count(backwards=backwards, times=forwards)
            return found(*args, **options)

        self.__dict__[name] = call  # The next look-up finds it, at no cost.
        return call

    def call(
        self,
        primals: Primals,
        cotangents: Cotangents | ChooseCotangents | None = None,
        **options: Any,
    ) -> Observation:
        if callable(cotangents):
            return self._inner.call(primals, partial(self._chosen, cotangents), **options)
        self._count(backwards=int(cotangents is not None))
        return self._inner.call(primals, cotangents, **options)

    def _chosen(self, choose: ChooseCotangents, forward: Observation) -> Cotangents | None:
        cotangents = choose(forward)
        self._count(backwards=int(cotangents is not None))
        return cotangents

    def valued_vjps(
        self, primals: Primals, rows: Sequence[Cotangents]
    ) -> tuple[tuple[Array | None, ...], list[tuple[Array | None, ...]]]:
        self._count(backwards=len(rows))
        return self._inner.valued_vjps(primals, rows)

    def vjps(self, primals: Primals, rows: Sequence[Cotangents]) -> list[tuple[Array | None, ...]]:
        self._count(backwards=len(rows))
        return self._inner.vjps(primals, rows)

    def jvps(self, primals: Primals, rows: Sequence[Tangents]) -> list[tuple[Array | None, ...]]:
        self._count(times=len(rows))
        return self._inner.jvps(primals, rows)

    def evaluate_many(self, *args: Any, **options: Any) -> Stacked:
        found = self._inner.evaluate_many(*args, **options)
        # Counted afterwards: how many examples there were shows in the results.
        self._count(times=_examples(found))
        return found

    def vjps_many(self, *args: Any, **options: Any) -> Stacked:
        found = self._inner.vjps_many(*args, **options)
        self._count(backwards=_examples(found))
        return found

    def interleaved(
        self,
        primals: Sequence[Primals],
        cotangents: Sequence[Cotangents],
        others: Sequence[Examinable] = (),
    ) -> Sequence[Observation]:
        self._count(backwards=1, times=len(primals))
        # Unwrapped, or the other calls would be counted twice.
        inner = [each._inner if isinstance(each, _Counted) else each for each in others]
        return self._inner.interleaved(primals, cotangents, inner)

    def backward_map(self, cotangents: Cotangents) -> Examinable:
        return _counted(self._inner.backward_map(cotangents), self._counter, self._order + 1)

    def recorded_backward(self, cotangents: Cotangents) -> Examinable:
        inner = self._inner.recorded_backward(cotangents)
        return _counted(inner, self._counter, self._order + 1)

    def recorded(self) -> Examinable | None:
        other = self._inner.recorded()
        return None if other is None else self._derived(other)

    def tangent_map(self, tangents: Tangents) -> Examinable:
        return self._derived(self._inner.tangent_map(tangents))

    def with_defaults(self) -> Examinable | None:
        other = self._inner.with_defaults()
        return None if other is None else self._derived(other)

    def siblings(self) -> list[Examinable]:
        return [self._derived(each) for each in self._inner.siblings()]

    def _derived(self, other: Examinable) -> Examinable:
        return _counted(other, self._counter, self._order)

    def _count(self, *, backwards: int = 0, times: int = 1) -> None:
        self._counter.add(forward=times, backward=times * (self._order + backwards))


def _examples(found: Stacked) -> int:
    """The number of points or cotangents that these are the results for."""
    return max((len(array) for array in found.arrays if array is not None), default=1)
