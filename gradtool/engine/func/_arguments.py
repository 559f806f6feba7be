"""The arguments and outputs of the functions that are transformed, and their checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine import _pytree
from gradtool.engine._tensor import Tensor

Argnums = int | tuple[int, ...]


def chosen(args: tuple[Any, ...], argnums: Argnums, *, as_tuple: bool = True) -> Any:
    """The arguments of these positions, all in a tuple, or for a single position by itself.

    Raises:
        RuntimeError: the positions are no integers, out of range, or not distinct.
    """
    positions = _positions(argnums, len(args))
    if isinstance(positions, int):
        return (args[positions],) if as_tuple else args[positions]
    return tuple(args[at] for at in positions)


def replaced(args: tuple[Any, ...], values: tuple[Any, ...], argnums: Argnums) -> tuple[Any, ...]:
    """The arguments with others at these positions."""
    positions = _positions(argnums, len(args))
    numbers = (positions,) if isinstance(positions, int) else positions
    result = list(args)
    for at, value in zip(numbers, values):
        result[at] = value
    return tuple(result)


def _positions(argnums: Argnums, count: int) -> Argnums:
    if isinstance(argnums, int):
        return _position(argnums, count)
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    positions = tuple(_position(each, count) for each in argnums)
    if not positions:
        raise RuntimeError("argnums must be non-empty")
    if len(set(positions)) != len(positions):
        raise RuntimeError(f"argnums elements must be unique, got {positions}")
    return positions


def _position(argnum: int, count: int) -> int:
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def split_aux(result: Any, has_aux: bool, call: str) -> tuple[Any, Any]:
    """The result of a function as (output, auxiliary output).

    Raises:
        RuntimeError: with `has_aux`, it is not such a pair.
    """
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{call}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return result


def lowered_aux(level: Any, aux: Any) -> Any:
    """The auxiliary output one level below.

    Raises:
        RuntimeError: there is something else than tensors in it.
    """
    leaves, spec = _pytree.tree_flatten(aux)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
    return _pytree.tree_unflatten(map(level.below, leaves), spec)


def check_tensors(leaves: Sequence[Any], call: str) -> None:
    """Refuse outputs that are no tensors, and no outputs at all.

    Raises:
        RuntimeError: there are such.
    """
    if not leaves or (len(leaves) == 1 and leaves[0] is None):
        raise RuntimeError(
            f"{call}: Expected f to be a function that has non-empty output (got output = {leaves})"
        )
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{call}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(leaf)}"
            )


def refuse_complex(call: str, tree: Any, what: str) -> None:
    """Refuse complex tensors, which have no Jacobian of their own dtype.

    Raises:
        RuntimeError: there are such.
    """
    for at, leaf in enumerate(_pytree.tree_leaves(tree)):
        if isinstance(leaf, Tensor) and leaf.is_complex():
            raise RuntimeError(
                f"{call}: Expected all {what} to be real but received complex tensor at flattened "
                f"input idx: {at}"
            )


def standard_basis(
    tensors: Sequence[Tensor], start: int = 0, length: int | None = None
) -> list[Tensor]:
    """The basis of the space of all tensors together: for each tensor its part of the vectors.

    The first dimension counts the vectors, from `start`.
    """
    total = sum(each.numel() for each in tensors)
    rows = total - start if length is None else min(length, total - start)
    basis, column = [], 0
    for each in tensors:
        part: Any = each.new_zeros(rows, each.numel())
        part.diagonal(start - column).fill_(1)
        basis.append(part.view((rows, *each.shape)))
        column += each.numel()
    return basis
