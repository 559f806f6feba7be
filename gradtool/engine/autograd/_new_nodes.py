"""Treatment of new nodes while saved-tensor hooks or anomaly mode are in force.

Saved tensors are given to the user's pack hook, and come back from the unpack hook. In anomaly
mode the traceback of each node's making is kept.
"""

from __future__ import annotations

import itertools
import sys
import traceback
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, overload

from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._node import AccumulateGrad

if TYPE_CHECKING:
    from gradtool.engine.autograd._node import Node

PackHook = Callable[[Tensor], Any]
UnpackHook = Callable[[Any], Tensor]


_CHANGED = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack "
    "hook cannot be modified by in-place operations as this can lead to unexpected side-effects. "
    "Please open an issue if you need to perform in-place operations on the input to a pack hook."
)


class Packed:
    """The result of the pack hook for a saved tensor, and the tensor's place in the graph."""

    __slots__ = ("content", "edge", "requires_grad", "shares", "unpack")

    def __init__(
        self, tensor: Tensor, pack: PackHook, unpack: UnpackHook, shown: Tensor | None = None
    ) -> None:
        """Pack a tensor; the hook gets it itself, or `shown` in its place."""
        self.requires_grad = tensor._requires_grad
        self.edge: Node | None = None
        if tensor._requires_grad:
            self.edge = tensor._node or tensor._accumulator()
        recording = modes.grad
        version = tensor._version
        # What the hook computes is no part of the graph.
        modes.grad = False
        try:
            given = tensor if shown is None else shown
            self.content = pack(given)
            self.shares = getattr(self.content, "_array", None) is given._array
        finally:
            modes.grad = recording
        if tensor._version != version:
            raise RuntimeError(_CHANGED)
        self.unpack = unpack

    def follow(self, output: Tensor) -> None:
        """Let what a hook packed uncopied have the memory that its values were written to."""
        if self.shares:
            self.content._array = output._array
            self.content._storage = output._shared_storage()

    def restore(self) -> Tensor:
        """Return the tensor, connected to the graph as before.

        Raises:
            TypeError: the unpack hook returned something else.
        """
        value = self.unpack(self.content)
        if not isinstance(value, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                f"type {type(value).__name__}"
            )
        if self.edge is None and not (self.requires_grad or value._requires_grad):
            return value
        # A new tensor: the hook may return one that it still holds.
        restored = value._alias(value._storage)
        restored._requires_grad = self.requires_grad
        if isinstance(self.edge, AccumulateGrad):
            restored._leaf_node = weakref.ref(self.edge)
            # The tensor refers to it weakly otherwise.
            restored.__dict__["_hooked_accumulator"] = self.edge
        else:
            restored._node = self.edge
        return restored


Packer = Callable[..., Packed]
"""Packs a tensor, which the hook gets itself, or the one that follows in its place."""


def packer() -> Packer:
    """Return a function that packs by the hooks in force."""
    pack, unpack = modes.saved_tensor_hooks[-1]
    if pack is cloned:
        return cloning
    return lambda tensor, shown=None: Packed(tensor, pack, unpack, shown)


def cloned(tensor: Tensor) -> Tensor:
    """Keep a copy, as the pack hook of a recording."""
    return tensor.clone()


def unchanged(packed: Any) -> Any:
    """Return what was kept, as the unpack hook of a recording."""
    return packed


def cloning(tensor: Tensor, shown: Tensor | None = None) -> Packed:
    """Pack a copy. A node that keeps copies by itself, for less, tells it by this packer."""
    return Packed(tensor, cloned, unchanged, shown)


Positions = tuple[int | None, int | None, int | None, int | None]
"""The first and last line, then the first and last column, of the code that an instruction runs."""
Place = tuple[str, int, Positions]

TRACEBACK, PARENT = "traceback_", "parent_"
"""Keys of a node's `metadata` in anomaly mode: lines, and the node that ran when it was made."""


def update() -> None:
    """Watch new nodes if hooks or anomaly mode require it."""
    modes.watch = _watch if modes.saved_tensor_hooks or modes.anomaly else None


@contextmanager
def unwatched() -> Iterator[None]:
    """Leave the nodes that are made in the block to themselves: no user's operation is recorded."""
    watch, modes.watch = modes.watch, None
    try:
        yield
    finally:
        modes.watch = watch


def _watch(node: Node) -> None:
    if modes.saved_tensor_hooks:
        node._pack_saved(packer())
    if modes.anomaly:
        # The last two frames are this function and the engine's that called it.
        node.metadata[TRACEBACK] = _Stack(sys._getframe(2))
        running = None if modes.walk is None else modes.walk.running
        if running is not None:
            node.metadata[PARENT] = running.shown()


class _Stack(Sequence[str]):
    """The lines of `traceback.format_stack`, each formatted when it is asked for.

    Nodes are many, and few of them are asked where they were made.
    """

    def __init__(self, frame: FrameType) -> None:
        found = traceback.walk_stack(frame)
        self._frames = [(each.f_code, line, each.f_lasti) for each, line in found][::-1]

    def __len__(self) -> int:
        return len(self._frames)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        code, line, _ = self._frames[at]
        return traceback.format_list([(code.co_filename, line, code.co_name, None)])[0]

    def places(self) -> Iterator[Place]:
        """Yield the file, the line and the positions of each frame, the innermost first."""
        for code, line, instruction in reversed(self._frames):
            # An instruction takes two bytes.
            yield code.co_filename, line, _nth(code.co_positions(), instruction // 2)


def _nth(positions: Iterable[Positions], at: int) -> Positions:
    return next(itertools.islice(positions, at, None))
