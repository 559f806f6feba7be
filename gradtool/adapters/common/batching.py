"""Many examples in one run: by a Function's own batching, or by running its code on a batch.

A Function's own batching is its ``vmap``, or the one generated for it. Its code can run on a batch
whatever the Function declares. If it cannot, or has side effects, nothing of the batched run is
kept, and each point or cotangent gets a run of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtool.adapters.common.bound_function import BoundFunction
from gradtool.adapters.common.buffers import roots_of
from gradtool.adapters.common.side_effects import SideEffectError, without_side_effects
from gradtool.adapters.common.vjp import BackwardMap, copied, cotangent_tensors, vjp
from gradtool.adapters.library import Arrays, library
from gradtool.sandbox.user_errors import summarize
from gradtool.verify.protocol.observation import Array, Cotangents, Primals, Stacked

Dims = Sequence[int | None]


class VmapInfo(NamedTuple):
    """The first argument of a Function's ``vmap``."""

    batch_size: int
    randomness: str


def declares_batching(function: type[Any]) -> bool:
    """Return True if a Function declares its batching."""
    return has_own_vmap(function) or function.generate_vmap_rule


def has_own_vmap(function: Any) -> bool:
    """Return True if a Function defines ``vmap``; False for a plain function."""
    base = library().Function.vmap
    return getattr(function, "vmap", base) is not base


def vmapped(bound: BoundFunction, primals: Primals, in_dims: Dims) -> tuple[Array | None, ...]:
    """Return the outputs for a batch, examples first in each.

    The Function's own ``vmap`` gets the dimensions unchanged, which exposes one that assumes that
    examples come first.
    """
    with library().torch.no_grad():
        outputs = _outputs(bound, bound.arguments.fresh(primals), in_dims)
        return tuple([copied(output) for output in outputs])


def vmapped_vjp(
    bound: BoundFunction, primals: Primals, in_dims: Dims, cotangents: Cotangents
) -> tuple[Array | None, ...]:
    """Return the gradients of the batched `primals`; None if none arrives."""
    with library().torch.enable_grad():
        leaves, tensors = bound.arguments.tracked(primals)
        outputs = tuple(_outputs(bound, tensors, in_dims))
        gradients = vjp(outputs, cotangent_tensors(outputs, cotangents), leaves)
        return tuple([copied(gradient) for gradient in gradients])


def _outputs(bound: BoundFunction, tensors: Sequence[Any], in_dims: Dims) -> Sequence[Any]:
    if bound.cls is not None and _has_own_vmap(bound.cls):
        return _by_own_vmap(bound.cls, bound, tensors, in_dims)
    places: list[bool] = []

    def found(*each: Any) -> tuple[Any, ...]:
        outputs = bound(each)
        # vmap accepts tensors only, so the places of the others are noted and filled in again
        # below.
        places[:] = [output is not None for output in outputs]
        return tuple([output for output in outputs if output is not None])

    stacks = iter(library().torch.func.vmap(found, in_dims=tuple(in_dims))(*tensors))
    return [next(stacks) if there else None for there in places]


def _has_own_vmap(cls: type[Any]) -> bool:
    """Return True if the library would call its ``vmap``; if not, the library raises the error."""
    root = library().Function
    separate = cls.setup_context is not root.setup_context
    return cls.vmap is not root.vmap and not cls.generate_vmap_rule and separate


def _by_own_vmap(
    cls: type[Any], bound: BoundFunction, tensors: Sequence[Any], in_dims: Dims
) -> list[Any]:
    args, kwargs = bound.arguments.placed(tensors)
    given = inspect.signature(cls.forward).bind(*args, **kwargs)
    # vmap gets every argument of forward, defaults included, as the engine passes them.
    given.apply_defaults()
    dims: list[int | None] = [None] * len(given.args)
    for position, dim in zip(bound.arguments.positions, in_dims, strict=True):
        dims[position] = dim
    (size,) = {
        tensor.shape[dim] for tensor, dim in zip(tensors, in_dims, strict=True) if dim is not None
    }
    output, out_dims = cls.vmap(VmapInfo(size, "error"), tuple(dims), *given.args)
    if not isinstance(output, tuple):
        return [_examples_first(output, out_dims, size)]
    if not isinstance(out_dims, tuple | list):
        out_dims = (out_dims,) * len(output)
    return [_examples_first(each, dim, size) for each, dim in zip(output, out_dims, strict=True)]


def _examples_first(output: Any, dim: int | None, size: int) -> Any:
    if not isinstance(output, library().Tensor):
        return None
    return output.expand(size, *output.shape) if dim is None else output.movedim(dim, 0)


Evaluate = Callable[[Primals], Arrays]
Vjps = Callable[[Primals, Sequence[Cotangents]], list[Arrays]]

_MAX_BATCH_BYTES = 2**25
"""Bytes of the arrays that go into a batch; computing with them takes a few times that."""


def evaluate_many(
    bound: BoundFunction, evaluate: Evaluate | None, primals: Primals, stacked: Sequence[bool]
) -> Stacked:
    """Return the outputs at many points, by `evaluate` one at a time if batching fails.

    Without `evaluate` there are no outputs then.
    """
    varying = [primal for primal, flag in zip(primals, stacked, strict=True) if flag]

    def points(part: slice) -> list[Array]:
        return [p[part] if flag else p for p, flag in zip(primals, stacked, strict=True)]

    def loop(evaluate: Evaluate) -> Iterator[Arrays]:
        for number in range(len(varying[0])):
            point = [p[number] if flag else p for p, flag in zip(primals, stacked, strict=True)]
            yield evaluate(point)

    return _batched_or_looped(
        bound,
        varying,
        lambda part: library().evaluate_batch(bound, points(part), stacked),
        evaluate and (lambda: loop(evaluate)),
    )


def vjps_many(
    bound: BoundFunction, vjps: Vjps | None, primals: Primals, cotangents: Cotangents
) -> Stacked:
    """Return the gradients for many cotangents, by `vjps` if batching fails.

    Without `vjps` there are no gradients then.
    """
    given = [array for array in cotangents if array is not None]

    def loop(vjps: Vjps) -> Iterator[Arrays]:
        rows = range(len(given[0]))
        yield from vjps(
            primals, [[None if c is None else c[row] for c in cotangents] for row in rows]
        )

    def batched(part: slice) -> Arrays:
        rows = [None if array is None else array[part] for array in cotangents]
        return library().vjp_batch(bound, primals, rows)

    return _batched_or_looped(bound, given, batched, vjps and (lambda: loop(vjps)))


def _batched_or_looped(
    bound: BoundFunction,
    stacks: Sequence[Array],
    batched: Callable[[slice], Arrays],
    loop: Callable[[], Iterator[Arrays]] | None,
) -> Stacked:
    if not stacks or not len(stacks[0]):
        raise ValueError("nothing is stacked: there is no point and no cotangent")
    try:
        # forward runs once for the whole batch: what it changes elsewhere would change once, not
        # once a point.
        with without_side_effects(roots_of(_user_function(bound))):
            parts = [batched(part) for part in _parts(stacks)]
        return Stacked(_joined(parts, np.concatenate), batched=True)
    except Exception as error:
        reason = str(error) if isinstance(error, SideEffectError) else summarize(error)
    if loop is None:
        return Stacked((), batched=False, reason=reason)
    results = [tuple([_copied(each) for each in result]) for result in loop()]
    return Stacked(_joined(results, np.stack), batched=False, reason=reason)


def _user_function(bound: BoundFunction) -> Any:
    """Return the user's own function, of which `bound` may be the backward map."""
    target = bound.target
    while isinstance(target, BackwardMap) and isinstance(target.apply, BoundFunction):
        target = target.apply.target
    return target


def _copied(array: Array | None) -> Array | None:
    """Copy an array: a function may write to the memory of its outputs again."""
    return None if array is None else np.array(array)


def _parts(stacks: Sequence[Array]) -> list[slice]:
    """Split the first dimension into slices that fit in memory."""
    count = len(stacks[0])
    each = sum(stack.nbytes for stack in stacks) // count + 1
    step = max(1, _MAX_BATCH_BYTES // each)
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def _joined(results: Sequence[Arrays], join: Callable[..., Array]) -> Arrays:
    """Join the results column by column; None if any result has none."""
    columns = zip(*results, strict=True)
    return tuple([None if any(e is None for e in c) else join(c) for c in columns])
