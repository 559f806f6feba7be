"""Many points, or many cotangents, in one batched run of a Function's own code.

The code runs on batched tensors, whatever the Function says of batching. Where it cannot, or
does anything else than compute, nothing of the batched run is kept and each point or
cotangent gets a run of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gradtool.engine import enable_grad, no_grad
from gradtool.engine._tensor import wrap
from gradtool.gate.adapters.bound import BoundFunction
from gradtool.gate.adapters.captured import reachable, roots_of
from gradtool.gate.adapters.graphed_levels import GraphedBatch
from gradtool.gate.adapters.pulling import pulled_back
from gradtool.gate.adapters.side_effects import SideEffectError, without_side_effects
from gradtool.gate.user_errors import summarise
from gradtool.verify.examinable import Stacked
from gradtool.verify.protocol import Array, Cotangents, Primals

Arrays = tuple[Array | None, ...]
Evaluate = Callable[[Primals], Arrays]
Vjps = Callable[[Primals, Sequence[Cotangents]], list[Arrays]]

_BYTES_AT_ONCE = 2**25
"""Of the arrays that a batch is made from: what is computed of them takes a few times that."""


def evaluate_many(
    bound: BoundFunction, evaluate: Evaluate, primals: Primals, stacked: Sequence[bool]
) -> Stacked:
    """The outputs at many points; `evaluate` is asked for one at a time where it must be."""
    varying = [primal for primal, flag in zip(primals, stacked, strict=True) if flag]

    def points(part: slice) -> list[Array]:
        return [p[part] if flag else p for p, flag in zip(primals, stacked, strict=True)]

    def one_by_one() -> Iterator[Arrays]:
        for number in range(len(varying[0])):
            point = [p[number] if flag else p for p, flag in zip(primals, stacked, strict=True)]
            yield evaluate(point)

    return _batched_or(
        bound, varying, lambda part: _evaluated(bound, points(part), stacked), one_by_one
    )


def vjps_many(
    bound: BoundFunction, vjps: Vjps, primals: Primals, cotangents: Cotangents
) -> Stacked:
    """The gradients for many cotangents; `vjps` is asked for them where it must be."""
    given = [array for array in cotangents if array is not None]

    def one_by_one() -> Iterator[Arrays]:
        rows = range(len(given[0]))
        yield from vjps(
            primals, [[None if c is None else c[row] for c in cotangents] for row in rows]
        )

    def at_once(part: slice) -> Arrays:
        rows = [None if array is None else array[part] for array in cotangents]
        return _pulled(bound, primals, rows, _length(given, part))

    return _batched_or(bound, given, at_once, one_by_one)


def _evaluated(bound: BoundFunction, primals: Primals, stacked: Sequence[bool]) -> Arrays:
    size = next(len(primal) for primal, flag in zip(primals, stacked, strict=True) if flag)
    places = zip(bound.arguments.fresh_stacked(primals), stacked, strict=True)
    with no_grad(), GraphedBatch(size) as level:
        tensors = [level.wrap(tensor) if flag else tensor for tensor, flag in places]
        for tensor, needed in zip(tensors, bound.arguments.differentiable, strict=True):
            tensor._requires_grad = needed
        return level.arrays(bound(tensors))


def _pulled(bound: BoundFunction, primals: Primals, rows: Cotangents, size: int) -> Arrays:
    arguments = bound.arguments
    with enable_grad():
        leaves, tensors = arguments.tracked(primals, arguments.differentiable)
        outputs = bound(tensors)
        with GraphedBatch(size) as level:
            sent = [
                None if row is None or out is None else level.wrap(wrap(row).to(out.device))
                for row, out in zip(rows, outputs, strict=True)
            ]
            return level.arrays(pulled_back(outputs, sent, leaves))


def _batched_or(
    bound: BoundFunction,
    stacks: Sequence[Array],
    at_once: Callable[[slice], Arrays],
    one_by_one: Callable[[], Iterator[Arrays]],
) -> Stacked:
    if not stacks or not len(stacks[0]):
        raise ValueError("nothing is stacked: there is no point or cotangent to ask for")
    try:
        with without_side_effects(reachable(roots_of(bound.target))):
            parts = [at_once(part) for part in _parts(stacks)]
        return Stacked(_joined(parts, np.concatenate), batched=True)
    except Exception as error:
        reason = str(error) if isinstance(error, SideEffectError) else summarise(error)
    results = [tuple([_kept(each) for each in result]) for result in one_by_one()]
    return Stacked(_joined(results, np.stack), batched=False, reason=reason)


def _kept(array: Array | None) -> Array | None:
    """A copy: a function may write to the memory of its outputs again."""
    return None if array is None else np.array(array)


def _parts(stacks: Sequence[Array]) -> list[slice]:
    """Slices of the first dimension, each small enough for memory."""
    count = len(stacks[0])
    each = sum(stack.nbytes for stack in stacks) // count + 1
    step = max(1, _BYTES_AT_ONCE // each)
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def _length(stacks: Sequence[Array], part: slice) -> int:
    return len(stacks[0][part])


def _joined(results: Sequence[Arrays], join: Callable[..., Array]) -> Arrays:
    """Column by column; None where any result has none."""
    columns = zip(*results, strict=True)
    return tuple([None if any(e is None for e in c) else join(c) for c in columns])
