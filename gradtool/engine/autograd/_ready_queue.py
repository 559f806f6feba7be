"""The order in which torch runs nodes that are ready, down to its ties between leaves.

A leaf's gradient is accumulated as soon as it is complete, ahead of every other node. Leaves that
are complete at once are equal to the queue, a binary heap: which of them is first depends on how
the heap is kept, so it is kept here as the C++ standard library of torch's builds keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradtool.engine.autograd._node import Node, OutputEdge


class ReadyQueue:
    """Orders of nodes: leaves first, then the newest node."""

    def __init__(self) -> None:
        self._heap: list[int] = []

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, order: int) -> None:
        """Add a node."""
        self._heap.append(order)
        self._rise(len(self._heap) - 1, order)

    def pop(self) -> int:
        """Remove the first node and return it."""
        heap = self._heap
        first, last = heap[0], heap.pop()
        if heap:
            self._rise(self._sink(), last)
        return first

    def _rise(self, place: int, order: int) -> None:
        """Put `order` at a free place, or above it while it is before what is there."""
        heap = self._heap
        while place and _is_before(order, heap[(place - 1) // 2]):
            heap[place] = heap[(place - 1) // 2]
            place = (place - 1) // 2
        heap[place] = order

    def _sink(self) -> int:
        """Move the free place at the top to the bottom, and return where it is then."""
        heap, place = self._heap, 0
        while (child := 2 * place + 1) < len(heap):
            right = child + 1
            if right < len(heap) and not _is_before(heap[child], heap[right]):
                child = right
            heap[place] = heap[child]
            place = child
        return place


def _is_before(one: int, other: int) -> bool:
    """Return True if one node is to run before the other; leaves, of positive order, are equal."""
    return other <= 0 and (one > 0 or one < other)


def arrivals(roots: Iterable[Node]) -> dict[int, int]:
    """Order -> number of gradients that will arrive at the node, those of `roots` included."""
    counts: dict[int, int] = {}
    stack = list(roots)
    while stack:
        edge = stack.pop()
        seen = edge._order in counts
        counts[edge._order] = counts.get(edge._order, 0) + 1
        if not seen:
            stack.extend((edge.node if isinstance(edge, OutputEdge) else edge)._edges)
    return counts
