"""A batch of examples by a Function's own batching: its vmap, or the one generated for it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

from gradtool.adapters.common.bound import BoundFunction
from gradtool.adapters.common.vjp import copied, cotangent_tensors, vjp
from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import Array, Cotangents, Primals

Dims = Sequence[int | None]


class VmapInfo(NamedTuple):
    """The first argument of a Function's ``vmap``."""

    batch_size: int
    randomness: str


def is_declared(function: type[Any]) -> bool:
    """Whether a Function says how it is batched."""
    return function.vmap is not library().Function.vmap or function.generate_vmap_rule


def vmapped(bound: BoundFunction, primals: Primals, in_dims: Dims) -> tuple[Array | None, ...]:
    """The outputs for a batch, examples first in each.

    A ``vmap`` of the Function's own gets the dimensions as they are: one that takes the
    examples to come first is seen.
    """
    with library().torch.no_grad():
        outputs = _outputs(bound, bound.arguments.fresh(primals), in_dims)
        return tuple([copied(output) for output in outputs])


def vmapped_vjp(
    bound: BoundFunction, primals: Primals, in_dims: Dims, cotangents: Cotangents
) -> tuple[Array | None, ...]:
    """The gradients of the batched `primals`; None where none arrives."""
    with library().torch.enable_grad():
        leaves, tensors = bound.arguments.tracked(primals)
        outputs = tuple(_outputs(bound, tensors, in_dims))
        gradients = vjp(outputs, cotangent_tensors(outputs, cotangents), leaves)
        return tuple([copied(gradient) for gradient in gradients])


def _outputs(bound: BoundFunction, tensors: Sequence[Any], in_dims: Dims) -> Sequence[Any]:
    if bound.cls is not None and _has_own_rule(bound.cls):
        return _by_own_rule(bound.cls, bound, tensors, in_dims)
    places: list[bool] = []

    def found(*each: Any) -> tuple[Any, ...]:
        outputs = bound(each)
        places[:] = [output is not None for output in outputs]
        return tuple([output for output in outputs if output is not None])

    stacks = iter(library().torch.func.vmap(found, in_dims=tuple(in_dims))(*tensors))
    return [next(stacks) if there else None for there in places]


def _has_own_rule(cls: type[Any]) -> bool:
    """Whether its ``vmap`` would be called; what is refused, the library refuses better."""
    root = library().Function
    separate = cls.setup_context is not root.setup_context
    return cls.vmap is not root.vmap and not cls.generate_vmap_rule and separate


def _by_own_rule(
    cls: type[Any], bound: BoundFunction, tensors: Sequence[Any], in_dims: Dims
) -> list[Any]:
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
