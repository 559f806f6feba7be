"""Saved tensors as users see them: `SavedTensor`, and hooks on a single one of them."""

from __future__ import annotations

from typing import Any, Protocol

from gradtool.engine.autograd._new_nodes import Packed, Packer
from gradtool.engine.autograd._node import FREED, FREED_MESSAGE, Node

_new = object.__new__

_FREED_BEFORE = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values "
    "of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to "
    "access saved variables after calling backward."
)


class _Saving(Protocol):
    """A node with saved tensors."""

    def _saved_at(self, slot: int) -> Any:
        """The tensor, what a hook made of it, None, or `FREED`."""

    def _pack_at(self, slot: int, pack: Packer) -> None:
        """Replace the tensor by the result of `pack`."""


class SavedTensor:
    """One of the tensors that a node saved: ``grad_fn._raw_saved_self``."""

    __slots__ = ("_node", "_slot")

    _node: _Saving
    _slot: int

    def __init__(self, *_: Any) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    @classmethod
    def of(cls, node: Any, slot: int) -> SavedTensor:
        """The saved tensor of a node in one of its places."""
        saved = _new(cls)
        saved._node, saved._slot = node, slot
        return saved

    def register_hooks(self, *hooks: Any) -> None:
        """Keep what the first hook makes of the tensor; the second makes it the tensor again.

        Raises:
            TypeError: there are not two functions.
            RuntimeError: it has hooks, was freed, or is None; or the first hook changes it.
        """
        if len(hooks) != 2 or not all(map(callable, hooks)):
            raise TypeError(
                "register_hooks(): incompatible function arguments. The following argument types "
                "are supported:\n    1. (self: torch._C._autograd.SavedTensor, arg0: "
                "collections.abc.Callable, arg1: collections.abc.Callable) -> None\n\n"
                f"Invoked with: {', '.join(map(repr, (self, *hooks)))}"
            )
        held = self._node._saved_at(self._slot)
        if held is FREED:
            raise RuntimeError(_FREED_BEFORE)
        if held is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor with value None is forbidden"
            )
        if isinstance(held, Packed):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. "
                "Hint: only one pair of hooks is allowed at a time."
            )
        self._node._pack_at(self._slot, lambda tensor, shown=None: Packed(tensor, *hooks, shown))

    def unpack(self) -> Any:
        """The tensor, made again by the second hook if there is one.

        Raises:
            RuntimeError: it was freed.
        """
        held = self._node._saved_at(self._slot)
        if held is FREED:
            raise RuntimeError(FREED_MESSAGE)
        return held.restore() if isinstance(held, Packed) else held

    @property
    def data(self) -> Any:
        """The tensor kept, or the result of the first hook; None once it was freed."""
        held = self._node._saved_at(self._slot)
        if isinstance(held, Packed):
            return held.content
        return None if held is FREED else held

    @property
    def unpack_hook(self) -> Any:
        """The second hook, or None."""
        held = self._node._saved_at(self._slot)
        return held.unpack if isinstance(held, Packed) else None


def raw_saved(node: Node, count: int) -> tuple[SavedTensor, ...]:
    """The first so many saved tensors of a node."""
    return tuple([SavedTensor.of(node, slot) for slot in range(count)])
