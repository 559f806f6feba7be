"""Whether what a call makes dies with its outputs."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from gradtool.adapters.common.bound import BoundFunction
from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import Leak, Primals


def leak(bound: BoundFunction, primals: Primals) -> Leak | None:
    """Why the nodes of the outputs, a Function's ctx among them, outlive a call's outputs.

    None where they do not, or there are none. The garbage collector stands still meanwhile.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        nodes = _nodes_of_a_call(bound, primals)
        if all(node() is None for node in nodes):
            return None
        gc.collect()
        return "cycle" if all(node() is None for node in nodes) else "held"
    finally:
        if was_enabled:
            gc.enable()


def _nodes_of_a_call(bound: BoundFunction, primals: Primals) -> list[weakref.ref[Any]]:
    """Weak references to the graph's nodes; everything else of the call is dropped."""
    with library().torch.enable_grad():
        _, tensors = bound.arguments.tracked(primals)
        outputs = bound(tensors)
    nodes = [each.grad_fn for each in outputs if each is not None]
    return [weakref.ref(node) for node in nodes if _is_watchable(node)]


def _is_watchable(node: Any) -> bool:
    """Whether there can be a weak reference to it: PyTorch's own nodes, in C++, allow none."""
    return getattr(type(node), "__weakrefoffset__", 0) > 0
