"""The backward walk: from the roots' cotangents to the leaves, newest node first."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._node import (
    AccumulateGrad,
    Node,
    NodeHooks,
    OutputEdge,
    node_and_number,
)

_walk_numbers = itertools.count()


def walk(
    roots: Iterable[tuple[Tensor, Tensor]],
    *,
    keep_graph: bool,
    create_graph: bool,
    targets: Sequence[Tensor] | None = None,
    accumulate: bool = True,
) -> list[Tensor | None]:
    """Send each root's cotangent through the graph.

    With `targets`, only nodes that lead to one of them run, and the gradients that arrive
    there are returned in their order; unless `accumulate`, leaves keep their ``grad``.
    """
    walker = _Walker(keep_graph, targets, accumulate)
    for tensor, cotangent in roots:
        walker.deposit(tensor._node or tensor._accumulator(), cotangent)
    # Walks nest: a hook or a custom backward may start another.
    before, outer = modes.grad, modes.walk
    modes.grad, modes.walk = create_graph, walker
    try:
        walker.run()
    finally:
        modes.grad, modes.walk = before, outer
    return walker.captured


class _Walker:
    """The state of one walk."""

    captures: dict[int, list[tuple[int, int]]] | None = None
    """Order of a node -> (position among the targets, output number) of each target there."""
    captured: list[Tensor | None]
    wanted: set[int] | None = None
    roots: tuple[Node, ...] = ()
    ends: Sequence[Node] = ()
    """Nodes of the targets: a leaf that is itself a root has its end nowhere else."""
    _reachable: set[int] | None = None

    def __init__(
        self, keep_graph: bool, targets: Sequence[Tensor] | None, accumulate: bool
    ) -> None:
        self.keep_graph = keep_graph
        self.accumulate = accumulate
        self.number = next(_walk_numbers)
        # Orders alone: integers compare quickly, and nodes do not compare at all.
        self.heap: list[int] = []
        self.nodes: dict[int, Node] = {}
        self.grads: dict[int, Any] = {}
        self.owned: set[int] = set()
        """Orders whose gradient so far is a sum that nothing else refers to."""
        if targets is None:
            self.captured = []
        else:
            self._aim_at(targets)

    def _aim_at(self, targets: Sequence[Tensor]) -> None:
        self.captured = [None] * len(targets)
        self.captures, ends = {}, []
        for position, target in enumerate(targets):
            node, number = node_and_number(target)
            ends.append(node)
            self.captures.setdefault(node._order, []).append((position, number))
        self.ends = ends

    def deposit(self, edge: Node, grad: Tensor | None) -> None:
        """Add a gradient to what has arrived at an edge.

        An undefined one (None) adds nothing, but the node runs all the same: a custom
        Function further on gets its undefined cotangents, as zeros unless it asked for None.
        """
        order = edge._order
        grads = self.grads
        if edge.__class__ is OutputEdge:
            self._deposit_at_output(edge, grad)
        elif order not in grads:
            grads[order] = grad
            self.nodes[order] = edge
            heappush(self.heap, order)
        elif grads[order] is None:
            grads[order] = grad
        elif grad is not None:
            grads[order] = self._add(order, grads[order], grad)

    def _add(self, order: int, held: Tensor, grad: Tensor) -> Tensor:
        """Add two gradients, in place if the first is already a sum made here."""
        # The first gradient may be another edge's or a hook's too: only a sum is safe to change.
        if order not in self.owned:
            # Not while recording: the sum is then part of a graph, which may save it.
            if not modes.grad and held.__class__ is Tensor is grad.__class__:
                self.owned.add(order)
            return held + grad
        if held.__class__ is not Tensor or grad.__class__ is not Tensor:
            return held + grad
        held._array += grad._array
        return held

    def _deposit_at_output(self, edge: Node, grad: Tensor | None) -> None:
        assert isinstance(edge, OutputEdge)
        order = edge._order
        slots = self.grads.get(order)
        if slots is None:
            slots = self.grads[order] = [None] * edge.node._outputs
            self.nodes[order] = edge.node
            heappush(self.heap, order)
        held = slots[edge.number]
        if grad is not None:
            slots[edge.number] = grad if held is None else held + grad

    def run(self) -> None:
        """Run nodes until none is left."""
        if self.captures is not None:
            self.wanted = _leading_to(self.captures, self.nodes.values())
        heap, nodes, grads, wanted = self.heap, self.nodes, self.grads, self.wanted
        # For `will_run`: the walk empties `nodes`.
        self.roots = tuple(nodes.values())
        release, anomaly = not self.keep_graph, modes.anomaly
        while heap:
            order = heappop(heap)
            node = nodes.pop(order)
            grad = grads.pop(order)
            hooks = node._hooks
            # Before targets are captured: `grad` returns what the tensor's hooks made of it.
            if hooks is not None:
                grad = _run_pre_hooks(hooks, grad)
            if wanted is not None and not self._proceed(node, order, grad):
                continue
            results = (
                node.apply(grad, wanted) if not anomaly else _apply_watched(node, grad, wanted)
            )
            if hooks is not None and hooks.after:
                results = _run_post_hooks(hooks, results, grad)
            if release:
                node._release()
            for edge, result in zip(node._edges, results):
                order = edge._order
                if wanted is not None and order not in wanted:
                    continue
                if result is None or order in grads or edge.__class__ is OutputEdge:
                    self.deposit(edge, result)
                else:  # `deposit` written out for the first gradient to arrive: the hot path
                    grads[order] = result
                    nodes[order] = edge
                    heappush(heap, order)

    def will_run(self, node: Node) -> bool:
        """Return True if this walk runs, or ran, a node."""
        if self.wanted is not None:
            return node._order in self.wanted
        if self._reachable is None:
            self._reachable = set(_reachable(self.roots, oldest=None))
        return node._order in self._reachable

    def _proceed(self, node: Node, order: int, grad: Any) -> bool:
        """Capture the gradients of targets at a node; return True if the node is to run."""
        assert self.captures is not None
        assert self.wanted is not None
        for position, number in self.captures.get(order, ()):
            self.captured[position] = grad[number] if isinstance(grad, list) else grad
        if isinstance(node, AccumulateGrad):
            # `grad` leaves ``.grad`` alone; ``backward(inputs=...)`` adds to those inputs only.
            return self.accumulate and order in self.captures
        return any(edge._order in self.wanted for edge in node._edges)


def _leading_to(captures: dict[int, Any], roots: Iterable[Node]) -> set[int]:
    """Orders of the nodes from which a captured node can be reached, those included."""
    wanted = set(captures)
    oldest = max(captures, default=0)
    reached = _reachable(roots, oldest)
    # Oldest first, so that what a node leads to is decided before the node.
    for order in sorted(reached, reverse=True):
        if any(edge._order in wanted for edge in reached[order]._edges):
            wanted.add(order)
    return wanted


def _reachable(roots: Iterable[Node], oldest: int | None) -> dict[int, Node]:
    """Order -> node, for what the roots lead to, down to the age of `oldest`."""
    reached: dict[int, Node] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        # Edges lead to older nodes only: beyond the oldest target there is none.
        if node._order in reached or (oldest is not None and node._order > oldest):
            continue
        reached[node._order] = node
        stack.extend(edge.node if isinstance(edge, OutputEdge) else edge for edge in node._edges)
    return reached


def _apply_watched(node: Node, grad: Any, wanted: set[int] | None) -> Any:
    """Run a node in anomaly mode."""
    from gradtool.engine.autograd import anomaly_mode

    try:
        results = node.apply(grad, wanted)
    except Exception:
        anomaly_mode.explain(node)
        raise
    anomaly_mode.check(node, results)
    return results


def _run_pre_hooks(hooks: NodeHooks, grad: Any) -> Any:
    """Tensor hooks, then retained gradients, then the node's own pre-hooks."""
    single = not isinstance(grad, list)
    slots = [grad] if single else list(grad)
    for number, of_tensor in hooks.tensor.items():
        # A copy of the hooks, as one may remove itself.
        for hook in list(of_tensor.values()):
            if slots[number] is not None:
                replaced = hook(slots[number])
                slots[number] = slots[number] if replaced is None else replaced
    # torch retains the gradient that all of the tensor's hooks have seen.
    for number, reference in hooks.retain.items():
        tensor = reference()
        # `detach_` may have made it a leaf since.
        if tensor is not None and slots[number] is not None and not tensor.is_leaf:
            tensor._grad = slots[number] if modes.grad else slots[number].detach()
    for hook in list(hooks.before.values()):
        replaced = hook(tuple(slots))
        if replaced is not None:
            slots = list(replaced) if isinstance(replaced, tuple) else [replaced]
    return slots[0] if single else slots


def _run_post_hooks(hooks: NodeHooks, results: Any, grad: Any) -> Any:
    """The node's hooks; each may replace the gradients of the inputs."""
    outgoing = tuple(grad) if isinstance(grad, list) else (grad,)
    for hook in list(hooks.after.values()):
        replaced = hook(tuple(results), outgoing)
        if replaced is not None:
            results = replaced if isinstance(replaced, tuple) else (replaced,)
    return results
