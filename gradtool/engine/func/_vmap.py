"""vmap: a function of one example made a function of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from gradtool.engine import _pytree, random
from gradtool.engine._levels.batch import BatchedTensor, VmapLevel
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
        out_dims: where the dimension of the examples goes in each output; None: it has none.
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
        _check_out_dims(func, out_dims)
        batch = examined(func, in_dims, args)
        call = functools.partial(_run, func, kwargs=kwargs, randomness=randomness)
        if chunk_size is None:
            return call(batch, out_dims)
        return _run_in_chunks(call, batch, out_dims, randomness, chunk_size)

    return batched


class Batch(NamedTuple):
    """Arguments that hold examples."""

    leaves: list[Any]
    dims: list[int | None]
    """For each leaf the dimension of its examples."""
    spec: _pytree.TreeSpec
    size: int
    """Number of examples."""


def named(func: Any) -> str:
    """The name of a function, as messages have it."""
    if isinstance(func, functools.partial):
        return f"functools.partial({named(func.func)}, ...)"
    return getattr(func, "__name__", None) or repr(func)


def _check_out_dims(func: Any, out_dims: Dims) -> None:
    for each in _pytree.tree_leaves(out_dims):
        if each is not None and not isinstance(each, int):
            raise ValueError(
                f"vmap({named(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None "
                "or a python collection of ints representing where in the outputs the vmapped "
                "dimension should appear."
            )


def examined(func: Any, in_dims: Dims, args: tuple[Any, ...]) -> Batch:
    """The arguments, once it is sure that they hold examples where they should."""
    if not isinstance(in_dims, int | tuple):
        raise ValueError(
            f"vmap({named(func)}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int "
            "or a (potentially nested) tuple matching the structure of inputs, got: "
            f"{type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({named(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you "
            "are trying to vmap over a function with no inputs. The latter is unsupported."
        )
    call = f"vmap({named(func)}, in_dims={in_dims}, ...)(<inputs>)"
    leaves, spec = _pytree.tree_flatten(args)
    dims = _pytree.broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{call}: in_dims is not compatible with the structure of `inputs`. in_dims has "
            f"structure {_pytree.tree_structure(in_dims)} but inputs has structure {spec}."
        )
    checked = [_checked_dim(call, leaf, dim) for leaf, dim in zip(leaves, dims)]
    return Batch(leaves, checked, spec, _batch_size(leaves, checked))


def _checked_dim(call: str, leaf: Any, dim: Any) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{call}: Got in_dim={dim} for an input but in_dim must be either an integer dimension "
            "or None."
        )
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"{call}: Got in_dim={dim} for an input but the input is of type {type(leaf)}. We "
            "cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
        )
    rank = leaf.dim()
    if not -rank <= dim < rank:
        raise ValueError(
            f"{call}: Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {rank} so expected in_dim to satisfy -{rank} <= in_dim < {rank}."
        )
    return dim % rank


def _batch_size(leaves: Sequence[Any], dims: Sequence[int | None]) -> int:
    sizes = [int(leaf.shape[dim]) for leaf, dim in zip(leaves, dims) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


def _run(
    func: Any, batch: Batch, out_dims: Dims, *, kwargs: dict[str, Any], randomness: str
) -> Any:
    with VmapLevel(batch.size, randomness) as level:
        wrapped = [
            leaf if dim is None else level.wrap_along(leaf, dim)
            for leaf, dim in zip(batch.leaves, batch.dims)
        ]
        # As in torch, `in_dims` is for positional arguments: by keyword nothing is batched.
        output = func(*_pytree.tree_unflatten(wrapped, batch.spec), **kwargs)
        return _unwrapped(func, level, output, out_dims)


def _unwrapped(func: Any, level: VmapLevel, output: Any, out_dims: Dims) -> Any:
    leaves, spec = _pytree.tree_flatten(output)
    if isinstance(output, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1:
        # torch takes a tuple of one for a single output, which otherwise is no tree.
        dims: Any = out_dims
    else:
        dims = _pytree.broadcast_to_and_flatten(out_dims, spec)
    if dims is None:
        _refuse_out_dims(func, out_dims, spec)
    placed = [_placed(func, level, leaf, dim) for leaf, dim in zip(leaves, dims)]
    return _pytree.tree_unflatten(placed, spec)


def _refuse_out_dims(func: Any, out_dims: Dims, spec: _pytree.TreeSpec) -> NoReturn:
    raise ValueError(
        f"vmap({named(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with "
        f"the structure of `outputs`. out_dims has structure {_pytree.tree_structure(out_dims)} "
        f"but outputs has structure {spec}."
    )


def _placed(func: Any, level: VmapLevel, leaf: Any, dim: int | None) -> Any:
    """An output one level below, with the examples along `dim`."""
    name = named(func)
    if dim is None:
        if isinstance(leaf, BatchedTensor):
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
        return leaf
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)}. "
            "Did you mean to set out_dims= to None for output?"
        )
    return without_examples(level, leaf, dim)


def without_examples(level: VmapLevel, leaf: Any, dim: int) -> Any:
    """The tensor one level below, with the examples along `dim`."""
    value: Any = (
        # An output that no example reaches is the same for each; the caller still gets a batch.
        level.below(leaf) if level.owns(leaf) else leaf.unsqueeze(0).expand(level.size, *leaf.shape)
    )
    return value.movedim(0, dim) if dim and dim != -value.ndim else value


def _run_in_chunks(
    call: Any, batch: Batch, out_dims: Dims, randomness: str, chunk_size: int
) -> Any:
    from gradtool.engine._ops.shape.joining import cat

    state = random.get_rng_state() if randomness == "same" else None
    parts: list[list[Any]] = []
    spec = _pytree.LEAF
    for start in range(0, batch.size, chunk_size):
        length = min(chunk_size, batch.size - start)
        chunk = [
            leaf if dim is None else leaf.narrow(dim, start, length)
            for leaf, dim in zip(batch.leaves, batch.dims)
        ]
        if state is not None:
            random.set_rng_state(state)
        part = call(batch._replace(leaves=chunk, size=length), out_dims)
        leaves, spec = _pytree.tree_flatten(part)
        parts.append(leaves)
    dims = _pytree.broadcast_to_and_flatten(out_dims, spec) or out_dims
    joined = [
        # Without a batch dimension an output is the same for every chunk.
        column[0] if dim is None else cat(list(column), dim)
        for dim, column in zip(dims, zip(*parts))
    ]
    return _pytree.tree_unflatten(joined, spec)
