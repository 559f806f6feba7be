"""Finds out whether a backward that cannot be differentiated had a part in some tensors."""

from __future__ import annotations

from collections.abc import Iterable

from gradtool.engine import Tensor
from gradtool.engine.autograd._node import Node, OutputEdge
from gradtool.engine.autograd.function import _DifferentiatedTwice


def depends_on_once_differentiable(tensors: Iterable[Tensor]) -> bool:
    """Whether the graph of `tensors` reaches the end that `once_differentiable` gives it."""
    pending: list[Node] = [tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None]
    seen: set[int] = set()
    while pending:
        edge = pending.pop()
        node = edge.node if isinstance(edge, OutputEdge) else edge
        if isinstance(node, _DifferentiatedTwice):
            return True
        if id(node) not in seen:
            seen.add(id(node))
            pending.extend(node._edges)
    return False
