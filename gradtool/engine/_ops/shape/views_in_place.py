"""Changes of shape in place: the tensor becomes a view of what it was.

A view stays one of its base, with a step more. What becomes a view of itself is the base of its
views all the same: they go back by the inverse of the step before their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradtool.engine._lazy import share
from gradtool.engine._levels import stand_in
from gradtool.engine._levels.mutation import check_change
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.inplace import check_in_place
from gradtool.engine._ops.core.node_names import Namer, give_name, numbered
from gradtool.engine._ops.core.op import METHODS, method
from gradtool.engine._ops.indexing.strided import as_strided, place_by_strides
from gradtool.engine._tensor import Tensor, alias


def _becoming(name: str, node: Namer) -> Callable[..., Tensor]:
    """The in-place form of a function that returns a view."""
    viewed = as_strided if name == "as_strided" else METHODS[name]

    def become(x: Tensor, *args: Any, **named: Any) -> Tensor:
        check_in_place(x)
        if modes.levels:
            check_change(x, f"{name}_", ())
        view: Tensor = viewed(x, *args, **named)
        lost = [] if x._view is not None else _lead_back(x, viewed, args, named)
        if _turn_into(x, view):
            shown = node if isinstance(node, str) else node(x, *args, **named)
            give_name(x, shown or "")
        for each in lost:
            place_by_strides(each, each._view)  # type: ignore[arg-type]  # it has one
        return x

    become.__name__ = become.__qualname__ = f"{name}_"
    become.__doc__ = f"`{name}`, of the tensor itself."
    return become


def _turn_into(x: Tensor, view: Tensor) -> bool:
    """Let `x` be what `view` is, the same memory in another shape; return True if recorded."""
    node, held, seen = view._node, x._view, view._view
    share(x, view)
    if x._level is not None:
        # Once its level is left, the view of a dual tensor is one of its primal.
        x.__dict__.update({"_value": view} if view._level is None else view.__dict__)
        x._view = held  # a dual tensor has that of its primal, which was replaced
    x._bump()
    if held is not None and seen is not None and not held.is_of_parts():
        held.steps = seen.steps
    if node is None or not modes.grad:
        return False
    x._node, x._requires_grad = node, True
    if held is not None:
        held.version = x._shared_storage().version
    return True


def _lead_back(x: Tensor, viewed: Callable[..., Tensor], args: Any, named: Any) -> Sequence[Tensor]:
    """Put the inverse of a step before those of each view of `x`; return the views without one.

    The inverse of a step that shows not all of the elements is no view.
    """
    views = [] if x._storage is None else x._storage.living_views()
    held = [each for each in views if each._view is not None and each._view.base is x]
    if not held or viewed is as_strided:
        return held
    array = stand_in(x._array)
    before = alias(array)
    before._requires_grad, recording = True, modes.grad
    modes.grad = True
    try:
        node: Any = viewed(before, *args, **named)._node
        (back,) = node._vjp(alias(viewed(alias(array), *args, **named)._array), None)
    finally:
        modes.grad = recording
    if back._view is None:
        return held
    for each in held:
        each._view.steps = back._view.steps + each._view.steps  # type: ignore[union-attr]  # above
    return ()


def _squeeze_overload(_x: Any, dim: Any = None) -> int:
    return 3 if dim is None else 5 if isinstance(dim, tuple | list) else 4


_NODES: dict[str, Namer] = {
    "as_strided": "AsStridedBackward1",
    "squeeze": numbered("Squeeze", _squeeze_overload),
    "swapaxes": "TransposeBackward1",
    "swapdims": "TransposeBackward1",
    "t": "TBackward1",
    "transpose": "TransposeBackward1",
    "unsqueeze": "UnsqueezeBackward1",
}
for _name, _node in _NODES.items():
    method()(_becoming(_name, _node))
