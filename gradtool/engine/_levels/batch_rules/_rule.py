"""What a batch rule is, and what most of them are made of.

A rule gets the level, the primitive, its arguments and its parameters, and returns the tensor
below with the examples along its first dimension, or None where it does not apply. In that
tensor every dimension of an example comes one later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine._levels.batch import BatchLevel

Rule = Callable[["BatchLevel", Any, Sequence[Any], dict[str, Any]], "Tensor | None"]
Change = Callable[[Any, int], Any]
"""A parameter for one example, and the number of examples, to the parameter for all."""


def one_later(dim: int, _size: int) -> int:
    """A dimension number, beside the dimension of the examples."""
    return dim + 1


def all_later(dims: Sequence[int], _size: int) -> tuple[int, ...]:
    """Several dimension numbers, beside the dimension of the examples."""
    return tuple([dim + 1 for dim in dims])


def of_examples(shape: Sequence[int], size: int) -> tuple[int, ...]:
    """The shape of all examples, from that of one."""
    return (size, *shape)


def changing(**changes: Change) -> Rule:
    """A rule for a primitive of one tensor: only these parameters are others for all examples."""

    def rule(
        level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
    ) -> Tensor:
        changed = {name: change(params[name], level.size) for name, change in changes.items()}
        out: Tensor = primitive.operation(level.below(args[0]), **{**params, **changed})
        return out

    return rule


def along_one(rule: Rule) -> Rule:
    """`rule` for a primitive that works along ``dim``, which a 0-d example has none of."""

    def with_a_dimension(
        level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
    ) -> Tensor | None:
        if args[0].ndim:
            return rule(level, primitive, args, params)
        vectors = [level.wrap(with_examples(level, arg).unsqueeze(1)) for arg in args]
        out = rule(level, primitive, vectors, params)
        return None if out is None else out.reshape(level.size)

    return with_a_dimension


def with_examples(level: BatchLevel, value: Tensor) -> Tensor:
    """The tensor below, with the examples along its first dimension; repeated if all share it."""
    if level.owns(value):
        below: Tensor = level.below(value)
        return below
    repeated: Tensor = value.unsqueeze(0).expand(level.size, *value.shape)
    return repeated


def padded(value: Tensor, rank: int) -> Tensor:
    """Examples, along the first dimension, with dimensions of extent one up to `rank` of each."""
    while value.ndim <= rank:
        value = value.unsqueeze(1)
    return value


__all__ = [
    "Change", "Rule", "all_later", "along_one", "changing", "of_examples", "one_later", "padded",
    "with_examples",
]  # fmt: skip
