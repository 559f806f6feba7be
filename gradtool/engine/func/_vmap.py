"""vmap: a function of one example made a function of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from gradtool.engine import _pytree
from gradtool.engine._levels.batch import VmapLevel
from gradtool.engine._tensor import Tensor

Dims = Any
"""An int or None, or a tree of them that is a prefix of the arguments' (or outputs') tree."""


def vmap(
    func: Callable[..., Any],
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """`func` over a new dimension of its tensor arguments, without a loop where possible.

    Args:
        func: takes and returns (trees of) tensors for one example.
        in_dims: for each argument the dimension with the examples; None: it has none.
        out_dims: where the dimension of the examples goes in each output.
        randomness: ``error``, ``different`` or ``same`` random numbers for each example.
        chunk_size: how many examples to handle at once; by default all.

    Raises:
        ValueError: the dimensions do not fit the arguments or outputs, or each other.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. "
            f"Got {randomness}"
        )
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        leaves, dims, rebuild = _examined(func, in_dims, args, kwargs)
        size = _batch_size(func, leaves, dims)
        if chunk_size is None or chunk_size >= size:
            return _run(func, leaves, dims, rebuild, size, out_dims, randomness)
        return _run_in_chunks(func, leaves, dims, rebuild, size, out_dims, randomness, chunk_size)

    return batched


def _examined(
    func: Any, in_dims: Dims, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], list[int | None], Any]:
    """Leaves of (args, kwargs), the batch dimension of each, and how to put them together."""
    name = getattr(func, "__name__", repr(func))
    if not isinstance(in_dims, int | tuple) or isinstance(in_dims, bool):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a "
            f"(potentially nested) tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
            "trying to vmap over a function with no inputs. The latter is unsupported."
        )
    dims = _pytree.broadcast_prefix(
        in_dims, args, lambda each: each is None or isinstance(each, int)
    )
    if dims is None:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the "
            "structure of `inputs`."
        )
    leaves, rebuild = _pytree.flatten((args, kwargs))
    # As in torch, `in_dims` is for positional arguments; tensors by keyword are batched along 0.
    dims += [0 if isinstance(each, Tensor) else None for each in _pytree.tree_leaves(kwargs)]
    return leaves, [_checked_dim(name, leaf, dim) for leaf, dim in zip(leaves, dims)], rebuild


def _checked_dim(name: str, leaf: Any, dim: int | None) -> int | None:
    if dim is None:
        return None
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"vmap({name}, in_dims=..., ...)(<inputs>): Got in_dim={dim} for an input but the "
            f"input is of type {type(leaf)}. We cannot vmap over non-Tensor arguments, please use "
            "None as the respective in_dim"
        )
    rank = leaf.dim()
    if not -rank <= dim < rank:
        raise ValueError(
            f"vmap({name}, in_dims=..., ...)(<inputs>): Got in_dim={dim} for some input, but that "
            f"input is a Tensor of dimensionality {rank} so expected in_dim to satisfy "
            f"-{rank} <= in_dim < {rank}."
        )
    return dim % rank


def _batch_size(func: Any, leaves: Sequence[Any], dims: Sequence[int | None]) -> int:
    sizes = {leaf._array.shape[dim] for leaf, dim in zip(leaves, dims) if dim is not None}
    name = getattr(func, "__name__", repr(func))
    if not sizes:
        raise ValueError(
            f"vmap({name}): at least one of the inputs must be a Tensor with a batch dimension"
        )
    if len(sizes) > 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sorted(sizes)} for the mapped dimension"
        )
    return int(sizes.pop())


def _run(
    func: Any, leaves: Any, dims: Any, rebuild: Any, size: int, out_dims: Dims, randomness: str
) -> Any:
    with VmapLevel(size, randomness) as level:
        wrapped = [
            leaf if dim is None else level.wrap(leaf.movedim(dim, 0) if dim else leaf)
            for leaf, dim in zip(leaves, dims)
        ]
        args, kwargs = _pytree.unflatten(rebuild, wrapped)
        output = func(*args, **kwargs)
        return _unwrapped(func, level, output, out_dims)


def _unwrapped(func: Any, level: VmapLevel, output: Any, out_dims: Dims) -> Any:
    name = getattr(func, "__name__", repr(func))
    leaves, rebuild = _pytree.flatten(output)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)}. "
                "Did you mean to set out_dims= to None for output?"
            )
    dims = _pytree.broadcast_prefix(
        out_dims, output, lambda each: each is None or isinstance(each, int)
    )
    if dims is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with "
            "the structure of `outputs`."
        )
    return _pytree.unflatten(
        rebuild, [_placed(level, leaf, dim) for leaf, dim in zip(leaves, dims)]
    )


def _placed(level: VmapLevel, leaf: Tensor, dim: int | None) -> Tensor:
    """An output one level below, with the examples along `dim`."""
    if dim is None:
        if level.owns(leaf):
            raise ValueError(
                "vmap: `None` in out_dims stands for an output without a batch dimension, but "
                "this output depends on a batched input"
            )
        return leaf
    value: Tensor = (
        # An output that no example reaches is the same for each; the caller still gets a batch.
        level.below(leaf) if level.owns(leaf) else leaf.unsqueeze(0).expand(level.size, *leaf.shape)
    )
    return value.movedim(0, dim) if dim else value


def _run_in_chunks(
    func: Any, leaves: Any, dims: Any, rebuild: Any, size: int, out_dims: Dims, randomness: str,
    chunk_size: int,
) -> Any:  # fmt: skip
    from gradtool.engine._ops.shape.joining import cat

    parts = []
    for start in range(0, size, chunk_size):
        length = min(chunk_size, size - start)
        chunk = [
            leaf if dim is None else leaf.narrow(dim, start, length)
            for leaf, dim in zip(leaves, dims)
        ]
        parts.append(_run(func, chunk, dims, rebuild, length, out_dims, randomness))
    flat = [_pytree.flatten(part) for part in parts]
    placed = _pytree.broadcast_prefix(
        out_dims, parts[0], lambda each: each is None or isinstance(each, int)
    )
    assert placed is not None
    joined = [
        # Without a batch dimension an output is the same for every chunk.
        column[0] if dim is None else cat(list(column), dim)
        for dim, column in zip(placed, zip(*[leaves for leaves, _ in flat]))
    ]
    return _pytree.unflatten(flat[0][1], joined)
