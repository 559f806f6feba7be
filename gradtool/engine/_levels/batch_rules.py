"""How primitives treat a batch: all examples in one operation on the tensors below.

A rule gets the level, the primitive, its arguments and its parameters, and returns the
tensor below with the examples along its first dimension, or None where it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradtool.engine._levels.batch import BatchLevel
from gradtool.engine._tensor import Tensor

Rule = Callable[[BatchLevel, Any, Sequence[Any], dict[str, Any]], Tensor | None]


def rule_for(primitive: Any) -> Rule | None:
    """The batch rule of a primitive, by its name or by its kind."""
    return _BY_NAME.get(primitive.name) or _BY_KIND.get(primitive.kind)


def _elementwise(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    """Line up the examples: pad each argument's own dimensions to the same number."""
    rank = max(arg._array.ndim if isinstance(arg, Tensor) else 0 for arg in args)
    below = [
        _padded(level.below(arg), rank - arg._array.ndim) if level.owns(arg) else arg
        for arg in args
    ]
    out: Tensor = primitive.operation(*below, **params)
    return out


def _padded(value: Tensor, missing: int) -> Tensor:
    if missing == 0:
        return value
    shape = value._array.shape
    return value.reshape(shape[0], *[1] * missing, *shape[1:])


def _of_all(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    """Of tensors of one shape: give those that are the same for all examples a batch too."""
    below = [
        level.below(arg) if level.owns(arg) else arg.unsqueeze(0).expand(level.size, *arg.shape)
        for arg in args
    ]
    out: Tensor = primitive.operation(*below, **params)
    return out


_BY_KIND: dict[str, Rule] = {"elementwise": _elementwise}
_BY_NAME: dict[str, Rule] = {
    "complex": _of_all,
    "conj": _elementwise,
    "imag": _elementwise,
    "real": _elementwise,
    "view_as_complex": _elementwise,
    "view_as_real": _elementwise,
    "zeros_like": _elementwise,
}
