"""A level of reverse mode: its tensors have a graph of their own above the tensors they hold."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Self

from gradtool.engine import _pytree
from gradtool.engine._levels import Level, Wrapped, become, lift_views, lower_copy, wrap_at
from gradtool.engine._levels.mutation import refuse_captured
from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor


class GradTensor(Wrapped):
    """A tensor that may require a gradient at its level."""

    __slots__ = ()


@functools.cache
def _generated(function: Any) -> Any:
    """The class of a Function's nodes inside transforms, under the name that torch gives it."""
    name = f"{function.__name__}GeneratedBackward"
    return type(name, (function._backward_cls,), {})


class GradLevel(Level):
    """Records operations on its tensors, as the ground does for plain ones."""

    marks = True

    def __enter__(self) -> Self:
        super().__enter__()
        # As in `torch.func.grad`, a ``no_grad`` around the transform holds for the levels below.
        self.outer, self.in_inference = modes.grad, modes.inference
        modes.grad, modes.inference = True, False
        return self

    def __exit__(self, *exc_info: object) -> None:
        modes.grad, modes.inference = self.outer, self.in_inference
        super().__exit__(*exc_info)

    def wrap(self, value: Tensor) -> GradTensor:
        """A tensor of this level over `value`."""
        wrapped: GradTensor = wrap_at(self, GradTensor, value, value._array)
        return wrapped

    def apply(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Tensor:
        """Compute below, then record here."""
        recording = modes.grad
        modes.grad = recording and self.outer
        try:
            value = primitive.operation(*map(self.below, args), **params)
        finally:
            modes.grad = recording
        out = self.wrap(value)
        if recording:
            primitive.record_needed(args, params, out)
        if primitive.is_view:
            primitive.link_view(out, args[0], params)
        return out

    def apply_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Compute below, then make the node of the Function's own backward at this level."""
        from gradtool.engine.autograd._apply import finish

        recording = modes.grad
        leaves, spec = _pytree.tree_flatten(args)
        below = [self.below(leaf) for leaf in leaves]
        modes.grad = recording and self.outer
        try:
            with self.lowered():
                output = function.apply(*_pytree.tree_unflatten(below, spec), **kwargs)
        finally:
            modes.grad = recording
        # `finish` recognizes an input that is returned by its identity, so it must stay.
        wrapped = self._wrapped(output, {id(value): leaf for value, leaf in zip(below, leaves)})
        ctx = _generated(function)()
        ctx.needs_input_grad = tuple([self.owns(arg) and arg._requires_grad for arg in args])
        modes.grad = False
        try:
            function.setup_context(ctx, args, wrapped)
        finally:
            modes.grad = recording
        return finish(ctx, args, wrapped, recording and any(ctx.needs_input_grad))

    def _wrapped(self, output: Any, inputs: dict[int, Any]) -> Any:
        """Return the output at this level; one of `inputs`, by id of the tensor below, as it is."""
        return _pytree.tree_map_only(
            Tensor, lambda each: inputs[id(each)] if id(each) in inputs else self.wrap(each), output
        )

    def before_change(self, x: Any, below: Callable[[Tensor], Tensor]) -> Any:
        """Return `x` as it is now, with values of its own if the graph of this level keeps it."""
        old = super().before_change(x, below)
        if x._requires_grad and modes.grad and not old._value._requires_grad:
            # One that requires a gradient below has been copied there.
            old.__dict__["_value"] = old._value.clone()
        return old

    def check_change(self, x: Any, name: str, others: Sequence[Any]) -> None:
        """Refuse to change a tensor from outside: its graph would not know."""
        refuse_captured(self, x, name)

    def write(self, x: Any, result: Tensor, partial: bool) -> None:
        """Change what `x` holds to what `result` holds."""
        from gradtool.engine._ops.core.inplace import replace

        recording = modes.grad
        modes.grad = recording and self.outer
        try:
            replace(x._value, self.below(result), partial)
        finally:
            modes.grad = recording

    def lift(self, x: Tensor) -> None:
        """Make `x` a constant of this level."""
        if x._view is not None:
            lift_views(self, x)
        else:
            become(x, self.wrap(lower_copy(x)))
