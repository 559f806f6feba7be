"""A batch of examples by a Function's own batching: its vmap, or the one generated for it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from gradtool.engine._levels.functions import VmapInfo, check_separate
from gradtool.gate.adapters.bound import BoundFunction
from gradtool.gate.adapters.library import library
from gradtool.gate.adapters.pulling import copied
from gradtool.verify.protocol import Array, Primals

Dims = Sequence[int | None]


def is_declared(function: type[Any]) -> bool:
    """Whether a Function says how it is batched."""
    return function.vmap is not library().Function.vmap or function.generate_vmap_rule


def vmapped(bound: BoundFunction, primals: Primals, in_dims: Dims) -> tuple[Array | None, ...]:
    """The outputs for a batch, examples first in each.

    A ``vmap`` of the Function's own gets the dimensions as they are: one that takes the
    examples to come first is seen.
    """
    cls, torch = bound.cls, library().torch
    with torch.no_grad():
        tensors = bound.arguments.fresh(primals)
        if cls is None or cls.vmap is library().Function.vmap or cls.generate_vmap_rule:
            outputs = torch.func.vmap(lambda *each: bound(each), in_dims=tuple(in_dims))(*tensors)
        else:
            outputs = _by_own_rule(cls, bound, tensors, in_dims)
        return tuple([copied(output) for output in outputs])


def _by_own_rule(
    cls: type[Any], bound: BoundFunction, tensors: Sequence[Any], in_dims: Dims
) -> list[Any]:
    check_separate(cls)
    args, kwargs = bound.arguments.placed(tensors)
    given = inspect.signature(cls.forward).bind(*args, **kwargs)
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
