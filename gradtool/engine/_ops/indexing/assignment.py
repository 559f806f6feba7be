"""``x[key] = value``, and `index_put_`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine._lazy import memory
from gradtool.engine._levels import highest
from gradtool.engine._levels.mutation import check_change
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.inplace import before_change, check_in_place, replace
from gradtool.engine._ops.core.node_names import give_name
from gradtool.engine._ops.core.op import method
from gradtool.engine._ops.core.overlap import (
    check_apart,
    check_distinct_elements,
    check_overlap,
    repeats,
    shares_places,
)
from gradtool.engine._ops.core.primitive_node import PrimitiveNode
from gradtool.engine._ops.core.scalars import scalar_for
from gradtool.engine._ops.indexing.indexing import fitted, place_of, put, put_key
from gradtool.engine._ops.indexing.keys import Key, parsed
from gradtool.engine._ops.indexing.views import take_slice
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._node import FREED, FREED_MESSAGE, Gradients, Node, class_named


def setitem(x: Tensor, key: Any, value: Any) -> None:
    """Write `value`, broadcast, over the elements that `key` picks.

    Raises:
        IndexError: the key is out of range or has too many indices.
        RuntimeError: `x` is a leaf that requires a gradient, or is expanded; or the value is
            of another dtype where tensors of indices pick, or is complex where `x` is real.
        TypeError: the value is None.
    """
    if value is None:
        raise TypeError(f"can't assign a NoneType to a {x.type()}")
    value = beside(x, scalar_for(x, value))
    if key is False:
        return
    found = parsed(x, None if key is True else key)
    # What is no part of `x` is changed as `x` itself, which may not know yet that it has a node.
    is_part = not (found.is_trivial or found.indices)
    if is_part and modes.grad and x._requires_grad and x._current_node() is None:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )
    check_in_place(x)
    if modes.levels:
        check_change(x, "index_put_" if found.indices else "copy_", (value, *found.indices))
    if isinstance(value, Tensor) and found.indices:
        value = _without_leading_ones(value)
    _assign(x, found, value)


@method()
def index_put_(x: Tensor, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """`index_put`, written over the tensor itself."""
    check_in_place(x)
    found = put_key(x, indices)
    if modes.levels:
        check_change(x, "index_put_", (values, *found.indices))
    if not isinstance(values, Tensor):
        values = x.new_tensor(values)
    if accumulate:
        _check_memory(x, found, values)
        values = fitted(x, found, values, accumulate)
        return replace(x, put(before_change(x, (values,)), found, values, accumulate), True)
    _assign(x, found, values)
    return x


def _assign(x: Tensor, key: Key, value: Any) -> None:
    if isinstance(value, Tensor):
        _check_memory(x, key, value)
        given, value = value, fitted(x, key, value)
    else:
        given = value
    if is_followed(x, given) and _fills_integers(x, key, given):
        take_slice(x, key=key.basic).fill_(given)
        return
    if is_followed(x, value) and shares_places(x) and not key.is_trivial:
        _assign_to_part(x, key, given)
        return
    if is_followed(x, value):
        values = value if isinstance(value, Tensor) else x.new_tensor(value)
        replace(x, put(before_change(x), key, values), bool(key.indices))
        _show_as(x, _node_of(key, x, given))
        return
    place = place_of(x, key)
    if not key.indices:
        check_distinct_elements(x, memory(x)[place])
    elif place is not None:
        repeats(x)
    if place is not None:
        x._put(place, value._array if isinstance(value, Tensor) else value)
    x._bump()


def _assign_to_part(x: Tensor, key: Key, value: Any) -> None:
    """Write to the view that the key picks, for the rest of `x` may show the same memory."""
    part = take_slice(x, key=key.basic)
    if not key.indices:
        part.copy_(value) if isinstance(value, Tensor) else part.fill_(value)
    else:
        _assign(part, key._replace(basic=(slice(None),) * part.ndim), value)


class PartCopied(PrimitiveNode):
    """A change of a part, which torch walks once only, whatever it saved."""

    __slots__ = ()

    def _vjp(self, grad: Tensor | None, wanted: set[int] | None) -> Gradients:
        """The gradients of what there was before and of the value.

        Raises:
            RuntimeError: the graph was freed.
        """
        if self.saved is FREED:
            raise RuntimeError(FREED_MESSAGE)
        return super()._vjp(grad, wanted)

    def _release(self) -> None:
        """Drop what it holds."""
        self.saved = FREED

    def shown(self, output: Tensor | None = None) -> Node:
        """The node as users get it."""
        if self.__class__ is PartCopied:
            self.__class__ = class_named(PartCopied, self._name())
        return super().shown(output)


def _show_as(x: Tensor, name: str) -> None:
    give_name(x, name)
    if name == "CopySlices" and x._node.__class__ is PrimitiveNode:
        x._node.__class__ = PartCopied


def _check_memory(x: Tensor, key: Key, value: Tensor) -> None:
    """Refuse a value, or positions, with some of the memory that is written."""
    read: Sequence[Tensor] = (value, *key.given)
    if not any(each is x or (each._storage and each._storage is x._storage) for each in read):
        return
    target = x if key.indices and key.is_trivial else take_slice(x.detach(), key=key.basic)
    if key.is_mask and value.numel() == 1:
        check_overlap(target, key.given[-1])
    elif key.indices:
        for each in read:
            check_apart(target, each)
    elif value.shape == target.shape:
        check_overlap(target, value)
    elif value.ndim == 0 or value.numel() != target.numel():
        return
    elif target.ndim and target.numel() == 1:  # In torch the value is expanded, with other steps.
        check_apart(target, value)
    else:
        check_overlap(target, _without_leading_ones(value).expand(target.shape))


def _without_leading_ones(value: Tensor) -> Tensor:
    while value.ndim and value.shape[0] == 1:
        value = value.squeeze(0)
    return value


def _fills_integers(x: Tensor, key: Key, value: Any) -> bool:
    """Return True for an element of a graph that is written over integers, which join the graph."""
    return (
        isinstance(value, Tensor)
        and value._requires_grad
        and not (value.ndim or key.indices or x.dtype.is_differentiable)
    )


def _node_of(key: Key, x: Tensor, value: Any) -> str:
    """Return torch's name for it: a change of the view that the key picks, or of the whole."""
    if not key.is_trivial:
        return "CopySlices"
    if key.indices:
        return "IndexPutBackward0"
    is_copy = not x.ndim or (isinstance(value, Tensor) and value.ndim)
    return "CopyBackwards" if is_copy else "FillBackward3"


def beside(x: Tensor, value: Any) -> Any:
    """The value on the device of `x`, to which it is copied from wherever it lies."""
    if isinstance(value, Tensor) and value._array.__class__ is not x._array.__class__:
        return value.to(x.device)
    return value


def is_followed(x: Tensor, value: Any) -> bool:
    """Return True where a graph or a transform has to see the change."""
    if modes.grad and (x._requires_grad or (isinstance(value, Tensor) and value._requires_grad)):
        return True
    return bool(modes.levels) and highest((x, value)) is not None
