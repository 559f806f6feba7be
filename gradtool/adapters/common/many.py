"""Many points, or many cotangents, in one batched run of a Function's own code.

The code runs on batched tensors, whatever the Function says of batching. Where it cannot, or
does anything else than compute, nothing of the batched run is kept and each point or
cotangent gets a run of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradtool.adapters.common.backward_map import BackwardMap
from gradtool.adapters.common.bound import BoundFunction
from gradtool.adapters.common.captured import roots_of
from gradtool.adapters.common.side_effects import SideEffectError, without_side_effects
from gradtool.adapters.library import Arrays, library
from gradtool.sandbox.user_errors import summarise
from gradtool.verify.protocol.observation import Array, Cotangents, Primals, Stacked

Evaluate = Callable[[Primals], Arrays]
Vjps = Callable[[Primals, Sequence[Cotangents]], list[Arrays]]

_BYTES_AT_ONCE = 2**25
"""Of the arrays that a batch is made from: what is computed of them takes a few times that."""


def evaluate_many(
    bound: BoundFunction, evaluate: Evaluate | None, primals: Primals, stacked: Sequence[bool]
) -> Stacked:
    """The outputs at many points; `evaluate` is asked for one at a time where it must be.

    Without it there are none then.
    """
    varying = [primal for primal, flag in zip(primals, stacked, strict=True) if flag]

    def points(part: slice) -> list[Array]:
        return [p[part] if flag else p for p, flag in zip(primals, stacked, strict=True)]

    def one_by_one(evaluate: Evaluate) -> Iterator[Arrays]:
        for number in range(len(varying[0])):
            point = [p[number] if flag else p for p, flag in zip(primals, stacked, strict=True)]
            yield evaluate(point)

    return _batched_or(
        bound,
        varying,
        lambda part: library().evaluate_batch(bound, points(part), stacked),
        evaluate and (lambda: one_by_one(evaluate)),
    )


def vjps_many(
    bound: BoundFunction, vjps: Vjps | None, primals: Primals, cotangents: Cotangents
) -> Stacked:
    """The gradients for many cotangents; `vjps` is asked for them where it must be.

    Without it there are none then.
    """
    given = [array for array in cotangents if array is not None]

    def one_by_one(vjps: Vjps) -> Iterator[Arrays]:
        rows = range(len(given[0]))
        yield from vjps(
            primals, [[None if c is None else c[row] for c in cotangents] for row in rows]
        )

    def at_once(part: slice) -> Arrays:
        rows = [None if array is None else array[part] for array in cotangents]
        return library().vjp_batch(bound, primals, rows)

    return _batched_or(bound, given, at_once, vjps and (lambda: one_by_one(vjps)))


def _batched_or(
    bound: BoundFunction,
    stacks: Sequence[Array],
    at_once: Callable[[slice], Arrays],
    one_by_one: Callable[[], Iterator[Arrays]] | None,
) -> Stacked:
    if not stacks or not len(stacks[0]):
        raise ValueError("nothing is stacked: there is no point or cotangent to ask for")
    try:
        with without_side_effects(roots_of(_written(bound))):
            parts = [at_once(part) for part in _parts(stacks)]
        return Stacked(_joined(parts, np.concatenate), batched=True)
    except Exception as error:
        reason = str(error) if isinstance(error, SideEffectError) else summarise(error)
    if one_by_one is None:
        return Stacked((), batched=False, reason=reason)
    results = [tuple([_kept(each) for each in result]) for result in one_by_one()]
    return Stacked(_joined(results, np.stack), batched=False, reason=reason)


def _written(bound: BoundFunction) -> Any:
    """What the user wrote, of which `bound` may be the backward map."""
    target = bound.target
    while isinstance(target, BackwardMap) and isinstance(target.apply, BoundFunction):
        target = target.apply.target
    return target


def _kept(array: Array | None) -> Array | None:
    """A copy: a function may write to the memory of its outputs again."""
    return None if array is None else np.array(array)


def _parts(stacks: Sequence[Array]) -> list[slice]:
    """Slices of the first dimension, each small enough for memory."""
    count = len(stacks[0])
    each = sum(stack.nbytes for stack in stacks) // count + 1
    step = max(1, _BYTES_AT_ONCE // each)
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def _joined(results: Sequence[Arrays], join: Callable[..., Array]) -> Arrays:
    """Column by column; None where any result has none."""
    columns = zip(*results, strict=True)
    return tuple([None if any(e is None for e in c) else join(c) for c in columns])
