"""One node for the several results of an operation that is made of steps.

Hooks on the node see the gradients of all results, as in torch, and the steps are no part of the
graph that users see.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, TypeGuard

from gradtool.engine._modes import modes
from gradtool.engine._ops.core.primitive_node import PrimitiveNode
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._node import (
    FREED_MESSAGE,
    Gradients,
    Node,
    OutputEdge,
    OutputInfo,
    class_named,
    next_order,
)


class Joined(Node):
    """An operation with several results, of which each has a node of its own inside."""

    __slots__ = ("_hidden", "_outputs", "infos", "inner", "steps", "title")

    inner: Sequence[Node | None]
    """The node, or edge, of each result before; None for one without a gradient.

    They are followed by the steps that keep their outputs.
    """
    steps: Sequence[Node] | None
    """All nodes inside, newest first; None once they were freed."""

    def __init__(self, results: Sequence[Tensor], began: int, title: str) -> None:
        """Join what was recorded after the order `began` was given."""
        self._order = next_order()
        self._hooks = None
        inner = [each._node for each in results]
        self.infos = tuple(map(OutputInfo.of, results))
        self.title = title
        self.steps, self._edges = _inside([each for each in inner if each is not None], began)
        keeping = [each for each in self.steps if _keeps_output(each)]
        for number, step in enumerate(keeping, len(results)):
            step.outer = weakref.ref(self), number
        self.inner = [*inner, *keeping]
        self._outputs, self._hidden = len(self.inner), len(keeping)

    def _vjp(self, grad: list[Tensor | None], wanted: set[int] | None) -> Gradients:
        """The gradients at the edges, after a walk through the steps.

        Raises:
            RuntimeError: the graph was freed.
        """
        if self.steps is None:
            raise RuntimeError(FREED_MESSAGE)
        found: dict[tuple[int, int], Tensor] = {}

        def arrive(edge: Node | None, gradient: Tensor | None) -> None:
            if edge is not None and gradient is not None:
                place = _place(edge)
                found[place] = found[place] + gradient if place in found else gradient

        for edge, gradient in zip(self.inner, grad, strict=True):
            arrive(edge, gradient)
        for node in self.steps:
            given = [found.get((node._order, number)) for number in range(node._outputs)]
            results = node._vjp(given if node._outputs > 1 else given[0], None)
            for each, result in zip(node._edges, results):
                arrive(each, result)
        return [found.get(_place(edge)) for edge in self._edges]

    def _release(self) -> None:
        """Drop the steps, but not what they saved: graphs of this gradient may hold them."""
        self.inner, self.steps = (), None

    def shown(self, output: Tensor | None = None) -> Node:
        """The node as users get it."""
        if self.__class__ is Joined:
            self.__class__ = class_named(Joined, self.title)
        return self

    @property
    def _input_metadata(self) -> tuple[OutputInfo, ...]:
        return self.infos

    def _name(self) -> str:
        return self.title

    def __getattr__(self, name: str) -> Any:
        """``_saved_dim`` and so on, of the first node inside that has it."""
        if name.startswith(("_saved_", "_raw_saved_")):
            if self.steps is None:
                raise RuntimeError(FREED_MESSAGE)
            for node in self.inner:
                if hasattr(node, name):
                    return getattr(node, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _inside(inner: Sequence[Node], began: int) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Return the nodes that are newer than an order, and the edges to those that are not."""
    steps: dict[int, Node] = {}
    edges: dict[tuple[int, int], Node] = {}
    stack = list(reversed(inner))
    while stack:
        edge = stack.pop()
        if edge._order >= began:
            edges.setdefault(_place(edge), edge)
        elif edge._order not in steps:
            node = steps[edge._order] = edge.node if isinstance(edge, OutputEdge) else edge
            stack.extend(reversed(node._edges))
    return tuple(steps[order] for order in sorted(steps)), tuple(edges.values())


def _keeps_output(step: Node) -> TypeGuard[PrimitiveNode]:
    return isinstance(step, PrimitiveNode) and step.plan.out_slot is not None


def _place(edge: Node) -> tuple[int, int]:
    return edge._order, edge.number if isinstance(edge, OutputEdge) else 0


def _is_old(tensor: Tensor, began: int) -> bool:
    return tensor._node is not None and tensor._node._order >= began


def join(results: tuple[Any, ...], began: int, title: str) -> bool:
    """Make tensors outputs of one node, of what was recorded after the order `began` was given.

    Returns:
        True if this was done: there are several, none of which was there before or is a view.
    """
    recorded = [each for each in results if isinstance(each, Tensor) and each._node is not None]
    if len(recorded) < 2 or len({id(each) for each in recorded}) < len(recorded):
        return False
    if any(each._view is not None or _is_old(each, began) for each in recorded):
        return False
    if not all(isinstance(each, Tensor) for each in results):
        return False
    node = Joined(results, began, title)
    for number, each in enumerate(results):
        if each._node is not None:
            each._node = OutputEdge(node, number)
    if modes.watch is not None:
        modes.watch(node)
    return True
