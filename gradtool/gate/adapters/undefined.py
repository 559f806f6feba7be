"""What becomes of cotangents that are all undefined.

Such a walk has no value to start from. It starts one step further: each custom Function that
made an output runs its backward without a cotangent, and what that returns goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradtool.engine import Tensor, no_grad
from gradtool.engine._tensor import alias
from gradtool.engine.autograd import grad
from gradtool.engine.autograd.function import BackwardCFunction


def undefined_gradients(
    outputs: Sequence[Tensor | None], leaves: Sequence[Tensor]
) -> tuple[Tensor | None, ...]:
    """Gradients of `leaves` when no output has a cotangent.

    Raises whatever the user's backward or the engine raises.
    """
    made_by = [output.grad_fn for output in outputs if output is not None]
    nodes = {id(node): node for node in made_by if isinstance(node, BackwardCFunction)}
    with no_grad():
        starts = [start for node in nodes.values() for start in _after(node)]
    if not starts or not leaves:
        return (None,) * len(leaves)
    places, cotangents = zip(*starts, strict=True)
    return grad(places, list(leaves), cotangents, retain_graph=True, allow_unused=True)


def _after(node: BackwardCFunction) -> list[tuple[Tensor, Tensor]]:
    """What the node sends on, each with a tensor in the place that it is sent to."""
    missing = None if node._outputs == 1 else [None] * node._outputs
    starts = []
    for edge, result in zip(node._edges, node.apply(missing, None), strict=True):
        if result is not None:
            place = alias(result._array)
            place._node = edge
            place._requires_grad = True
            starts.append((place, result))
    return starts
