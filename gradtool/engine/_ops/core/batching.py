"""Batch rules: how a primitive computes all examples of a batch in one operation.

A rule gets the level, the primitive, its arguments and its parameters, and returns the tensor
below with the examples along its first dimension, or None where it does not apply. In that
tensor every dimension of an example comes one later. A primitive without a rule, or called with
arguments that its rule does not cover, is computed example by example.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine._levels import BatchLevel

BatchRule = Callable[["BatchLevel", Any, Sequence[Any], dict[str, Any]], "Tensor | None"]
Change = Callable[[Any, int], Any]
"""Turn a parameter for one example, given the number of examples, into the parameter for all."""

# ---- what rules are made of -----------------------------------------------------------------


def one_later(dim: int, _size: int) -> int:
    """Return a dimension number that counts the dimension of the examples too."""
    return dim + 1


def all_later(dims: Sequence[int], _size: int) -> tuple[int, ...]:
    """Return dimension numbers that count the dimension of the examples too."""
    return tuple([dim + 1 for dim in dims])


def of_examples(shape: Sequence[int], size: int) -> tuple[int, ...]:
    """Return the shape of all examples, given that of one."""
    return (size, *shape)


def with_examples(level: BatchLevel, value: Tensor) -> Tensor:
    """Return the tensor below with the examples first; repeated if all of them share it."""
    if level.owns(value):
        below: Tensor = level.below(value)
        return below
    repeated: Tensor = value.unsqueeze(0).expand(level.size, *value.shape)
    return repeated


def padded(value: Tensor, rank: int) -> Tensor:
    """Give each example, after the first dimension, dimensions of extent one up to `rank`."""
    while value.ndim <= rank:
        value = value.unsqueeze(1)
    return value


def lined_up(level: BatchLevel, args: Sequence[Any]) -> list[Any]:
    """Return the arguments below, the examples lined up so that what has none broadcasts."""
    rank = max(arg._array.ndim for arg in args if isinstance(arg, Tensor))
    return [padded(level.below(arg), rank) if level.owns(arg) else arg for arg in args]


# ---- rules ----------------------------------------------------------------------------------


def changing(**changes: Change) -> BatchRule:
    """Return the rule of a primitive of one tensor for which only these parameters change."""

    def rule(
        level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
    ) -> Tensor:
        changed = {name: change(params[name], level.size) for name, change in changes.items()}
        out: Tensor = primitive.operation(level.below(args[0]), **{**params, **changed})
        return out

    return rule


def with_a_dimension(rule: BatchRule) -> BatchRule:
    """Return `rule` for a primitive that works along ``dim``, which a 0-d example has none of."""

    def of_vectors(
        level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
    ) -> Tensor | None:
        if args[0].ndim:
            return rule(level, primitive, args, params)
        vectors = [level.wrap(with_examples(level, arg).unsqueeze(1)) for arg in args]
        out = rule(level, primitive, vectors, params)
        return None if out is None else out.reshape(level.size)

    return of_vectors


def broadcasting(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    """The rule of elementwise primitives, and of functions of batches of matrices."""
    out: Tensor = primitive.operation(*lined_up(level, args), **params)
    return out


def together_along_dim(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    """The rule of primitives of several tensors that work along ``dim``, position by position."""
    changed = {**params, "dim": params["dim"] + 1}
    if "shape" in params:
        changed["shape"] = of_examples(params["shape"], level.size)
    out: Tensor = primitive(*[with_examples(level, arg) for arg in args], **changed)
    return out


unchanged: BatchRule = changing()
"""The rule of primitives that take any number of dimensions for what they are."""
over_dims: BatchRule = changing(dims=all_later)
"""The rule of primitives that work over ``dims``."""
along_dim: BatchRule = with_a_dimension(changing(dim=one_later))
"""The rule of primitives that work along ``dim``."""

__all__ = [
    "BatchRule", "all_later", "along_dim", "broadcasting", "changing", "lined_up", "of_examples",
    "one_later", "over_dims", "padded", "together_along_dim", "unchanged", "with_a_dimension",
    "with_examples",
]  # fmt: skip
