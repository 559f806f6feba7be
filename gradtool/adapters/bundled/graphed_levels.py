"""Levels of batching and of forward mode whose tensors have graphs, as PyTorch's tensors do.

In the engine a level serves only its own transform, and ``autograd.grad`` inside a transformed
function has no graph to walk. Here it has one: operations on tensors of
these levels are recorded over those tensors. Custom Functions run their own methods on them,
in the usage with ``forward(ctx, ...)`` as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool.engine import Tensor, no_grad
from gradtool.engine._levels import Level, become
from gradtool.engine._levels.batch import VmapLevel
from gradtool.engine._levels.dual import DualLevel, input_tangents
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.inplace import replace
from gradtool.engine._tensor import to_numpy
from gradtool.engine.autograd import Function, _apply
from gradtool.verify.protocol.observation import Array


class _Graphed(Level):
    """Records operations on tensors of the level."""

    by_func = False

    def apply(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Tensor:
        with no_grad():
            out: Tensor = super().apply(primitive, args, params)
        if not self.owns(out):
            return out
        if modes.grad:
            primitive.record_needed(args, params, out)
        if primitive.is_view:
            primitive.link_view(out, args[0], params)
        return out


class GraphedBatch(_Graphed, VmapLevel):
    """Runs a Function's own methods on batched tensors, in place of its vmap."""

    def apply_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run its forward on tensors of this level as on plain tensors."""
        ctx, output = function._run_forward(args, kwargs)
        return _apply.finish(ctx, args, output, modes.grad and any(ctx.needs_input_grad))

    def check_change(self, x: Any, name: str, others: Sequence[Any]) -> None:
        """Accept it: what all examples share gets a value for each."""

    def lift(self, x: Tensor) -> None:
        """Turn `x`, of a lower level, into one of this level with equal examples."""
        # The last copy gives each example its own memory: expanded ones share it.
        value = x.clone().unsqueeze(0).expand(self.size, *x.shape).clone()
        become(x, self.wrap(value))

    def arrays(self, tensors: Sequence[Tensor | None]) -> tuple[Array | None, ...]:
        """Return copies of the values of all examples, along the first dimension."""
        return tuple([None if a is None else np.array(a) for a in self.views(tensors)])

    def views(self, tensors: Sequence[Tensor | None]) -> list[Array | None]:
        """Return the same values in memory that the tensors may share."""
        return [None if tensor is None else self._view(tensor) for tensor in tensors]

    def _view(self, tensor: Tensor) -> Array:
        values: Array = to_numpy(self.below(tensor)._array)
        return values if self.owns(tensor) else np.broadcast_to(values, (self.size, *values.shape))


class GraphedCotangents(GraphedBatch):
    """Runs a Function's backward on batched cotangents.

    Functions that backward applies are batched by their own ``vmap`` if they have one.
    """

    def apply_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Use its own vmap, or run it on tensors of this level as on plain tensors."""
        if function.vmap is Function.vmap:
            return super().apply_function(function, args, kwargs)
        return VmapLevel.apply_function(self, function, args, kwargs)


class GraphedDual(_Graphed, DualLevel):
    """Runs a Function's own forward, backward and jvp on dual tensors.

    As in PyTorch, tensors computed in ``forward`` have no tangents; the inputs and outputs that it
    saves have theirs. A tangent may be None, for undefined.
    """

    _in_forward = False

    def apply(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Tensor:
        """Compute the output and its tangent; inside ``forward`` no tangent."""
        if self._in_forward:
            out: Tensor = primitive.operation(*map(self.below, args), **params)
            return out
        out = super().apply(primitive, args, params)
        if not self.owns(out):  # no argument has a tangent
            out = self.dual(out, None)
            if modes.grad:
                primitive.record_needed(args, params, out)
        return out

    def dual(self, primal: Tensor, tangent: Tensor | None) -> Any:
        """Return a tensor of this level."""
        dual: Any = self.wrap(primal, tangent)
        return dual

    def apply_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run its forward, and its jvp if an argument has a tangent."""
        before = [_copy(self.tangent_of(arg)) for arg in args]
        self._in_forward = True
        try:
            ctx, output = function._run_forward(args, kwargs)
        finally:
            self._in_forward = False
        single = not isinstance(output, tuple)
        raw = (output,) if single else output
        results = self._output_tangents(function, ctx, args, before) or (None,) * len(raw)
        if len(results) != len(raw):
            raise RuntimeError(
                f"{function.__name__}.jvp: expected {len(raw)} tangents, one for each output, "
                f"got {len(results)}"
            )
        pairs = zip(raw, results, strict=True)
        duals = tuple([self._output(each, tangent, ctx) for each, tangent in pairs])
        _rename(ctx, raw, duals)
        record = modes.grad and any(ctx.needs_input_grad)
        return _apply.finish(ctx, args, duals[0] if single else duals, record)

    def _output_tangents(
        self, function: Any, ctx: Any, args: tuple[Any, ...], before: list[Any]
    ) -> tuple[Any, ...] | None:
        """Return the tangents of the outputs by the Function's jvp; None if no input has one."""
        if all(tangent is None for tangent in before):
            return None
        saved = tuple([self.below(each) for each in ctx.saved_for_forward])
        given = [
            default if tangent is None else tangent
            for tangent, default in zip(before, input_tangents(self, ctx, args), strict=True)
        ]
        ctx._saved_for_jvp = saved
        with no_grad():
            returned = function.jvp(ctx, *given)
        ctx._saved_for_jvp = None
        tangents = returned if isinstance(returned, tuple) else (returned,)
        return tuple([self.below(each) for each in tangents])

    def _output(self, output: Any, tangent: Tensor | None, ctx: Any) -> Any:
        if not isinstance(output, Tensor):
            return output
        if any(output is dirty for dirty in ctx.dirty_tensors) and self.owns(output):
            output.__dict__["_tangent"] = tangent
            return output
        return self.dual(self.below(output), tangent)

    def before_change(self, x: Any, below: Callable[[Tensor], Tensor]) -> Any:
        """Return `x` as it is now."""
        if x._tangent is not None:
            return super().before_change(x, below)
        return self.dual(below(x._value), None)

    def write(self, x: Any, result: Tensor) -> None:
        """Change primal to primal and tangent to tangent."""
        tangent = self.tangent_of(result)
        if self._in_forward or (x._tangent is None and tangent is None):
            replace(x._value, self.below(result))
        elif x._tangent is None:
            replace(x._value, self.below(result))
            x.__dict__["_tangent"] = _copy(tangent)
        else:
            super().write(x, result)


def _copy(tangent: Tensor | None) -> Tensor | None:
    """Copy a tangent, so that changes of the original do not reach it."""
    return None if tangent is None else tangent.clone()


def _rename(ctx: Any, raw: Sequence[Any], duals: Sequence[Any]) -> None:
    """Replace the raw outputs that `ctx` refers to by their duals."""
    names = {id(old): new for old, new in zip(raw, duals, strict=True)}
    for field in ("to_save", "non_differentiable"):
        held = getattr(ctx, field)
        if held:
            setattr(ctx, field, tuple([names.get(id(each), each) for each in held]))
