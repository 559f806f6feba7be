"""A tensor kept for the backward walk by a custom Function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gradtool.engine._ops._primitive import modified_in_place
from gradtool.engine._tensor import Tensor, alias

if TYPE_CHECKING:
    from gradtool.engine.autograd._node import Node
    from gradtool.engine.autograd._packing import Packed


class SavedTensor:
    """A tensor as it was when saved.

    An output of the node that saves it is kept without its place in the graph, which would
    be a reference cycle, and gets that place back when it is unpacked.
    """

    __slots__ = ("number", "packed", "tensor", "version")

    def __init__(self, tensor: Tensor, output_number: int | None) -> None:
        self.number = output_number
        if output_number is None:
            self.tensor = tensor
        else:
            self.tensor = alias(tensor._array, tensor._shared_storage())
            self.tensor._requires_grad = tensor._requires_grad
        self.version = tensor._version
        self.packed: Packed | None = None

    def pack(self, pack: Callable[[Tensor], Packed]) -> None:
        """Keep what the pack hook makes of the tensor in its place."""
        self.packed = pack(self.tensor)
        del self.tensor

    def unpack(self, node: Node, edge: Node | None) -> Tensor:
        """The tensor again.

        Args:
            node: the node that saved it.
            edge: for an output of `node`, the place in the graph to give it.

        Raises:
            RuntimeError: it was changed in place since.
        """
        tensor = self.tensor if self.packed is None else self.packed.restore()
        if self.packed is not None:
            self.version = tensor._version
        storage = tensor._storage
        if storage is not None and storage.version != self.version:
            raise modified_in_place(tensor, self.version, node.name())
        if self.number is None:
            return tensor
        output = alias(tensor._array, storage)
        if tensor._requires_grad:
            output._node = edge
            output._requires_grad = True
        return output
