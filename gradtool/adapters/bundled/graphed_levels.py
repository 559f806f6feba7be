"""Levels of batching whose tensors have graphs, as PyTorch's tensors do.

In the engine a level serves only its own transform, and ``autograd.grad`` inside a transformed
function has no graph to walk. Here it has one: operations on tensors of
these levels are recorded over those tensors. Custom Functions run their own methods on them,
in the usage with ``forward(ctx, ...)`` as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine import Tensor, no_grad
from gradtool.engine._levels import become
from gradtool.engine._levels.batch import VmapLevel
from gradtool.engine._modes import modes
from gradtool.engine._tensor import to_numpy
from gradtool.engine.autograd import Function, _apply
from gradtool.verify.protocol.observation import Array


class GraphedBatch(VmapLevel):
    """Runs a Function's own methods on batched tensors, in place of its vmap."""

    by_func = False

    def apply(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Tensor:
        """Compute for all examples, and record the operation over their tensors."""
        with no_grad():
            out: Tensor = super().apply(primitive, args, params)
        if not self.owns(out):
            return out
        if modes.grad:
            primitive.record_needed(args, params, out)
        if primitive.is_view:
            primitive.link_view(out, args[0], params)
        return out

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
