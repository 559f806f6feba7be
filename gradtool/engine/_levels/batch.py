"""A level of batching: its tensors hold one more, leading dimension than they show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine._levels import (
    Level,
    NotBatchableError,
    Outline,
    Wrapped,
    wrap_at,
)
from gradtool.engine._tensor import Tensor


class BatchedTensor(Wrapped):
    """A tensor for each example; `_value` has them along its first dimension."""

    __slots__ = ()


class BatchLevel(Level):
    """Computes an operation for all examples at once, or example by example where it must."""

    def __init__(self, size: int, randomness: str = "error") -> None:
        self.size = size
        self.randomness = randomness

    def wrap(self, value: Tensor) -> BatchedTensor:
        """A tensor of this level; the examples lie along the first dimension of `value`."""
        wrapped: BatchedTensor = wrap_at(self, BatchedTensor, value, Outline(value._array))
        return wrapped

    def apply(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Tensor:
        """By the primitive's batch rule; without one, example by example."""
        if primitive.batch is not None:
            value = primitive.batch(self, primitive, args, params)
            if value is not None:
                return self.wrap(value)
        out = self.wrap(self._by_example(primitive, args, params))
        if primitive.is_view:
            out.__dict__["_detached_view"] = True
        return out

    def apply_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the Function's own vmap, or batch its methods."""
        from gradtool.engine._levels.functions import batched

        return batched(self, function, args, kwargs)

    def _by_example(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Tensor:
        from gradtool.engine._ops.shape.joining import stack

        results = [
            primitive.operation(*[self.example(arg, number) for arg in args], **params)
            for number in range(self.size)
        ]
        stacked: Tensor = stack(results)
        return stacked

    def example(self, value: Any, number: int) -> Any:
        """One example of a tensor of this level; anything else is the same for each."""
        return value._value[number] if self.owns(value) else value

    def write(self, x: Any, result: Tensor) -> None:
        """Write the examples of `result` over those of `x`."""
        from gradtool.engine._ops.core.inplace import replace

        if x.__dict__.get("_detached_view"):
            raise NotBatchableError(
                "vmap: an in-place change of this view would not reach the tensor it is a view of"
            )
        value = self.below(result)
        replace(x._value, value if self.owns(result) else value.expand(x._value.shape))

    def lift(self, x: Tensor) -> None:
        """Make `x`, of a lower level, one of this level with the same values for each example."""
        from gradtool.engine._levels import become

        value = x.clone().unsqueeze(0).expand(self.size, *x.shape).clone()
        become(x, self.wrap(value))
