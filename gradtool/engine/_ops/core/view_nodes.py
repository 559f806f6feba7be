"""Nodes of views in a graph that in-place changes rewrote.

Once a view was written to, its base is "the old base with this view's region replaced", a
`CopySlices`. The place of every view of it is then derived from the base by `ViewAgain`: one
node, whichever steps lead from the base to the view.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._levels import stand_in
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.by_steps import reach, with_steps
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._tensor import Tensor, alias
from gradtool.engine._views import Steps, View, replay
from gradtool.engine.autograd._node import (
    FREED_MESSAGE,
    Gradients,
    Node,
    Nowhere,
    OutputInfo,
    class_named,
    hooks_of,
    next_order,
    node_and_number,
)

if TYPE_CHECKING:
    from gradtool.engine._levels import BatchLevel


_DONE_AGAIN = ("conj", "neg_view", "view_as_complex", "view_as_real")


class ViewAgain(Node):
    """A view of what its base is now."""

    __slots__ = ("chain", "info", "last", "replayed")

    chain: Sequence[Node]
    """The node of each step, the last one first."""
    info: OutputInfo
    """Properties of the view, known once a tensor was asked for its node."""
    replayed: bool
    """The steps are shown as they were taken, not as one."""
    last: Any
    """Of a view that was overwritten, the elements whose gradients are kept: a flag for each.

    None keeps all. Elements that share memory were one before, so that one gradient stands for all.
    """

    def __init__(self, edge: Node, view: View, last: Any = None) -> None:
        self.chain, self.last = _chain(view), last
        self.replayed = modes.view_replay
        self._order = next_order()
        self._edges = (edge,)
        self._hooks = None

    def _vjp(self, grad: Tensor | None, wanted: set[int] | None) -> Gradients:
        """The gradient of the base: zero around the view."""
        if grad is not None and self.last is not None:
            grad = grad.masked_fill(grad.new_tensor(~self.last, dtype=_dtypes.bool_), 0)
        for node in self.chain:
            (grad,) = node._vjp(grad, None)
        return (grad,)

    def shown(self, output: Tensor | None = None) -> Node:
        """The node as users get it."""
        if self.__class__ is ViewAgain:
            self.__class__ = class_named(ViewAgain, self._name())
        if output is not None:
            self.info = OutputInfo.of(output)
        return self

    @property
    def _input_metadata(self) -> tuple[OutputInfo, ...]:
        return (self.info,) if hasattr(self, "info") else ()

    def _name(self) -> str:
        """As torch names it: a step that is not a matter of strides is done again."""
        node: Any = self.chain[0]
        again = self.replayed or node.plan.primitive.name in _DONE_AGAIN
        return node._name() if again else "AsStridedBackward0"


def _chain(view: View) -> list[Node]:
    """Record the steps of a view over a stand-in for the base."""
    base = alias(stand_in(view.base._array))
    base._requires_grad, base._node = True, Nowhere()
    recording = modes.grad
    modes.grad = True
    try:
        node: Any = view.replay(base)._node
    finally:
        modes.grad = recording
    chain = []
    while node is not base._node:
        chain.append(node)
        (node,) = node._edges
    return chain


def end_of(base: Tensor) -> Node:
    """Return the node that the gradient of a base goes to; one that drops it if it needs none."""
    if not base._requires_grad:
        return Nowhere()
    return base._current_node() or base._accumulator()


def renew(tensor: Tensor, view: View) -> None:
    """Derive the place of an outdated view in the graph from its base."""
    base = view.base
    tensor._node = ViewAgain(end_of(base), view)
    tensor._requires_grad = True
    view.version = tensor._shared_storage().version
    outdated, view.outdated = view.outdated, None
    if outdated is not None:
        keep_retaining(tensor, outdated)


def keep_retaining(tensor: Tensor, outdated: Node) -> None:
    """Keep the gradient of a tensor, if that was asked for, where its new node gets it."""
    number = getattr(outdated, "number", 0)
    hooks = getattr(outdated, "node", outdated)._hooks
    held = None if hooks is None else hooks.retain.get(number)
    if hooks is not None and held is not None and held() is tensor:
        del hooks.retain[number]
        node, number = node_and_number(tensor)
        hooks_of(node).retain[number] = held


class CopySlices(Node):
    """A base after one of its views was overwritten, of the base before and the overwriting."""

    __slots__ = ("info", "steps")

    steps: Steps | None
    """The steps from the base to the view; None once the graph was freed."""

    def __init__(self, before: Node, overwriting: Node | None, view: View) -> None:
        # Not the view, whose base refers to this node.
        self.steps = view.steps
        self.info = OutputInfo.of(view.base)
        self._edges = (before,) if overwriting is None else (before, overwriting)
        self._order = next_order()
        self._hooks = None

    def _vjp(self, grad: Tensor | None, wanted: set[int] | None) -> Gradients:
        """The gradient around the view, and that within it."""
        if grad is None:
            return [None] * len(self._edges)
        if self.steps is None:
            raise RuntimeError(FREED_MESSAGE)
        _check_within(grad, self.steps)
        return (_around(grad, steps=self.steps), replay(self.steps, grad))

    def _release(self) -> None:
        """Drop the steps: as in torch it is not walked again, whatever the overwriting saved."""
        self.steps = None

    def name(self) -> str:
        """The name of torch's class in C++."""
        return f"torch::autograd::{self._name()}"

    @property
    def _input_metadata(self) -> tuple[OutputInfo, ...]:
        return (self.info,)

    def _shown_edges(self) -> Sequence[Node | None]:
        """The base before, and what else the overwriting took: both are one node in torch."""
        before, *overwriting = self._edges
        others = [edge for node in overwriting for edge in node._shown_edges()]
        at_first = others and (others[0] is None or _leads_to(others[0], before))
        return [before, *(others[1:] if at_first else others)]


def _check_within(base: Tensor, steps: Steps) -> None:
    """Refuse a view by strides of what is not as large as the base was.

    Raises:
        RuntimeError: the view reaches beyond it.
    """
    primitive, params = steps[0]
    if primitive.name != "as_strided" or 0 in params["size"]:
        return
    size, stride, offset = (params[name] for name in ("size", "stride", "offset"))
    end, held = offset + reach(size, stride), reach(base.shape, params["layout"])
    if end > held:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
            f"itemsize {base.itemsize} requiring a storage size of {end * base.itemsize} are out "
            f"of bounds for storage of size {held * base.itemsize}"
        )


def _leads_to(edge: Node, before: Node) -> bool:
    """Return True for what the view was as part of the base before."""
    return isinstance(edge, ViewAgain) and edge._edges[0] is before


def _around_view(x: Any, *, steps: Steps) -> Any:
    """A copy with zeros in the region of a view."""
    layout = steps[0][1].get("layout")
    region = out = x.copy() if layout is None else with_steps(x, layout)
    for primitive, params in steps:
        region = primitive.compute(region, **params)
    region[...] = 0
    return out


def _around_examples(
    level: BatchLevel, _primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor | None:
    from gradtool.engine._ops.elementwise.complex_parts import complex as joined

    x = level.below(args[0])
    kept = _around_view(np.full(x.shape[1:], 1 + 1j if x.is_complex() else 1), **params)

    def around(part: Tensor, kept: Any) -> Tensor:
        zeroed: Tensor = part.masked_fill(part.new_tensor(kept == 0, dtype=_dtypes.bool_), 0)
        return zeroed

    # The view may be of one part of each complex number.
    return (
        joined(around(x.real, kept.real), around(x.imag, kept.imag))
        if x.is_complex()
        else (around(x, kept))
    )


_around: Any = linear(
    "around_view", _around_view, lambda g, steps: _around(g, steps=steps), batch=_around_examples
)
