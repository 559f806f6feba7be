"""A Function for a batch, derived from one whose methods consist of tensor operations.

Its methods run the original ones on batched tensors. What the original saves is saved with
the examples along the first dimension, and batched again for the original's backward.
"""

from __future__ import annotations

from typing import Any

from gradtool.engine import _pytree
from gradtool.engine._levels.batch import VmapLevel
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._apply import dirty_not_returned

Dims = tuple[int | None, ...]


class _ContextView:
    """Ctx for the original's methods: tensors go through the batch level."""

    def __init__(self, ctx: Any, batch: _Batch) -> None:
        # Past this class's `__setattr__`, which sets attributes of the ctx.
        object.__setattr__(self, "_ctx", ctx)
        object.__setattr__(self, "_batch", batch)

    def save_for_backward(self, *tensors: Any) -> None:
        values, dims = self._batch.lower(tensors)
        self._ctx.save_for_backward(*values)
        self._ctx.__dict__["_saved_dims"] = dims

    def save_for_forward(self, *tensors: Any) -> None:
        values, dims = self._batch.lower(tensors)
        self._ctx.save_for_forward(*values)
        self._ctx.__dict__["_forward_dims"] = dims

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        ctx = self._ctx
        jvp = ctx._saved_for_jvp is not None
        dims = ctx.__dict__.get("_forward_dims" if jvp else "_saved_dims", ())
        saved: tuple[Any, ...] = self._batch.lift(ctx.saved_tensors, dims)
        return saved

    def mark_dirty(self, *tensors: Any) -> None:
        if any(self._batch.level.owns(each) for each in tensors):
            # What comes out is always a tensor of its own.
            raise dirty_not_returned()
        self._ctx.mark_dirty(*tensors)

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self._ctx.mark_non_differentiable(*self._batch.lower(tensors)[0])

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._ctx, name)
        return (
            self._batch.lift([value.tensor], [0])[0]
            if isinstance(value, _SavedAttribute)
            else value
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if self._batch.level.owns(value):
            value = _SavedAttribute(self._batch.level.below(value))
        setattr(self._ctx, name, value)


class _SavedAttribute:
    """A batched tensor that the original set as an attribute of its ctx."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


class _Batch:
    """Moves tensors between a batch level and the one below."""

    def __init__(self, level: VmapLevel) -> None:
        self.level = level

    def lift(self, values: Any, dims: Any) -> tuple[Any, ...]:
        return tuple(
            [
                self.level.wrap(value) if dim is not None and isinstance(value, Tensor) else value
                for value, dim in zip(values, dims)
            ]
        )

    def lower(self, values: Any) -> tuple[tuple[Any, ...], Dims]:
        dims = tuple([0 if self.level.owns(value) else None for value in values])
        return tuple([self.level.below(value) for value in values]), dims

    def lower_nested(self, value: Any) -> tuple[Any, Any]:
        """Lower an output that may be a collection of tensors."""
        leaves, spec = _pytree.tree_flatten(value)
        lowered, dims = self.lower(leaves)
        return _pytree.tree_unflatten(lowered, spec), _pytree.tree_unflatten(dims, spec)

    def lift_nested(self, value: Any, dim: Any) -> Any:
        """Lift such an output."""
        leaves, spec = _pytree.tree_flatten(value)
        return _pytree.tree_unflatten(self.lift(leaves, _pytree.tree_leaves(dim)), spec)


class BatchedFunction:
    """The Function for a batch, for one placing of the batch dimension among the arguments."""

    def __init__(self, function: Any, level: VmapLevel, dims: Dims) -> None:
        self.function = function
        self.size, self.randomness = level.size, level.randomness
        self.dims = dims
        self.out_dims: Any = None
        self.shapes: list[Any] = []

    def call(self, values: list[Any]) -> tuple[Any, Any]:
        """Outputs one level below, and where the examples are in each."""
        self.shapes = [value.shape if isinstance(value, Tensor) else () for value in values]
        return self._make().apply(*values), self.out_dims

    def _level(self) -> VmapLevel:
        # A new one each time: backward may run after the original level has ended.
        return VmapLevel(self.size, self.randomness)

    def _make(self) -> Any:
        from gradtool.engine.autograd.function import Function

        outer = self

        class Batched(Function):
            """The original's methods, each run at a batch level."""

            # An outer vmap batches these methods in turn.
            generate_vmap_rule = True

            @staticmethod
            def forward(*values: Any) -> Any:
                with outer._level() as level:
                    batch = _Batch(level)
                    output = outer.function.forward(*batch.lift(values, outer.dims))
                    return outer._lowered(batch, output)

            @staticmethod
            def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
                with outer._level() as level:
                    batch = _Batch(level)
                    lifted = outer._lifted(batch, output)
                    outer.function.setup_context(
                        _ContextView(ctx, batch), batch.lift(inputs, outer.dims), lifted
                    )

            @staticmethod
            def backward(ctx: Any, *cotangents: Any) -> Any:
                return outer._backward(ctx, cotangents)

            @staticmethod
            def jvp(ctx: Any, *tangents: Any) -> Any:
                with outer._level() as level:
                    batch = _Batch(level)
                    tangents_returned = outer.function.jvp(
                        _ContextView(ctx, batch), *batch.lift(tangents, outer.dims)
                    )
                    return outer._lowered_like_outputs(batch, tangents_returned)

        Batched.__name__ = Batched.__qualname__ = f"Vmapped{outer.function.__name__}"
        Batched._backward_cls.__name__ = f"{Batched.__name__}Backward"
        return Batched

    def _lowered(self, batch: _Batch, output: Any) -> Any:
        values, self.out_dims = batch.lower_nested(output)
        return values

    def _lowered_like_outputs(self, batch: _Batch, output: Any) -> Any:
        """Return tangents with the examples in the same dimension as the outputs."""
        single = not isinstance(output, tuple)
        dims = (self.out_dims,) if single else self.out_dims
        values = [
            self._with_examples(batch, value, dim)
            for value, dim in zip((output,) if single else output, dims)
        ]
        return values[0] if single else tuple(values)

    def _with_examples(self, batch: _Batch, value: Any, dim: int | None) -> Any:
        if not isinstance(value, Tensor):
            return value
        if batch.level.owns(value):
            return batch.level.below(value)
        return value if dim is None else value.unsqueeze(0).expand(self.size, *value.shape)

    def _lifted(self, batch: _Batch, output: Any) -> Any:
        return batch.lift_nested(output, self.out_dims)

    def _backward(self, ctx: Any, cotangents: tuple[Any, ...]) -> Any:
        from gradtool.engine.autograd.function import backward_method

        single = not isinstance(self.out_dims, tuple)
        out_dims = (self.out_dims,) if single else self.out_dims
        with self._level() as level:
            batch = _Batch(level)
            returned = backward_method(self.function)(
                _ContextView(ctx, batch), *batch.lift(cotangents, out_dims)
            )
            grads = returned if isinstance(returned, tuple) else (returned,)
            places = zip(grads, self.dims, self.shapes)
            return tuple([self._gradient(batch, *place) for place in places])

    def _gradient(self, batch: _Batch, value: Any, dim: int | None, shape: Any) -> Any:
        """Return a gradient for each example, or their sum if all share the argument.

        Broadcast dimensions are summed, as a backward walk would sum them.
        """
        if not isinstance(value, Tensor):
            return value
        if dim is not None:
            own = tuple(shape[1:])
            reduced = value if tuple(value.shape) == own else value.sum_to_size(own)
            return self._with_examples(batch, reduced, 0)
        if batch.level.owns(value):
            return batch.level.below(value).sum(0)
        # Made of cotangents that all examples share, which are sums over these already.
        return value
