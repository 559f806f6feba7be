"""A Function's jvp as a function in its own right: (primals, tangents) -> tangents.

Its derivative is the second derivative by reverse over forward.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.adapters.common.backward_map import Apply
from gradtool.adapters.library import library


class TangentMap:
    """Takes the tensor arguments of a function, then a tangent for each in `differentiable`.

    Returns the tangent of each output; None where it has none.
    """

    def __init__(self, apply: Apply, differentiable: Sequence[bool]) -> None:
        self.apply = apply
        """The function whose jvp this is."""
        self._differentiable = tuple(differentiable)

    def __call__(self, *tensors: Any) -> tuple[Any, ...]:
        """The tangents, with a graph where one is being recorded."""
        forward_ad = library().torch.autograd.forward_ad
        count = len(self._differentiable)
        tangents = iter(tensors[count:])
        with forward_ad.dual_level():
            duals = [
                forward_ad.make_dual(tensor.clone(), next(tangents)) if needed else tensor
                for tensor, needed in zip(tensors[:count], self._differentiable, strict=True)
            ]
            outputs = self.apply(duals)
            return tuple([_tangent(forward_ad, output) for output in outputs])


def _tangent(forward_ad: Any, output: Any) -> Any:
    return None if output is None else forward_ad.unpack_dual(output).tangent
