"""A tensor kept for the backward walk by a custom Function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gradtool.engine._ops.core.primitive_node import modified_in_place
from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine.autograd._packing import Packed
    from gradtool.engine.autograd.function import BackwardCFunction


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
            self.tensor = tensor._bare()
            self.tensor._requires_grad = tensor._requires_grad
        self.version = tensor._version
        self.packed: Packed | None = None

    def pack(self, pack: Callable[[Tensor], Packed]) -> None:
        """Keep what the pack hook makes of the tensor in its place."""
        self.packed = pack(self.tensor)
        if self.number is not None:
            self.packed.edge = None
        del self.tensor

    def unpack(self, node: BackwardCFunction) -> Tensor:
        """The tensor again; an output of `node`, which saved it, in its place in the graph.

        Raises:
            RuntimeError: it was changed in place since.
        """
        tensor = self.tensor if self.packed is None else self.packed.restore()
        storage = tensor._storage
        if self.packed is None and storage is not None and storage.version != self.version:
            raise modified_in_place(tensor, self.version, tensor if self.number is None else node)
        if self.number is None:
            return tensor
        output = tensor._bare()
        if tensor._requires_grad:
            output._node = node._output_edge(self.number)
            output._requires_grad = True
        return output
