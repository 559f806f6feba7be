"""The backward walk: from the roots' cotangents to the leaves, newest node first."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from sys import getrefcount
from typing import Any

import numpy as np

from gradtool.engine._modes import modes, overriding, unshared
from gradtool.engine._tensor import Tensor, wrap
from gradtool.engine.autograd import _new_nodes
from gradtool.engine.autograd._node import (
    GradientEdge,
    Node,
    OutputEdge,
    hooked_leaves,
    next_order,
    node_and_number,
)
from gradtool.engine.autograd._ready_queue import ReadyQueue, arrivals
from gradtool.engine.autograd._run_hooks import run_post_hooks, run_pre_hooks, run_tensor_hooks
from gradtool.engine.autograd._watched import run_watched

_walk_numbers = itertools.count()

_NESTED_IN_ONE_THREAD = 20
"""Walks within walks that the stack of one thread holds, at a dozen calls each and the user's."""

_SECONDS_UNHEARD = 0.1
"""Time for which a thread that waits for another one hears of no signal that the other one got."""

Root = Tensor | GradientEdge


def walk(
    roots: Iterable[tuple[Root, Tensor | None]],
    *,
    keep_graph: bool,
    create_graph: bool,
    targets: Sequence[Root] | None = None,
    accumulate: bool = True,
) -> list[Tensor | None]:
    """Send each root's cotangent through the graph; None is an undefined one.

    With `targets`, only nodes that lead to one of them run. Unless `accumulate`, leaves keep
    their ``grad``, and the gradients that arrive at the targets are returned in their order.
    """
    # Walks nest: a hook or a custom backward may start another.
    state = modes.__dict__
    outer = state["walk"]
    kind = _WalkInOrder if hooked_leaves else _Walker
    walker = kind(keep_graph, targets, accumulate, 0 if outer is None else outer.depth + 1)
    if outer is not None:
        if outer.abandoned:
            raise RuntimeError("a walk around this one was interrupted")
        walker.abandoned = outer.abandoned
    for root, cotangent in roots:
        if isinstance(root, Tensor):
            edge = root._node or root._accumulator()
            if overriding and isinstance(root, tuple(overriding)) and root._sparse is None:
                walker.overrides = False  # All of the walk is one operation on an instance.
        else:
            edge = _edge_to(root)
        walker.roots.append(edge)
        walker.deposit(edge, cotangent)
    hooks, overrides = state["saved_tensor_hooks"], state["overrides"]
    before = state["grad"], state["grad_in_inference"]
    state["grad"], state["grad_in_inference"] = (
        create_graph and not state["inference"],
        create_graph,
    )
    state["walk"], state["overrides"] = walker, False
    try:
        if walker.depth % _NESTED_IN_ONE_THREAD or not walker.depth:
            walker.run()
        else:
            _call_in_new_thread(walker.run, walker.abandoned)
        # A callback may add another.
        for callback in walker.callbacks:
            callback()
    except BaseException:
        walker.run_complete_leaves()
        raise
    finally:
        state["grad"], state["grad_in_inference"] = before
        state["walk"], state["overrides"] = outer, overrides
        if state["saved_tensor_hooks"] is not hooks:
            # A hook that the walk ran entered or left a block of them.
            modes.saved_tensor_hooks = hooks
            _new_nodes.update()
    return walker.captured


def _call_in_new_thread(function: Callable[[], None], abandoned: list[bool]) -> None:
    """Call `function` in a thread of its own, under the modes of this one, and wait for it.

    Whoever waits may be interrupted, but not the thread, in which walks may nest without an end:
    that it is `abandoned` ends them.
    """
    held = dict(vars(modes))
    raised: list[BaseException] = []

    def run() -> None:
        vars(modes).update(held)
        try:
            function()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_SECONDS_UNHEARD)
    except BaseException:
        abandoned.append(True)
        raise
    if raised:
        raise raised.pop()


def _edge_to(root: GradientEdge) -> Node:
    node, number = root.node, root.output_nr
    return node if node._outputs == 1 else OutputEdge(node, number)


class _Walker:
    """The state of one walk."""

    __slots__ = (
        "_reachable", "abandoned", "accumulate", "callbacks", "captured", "captures", "depth",
        "ends", "grads", "heap", "keep_graph", "nodes", "number", "overrides", "owned", "roots",
        "running", "wanted",
    )  # fmt: skip

    captures: dict[int, list[tuple[int, int]]] | None
    """Order of a node -> (position among the targets, output number) of each target there."""
    captured: list[Tensor | None]
    ends: Sequence[Node]
    """Nodes of the targets: a leaf that is itself a root has its end nowhere else."""
    wanted: set[int] | None
    running: Node | None
    """The node that runs."""
    _reachable: set[int] | None

    def __init__(
        self, keep_graph: bool, targets: Sequence[Root] | None, accumulate: bool, depth: int
    ) -> None:
        self.keep_graph = keep_graph
        self.accumulate = accumulate
        self.number = next(_walk_numbers)
        self.overrides = modes.overrides
        """Whether users' subclasses of Tensor saw the operations before the walk, as they do in the
        users' own steps of it."""
        self.depth = depth
        """How many walks this one is in."""
        self.abandoned: list[bool] = []
        """Not empty once nobody waits for this walk any more; shared by those within."""
        self.callbacks: list[Callable[[], Any]] = []
        """Called at the end."""
        self.roots: list[Node] = []
        # Orders alone: integers compare quickly, and nodes do not compare at all.
        self.heap: list[int] = []
        self.nodes: dict[int, Node] = {}
        self.grads: dict[int, Any] = {}
        self.owned: set[int] = set()
        """Orders whose gradient so far is a sum that nothing else refers to."""
        self.captures = self.wanted = self.running = self._reachable = None
        self.ends = ()
        self.captured = []
        if targets is not None:
            self._aim_at(targets)

    def _aim_at(self, targets: Sequence[Root]) -> None:
        captures: dict[int, list[tuple[int, int]]] = {}
        ends = []
        for position, target in enumerate(targets):
            node, number = (
                target[:2] if isinstance(target, GradientEdge) else node_and_number(target)
            )
            ends.append(node)
            order = node._order
            if order in captures:
                captures[order].append((position, number))
            else:
                captures[order] = [(position, number)]
        self.captured = [None] * len(ends)
        self.captures, self.ends = captures, ends

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
        self._plan()
        heap, nodes, grads, wanted = self.heap, self.nodes, self.grads, self.wanted
        owned, release, anomaly = self.owned, not self.keep_graph, modes.anomaly
        while heap:
            order = heappop(heap)
            node = nodes.pop(order)
            grad = grads.pop(order)
            hooks = node._hooks
            if wanted is not None and not self._proceed(node, order, grad):
                continue
            self.running = node
            if hooks is not None:
                grad = run_pre_hooks(node, hooks, grad)
            results = node._vjp(grad, wanted) if not anomaly else run_watched(node, grad, wanted)
            hooks = node._hooks  # it may have got its first while it ran
            if hooks is not None and hooks.after:
                results = run_post_hooks(node, hooks, results, grad)
            if release:
                node._release()
            for edge, result in zip(node._edges, results):
                order = edge._order
                if wanted is not None and order not in wanted:
                    continue
                if order in owned and result.__class__ is Tensor is grads[order].__class__:
                    array = grads[order]._array  # `_add` written out
                    array += result._array
                elif result is None or order in grads or edge.__class__ is OutputEdge:
                    self.deposit(edge, result)
                else:  # `deposit` written out for the first gradient to arrive: the hot path
                    grads[order] = result
                    nodes[order] = edge
                    heappush(heap, order)
            # A leaf takes a gradient that nothing else refers to.
            results = result = None

    def run_complete_leaves(self) -> None:
        """After an error, run the leaves that torch, which does not run them last, has run."""
        ahead = [node for node in self.nodes.values() if node._edges]
        if self.running is not None:
            ahead.append(self.running)
        reachable = _reachable(ahead, oldest=None)
        for order, node in self.nodes.items():
            wanted = self.accumulate and (self.wanted is None or order in self.wanted)
            if wanted and not node._edges and order not in reachable:
                node._vjp(self.grads[order], None)

    def _plan(self) -> None:
        """Find the nodes that lead to a target."""
        if self.captures is not None:
            self.wanted = _leading_to(self.captures, self.nodes.values())

    def reachable(self) -> dict[int, Node]:
        """Order -> node, for all that the roots lead to."""
        return _reachable(self.roots, oldest=None)

    def will_run(self, node: Node) -> bool:
        """Return True if this walk runs, or ran, a node; False for an only root, as in torch.

        Raises:
            RuntimeError: it is a leaf whose gradient is only returned.
        """
        if self._reachable is None:
            self._reachable = set(self.reachable())
            if len(self.roots) == 1:
                self._reachable.remove(self.roots[0]._order)
        if node._order not in self._reachable:
            return False
        if self.wanted is None:
            return True
        if node._order in self.wanted and not (node._edges or self.accumulate):
            raise RuntimeError(
                "A leaf node was passed to _will_engine_execute_node but we are currently "
                "running autograd.grad(). This is currently not supported."
            )
        return node._order in self.wanted

    def in_order(self) -> list[Node]:
        """The nodes that this walk runs, in the order in which torch runs them."""
        queue, coming = ReadyQueue(), arrivals(self.roots)
        nodes, ordered = self.reachable(), []
        for edge in self.roots:
            _arrive(edge, coming, queue)
        while queue:
            node = nodes[queue.pop()]
            ordered.append(node.shown())
            for edge in node._edges:
                if self.wanted is None or edge._order in self.wanted:
                    _arrive(edge, coming, queue)
        return ordered

    def _proceed(self, node: Node, order: int, grad: Any) -> bool:
        """Capture the gradients of targets at a node; return True if the node is to run."""
        captures, wanted = self.captures, self.wanted
        assert captures is not None
        assert wanted is not None
        here = captures.get(order)
        if here is None and order in wanted:
            return True
        runs = _leads_to(node, wanted)
        if here is None:
            # As in torch: the hooks of an only root run even if it leads to no target.
            if not runs and node._hooks is not None and len(self.roots) == 1:
                run_tensor_hooks(node, node._hooks, grad)
            return runs
        if self.accumulate:
            return True
        # `grad` returns what the tensor's hooks made of it, unless they are to run with the node.
        if not runs and node._hooks is not None:
            grad = run_tensor_hooks(node, node._hooks, grad)
        for position, number in here:
            self.captured[position] = grad[number] if isinstance(grad, list) else grad
        return runs


def _leads_to(node: Node, wanted: set[int]) -> bool:
    """Return True if an edge of the node is to a node among these orders."""
    for edge in node._edges:  # noqa: SIM110 - a generator takes longer
        if edge._order in wanted:
            return True
    return False


class _WalkInOrder(_Walker):
    """A walk that runs leaves when torch would, as hooks on them tell the difference."""

    def run_complete_leaves(self) -> None:
        """Run none: they have been run as they became complete."""

    def run(self) -> None:
        """Run nodes until none is left."""
        self._plan()
        queue, coming = ReadyQueue(), arrivals(self.roots)
        for edge in self.roots:
            _arrive(edge, coming, queue)
        while queue:
            order = queue.pop()
            self._run_node(self.nodes.pop(order), self.grads.pop(order), coming, queue)

    def _run_node(self, node: Node, grad: Any, coming: dict[int, int], queue: ReadyQueue) -> None:
        hooks, wanted = node._hooks, self.wanted
        if wanted is not None and not self._proceed(node, node._order, grad):
            return
        self.running = node
        if hooks is not None:
            grad = run_pre_hooks(node, hooks, grad)
        run = run_watched if modes.anomaly else type(node)._vjp
        results = run(node, grad, wanted)
        hooks = node._hooks
        if hooks is not None and hooks.after:
            results = run_post_hooks(node, hooks, results, grad)
        if not self.keep_graph:
            node._release()
        for edge, result in zip(node._edges, results):
            if wanted is None or edge._order in wanted:
                self.deposit(edge, result)
                _arrive(edge, coming, queue)


def _arrive(edge: Node, coming: dict[int, int], queue: ReadyQueue) -> None:
    """Count a gradient that arrived; the node is ready once all have."""
    coming[edge._order] -= 1
    if not coming[edge._order]:
        queue.push(edge._order)


def _leading_to(captures: dict[int, Any], roots: Iterable[Node]) -> set[int]:
    """Orders of the nodes from which a captured node can be reached, those included."""
    oldest = max(captures, default=0)
    ends: list[int] = []
    reached = _reachable(roots, oldest, ends)
    if captures.keys() >= set(ends):
        return {*captures, *reached}  # The usual case: all leaves are targets.
    wanted = set(captures)
    # Oldest first, so that what a node leads to is decided before the node.
    for order in sorted(reached, reverse=True):
        if _leads_to(reached[order], wanted):
            wanted.add(order)
    return wanted


def _reachable(
    roots: Iterable[Node], oldest: int | None, ends: list[int] | None = None
) -> dict[int, Node]:
    """Order -> node, for what the roots lead to, down to the age of `oldest`.

    The orders at which the search ends, that of a leaf or one beyond `oldest`, go to `ends`.
    """
    reached: dict[int, Node] = {}
    found: list[int] = [] if ends is None else ends
    stack = list(roots)
    while stack:
        edge = stack.pop()
        node = edge.node if isinstance(edge, OutputEdge) else edge
        order = node._order
        # Edges lead to older nodes only: beyond the oldest target there is none.
        if order in reached:
            continue
        if oldest is not None and order > oldest:
            found.append(order)
            continue
        reached[order] = node
        edges = node._edges
        if edges:
            stack.extend(edges)
        else:
            found.append(order)
    return reached


class _Counter(Tensor):
    """A leaf that counts the references to the gradient it is given."""

    def _accumulate(self, grad: Tensor) -> None:
        unshared.count = getrefcount(grad)


class _Source(Node):
    """A node that makes a gradient which nothing else refers to."""

    def __init__(self, leaf: Tensor) -> None:
        self._order, self._hooks = next_order(), None
        self._edges = (leaf._accumulator(),)

    def _vjp(self, grad: Tensor | None, wanted: set[int] | None) -> list[Tensor | None]:
        return [wrap(np.zeros(1))]


def _count_unshared() -> None:
    leaf = _Counter(1).requires_grad_()
    source = _Source(leaf)
    walk([(GradientEdge(source, 0), wrap(np.zeros(1)))], keep_graph=True, create_graph=False)


# Measured, as versions of Python differ in it.
_count_unshared()
