"""A level of batching: its tensors hold one more, leading dimension than they show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gradtool.engine._levels import (
    BatchLevel,
    NotBatchableError,
    Outline,
    Wrapped,
    wrap_at,
)
from gradtool.engine._tensor import Tensor


class VmapInfo(NamedTuple):
    """The first argument of a Function's ``vmap``."""

    batch_size: int
    randomness: str


class BatchedTensor(Wrapped):
    """A tensor for each example; `_value` has them along its first dimension."""

    __slots__ = ()


class VmapLevel(BatchLevel):
    """Computes an operation for all examples at once, or else example by example."""

    def __init__(self, size: int, randomness: str = "error") -> None:
        self.size = size
        self.randomness = randomness

    def wrap(self, value: Tensor) -> BatchedTensor:
        """A tensor of this level; the examples lie along the first dimension of `value`."""
        wrapped: BatchedTensor = wrap_at(self, BatchedTensor, value, Outline(value._array))
        return wrapped

    def apply(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Tensor:
        """Apply the primitive's batch rule or, without one, compute example by example."""
        if primitive.batch is not None:
            value = primitive.batch(self, primitive, args, params)
            # A rule may decline the case by returning None.
            if value is not None:
                return self.wrap(value)
        out = self.wrap(self._by_example(primitive, args, params))
        if primitive.is_view:
            # Stacked examples are a copy: a write to it would not reach the base.
            out.__dict__["_detached_view"] = True
        return out

    def apply_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the Function's own vmap, or batch its methods if it allows that."""
        # `generated` is built on this module.
        from gradtool.engine._levels.generated import BatchedFunction
        from gradtool.engine.autograd.function import Function, require_setup_context

        require_setup_context(function)
        own_rule = function.vmap is not Function.vmap
        if own_rule and function.generate_vmap_rule:
            raise RuntimeError(
                f"You tried to vmap over {function.__name__}, but it has both "
                "generate_vmap_rule=True and an overriden vmap staticmethod. Please set "
                "generate_vmap_rule=False or delete the overriden vmap staticmethod to avoid "
                "ambiguity."
            )
        dims = tuple([0 if self.owns(arg) else None for arg in args])
        below = [self.below(arg) for arg in args]
        if own_rule:
            output, out_dims = function.vmap(VmapInfo(self.size, self.randomness), dims, *below)
        elif function.generate_vmap_rule:
            output, out_dims = BatchedFunction(function, self, dims).call(below)
        else:
            raise RuntimeError(
                f"You tried to vmap over {function.__name__}, but it does not have vmap support. "
                "Please override and implement the vmap staticmethod or set "
                "generate_vmap_rule=True."
            )
        if not isinstance(output, tuple):
            return self._wrapped(output, out_dims)
        if not isinstance(out_dims, tuple | list):
            out_dims = (out_dims,) * len(output)
        return tuple([self._wrapped(each, dim) for each, dim in zip(output, out_dims)])

    def _wrapped(self, value: Any, dim: Any) -> Any:
        return place_nested(
            value, dim, lambda each, at: self.wrap(each.movedim(at, 0) if at else each)
        )

    def _by_example(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Tensor:
        from gradtool.engine._ops.shape.joining import stack

        results = [
            primitive.operation(*[self.example(arg, number) for arg in args], **params)
            for number in range(self.size)
        ]
        stacked: Tensor = stack(results)
        return stacked

    def example(self, value: Any, number: int) -> Any:
        """Return one example of a tensor of this level; anything else is the same for each."""
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
        """Turn `x`, of a lower level, into one of this level with equal examples."""
        from gradtool.engine._levels import become

        # The last copy gives each example its own memory: expanded ones share it.
        value = x.clone().unsqueeze(0).expand(self.size, *x.shape).clone()
        become(x, self.wrap(value))


def place_nested(value: Any, dim: Any, place: Callable[[Tensor, int], Any]) -> Any:
    """Apply `place` to each tensor in nested collections that `dim` has a dimension for."""
    if isinstance(dim, dict):
        return {key: place_nested(each, dim[key], place) for key, each in value.items()}
    if isinstance(dim, list | tuple):
        return type(value)(place_nested(v, d, place) for v, d in zip(value, dim))
    return place(value, dim) if dim is not None and isinstance(value, Tensor) else value
