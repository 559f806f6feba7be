"""Tensors taken apart along a dimension.

The parts are views, each of which a primitive takes. In the graph they are the outputs of one
node, so that its hooks see the gradients of all of them, and the gradient is put together once.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from gradtool.engine._levels import BatchLevel
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.dims import as_ints, wrap_dim
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.indexing.views import take_slice
from gradtool.engine._ops.shape.joining import cat, stack
from gradtool.engine._size import Size
from gradtool.engine._tensor import Tensor
from gradtool.engine._views import SEVERAL, InferenceStorage, Storage
from gradtool.engine.autograd._node import (
    Gradients,
    Node,
    OutputEdge,
    OutputInfo,
    class_named,
    next_order,
)

# ---- the node -------------------------------------------------------------------------------


class Parts(Node):
    """A tensor taken apart."""

    __slots__ = ("_outputs", "dim", "info", "shapes", "title")

    def __init__(self, edge: Node, parts: Sequence[Tensor], dim: int, title: str) -> None:
        self._order = next_order()
        self._edges = (edge,)
        self._hooks = None
        self._outputs = len(parts)
        self.info = OutputInfo.of(parts[0])
        self.shapes = [part._array.shape for part in parts]
        self.dim = dim
        self.title = title

    def _vjp(self, grad: list[Tensor | None], wanted: set[int] | None) -> Gradients:
        """The gradients of the parts put together, zero for those that have none."""
        known = next((each for each in grad if each is not None), None)
        if known is None:
            return [None]
        pairs = zip(grad, self.shapes, strict=True)
        parts = [known.new_zeros(shape) if each is None else each for each, shape in pairs]
        joined = stack if self.title == "UnbindBackward0" else cat
        return [joined(parts, self.dim)]

    def shown(self, output: Tensor | None = None) -> Node:
        """The node as users get it."""
        if self.__class__ is Parts:
            self.__class__ = class_named(Parts, self.title)
        return self

    @property
    def _input_metadata(self) -> tuple[OutputInfo, ...]:
        return tuple(self.info._replace(shape=Size(shape)) for shape in self.shapes)

    def __getattr__(self, name: str) -> Any:
        """Values that torch's nodes save: ``_saved_dim``, ``_saved_split_size`` and so on."""
        if name == "_saved_dim":
            return self.dim
        if self.title != "UnbindBackward0":
            sizes = tuple(shape[self.dim] for shape in self.shapes)
            if name == "_saved_self_sym_sizes":
                shape = list(self.shapes[0])
                shape[self.dim] = sum(sizes)
                return tuple(shape)
            if name == "_saved_split_size":
                return sizes[0]
            if name == "_saved_split_sizes":
                return sizes
        raise AttributeError(f"{self._name()!r} object has no attribute {name!r}")

    def _name(self) -> str:
        return self.title


def _as_outputs(x: Tensor, parts: Sequence[Tensor], dim: int, title: str) -> tuple[Tensor, ...]:
    """Make the parts of `x` outputs of one node, none of which may be changed in place."""
    if not modes.grad:
        return tuple(parts)
    node = None
    for number, part in enumerate(parts):
        if part._view is not None:
            part._view.made = SEVERAL
        if part._node is not None:
            node = node or Parts(x._node or x._accumulator(), parts, dim, title)
            part._node = OutputEdge(node, number)
    if node is not None and modes.watch is not None:
        modes.watch(node)
    _mark_below(x, parts, dim, title)
    return tuple(parts)


def _mark_below(x: Any, parts: Sequence[Any], dim: int, title: str) -> None:
    """Do the same with what the parts hold, if they are of a level with a graph of its own."""
    level = x._level
    if level is None or any(part._level is not level for part in parts):
        return
    if parts and parts[0]._value._view is not parts[0]._view:
        dim += isinstance(level, BatchLevel)
        _as_outputs(x._value, [part._value for part in parts], dim, title)


# ---- the ways -------------------------------------------------------------------------------


@op(method=True)
def split(
    tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Pieces of one size, the last perhaps smaller, or of the sizes given."""
    dim = _dimension(tensor, dim, "split")
    extent = tensor.shape[dim]
    if isinstance(split_size_or_sections, tuple | list):
        sizes = as_ints(split_size_or_sections)
        if any(size < 0 for size in sizes):
            raise RuntimeError(
                "split_with_sizes expects split_sizes have only non-negative entries, but got "
                f"split_sizes={list(sizes)}"
            )
        if sum(sizes) != extent:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {extent} (input tensor's "
                f"size at dimension {dim}), but got split_sizes={list(sizes)}"
            )
        bounds = tuple(itertools.accumulate(sizes, initial=0))
        return _as_outputs(tensor, _pieces(tensor, dim, bounds), dim, "SplitWithSizesBackward0")
    (size,) = as_ints(split_size_or_sections)
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if size == 0 and extent:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {extent}"
        )
    starts = range(0, extent, size) if extent else (0,)
    return _as_outputs(tensor, _pieces(tensor, dim, (*starts, extent)), dim, "SplitBackward0")


def _pieces(x: Tensor, dim: int, bounds: Sequence[int]) -> tuple[Tensor, ...]:
    around = [slice(None)] * dim
    keys = [(*around, slice(start, end, 1)) for start, end in itertools.pairwise(bounds)]
    return tuple([take_slice(x, key=key) for key in keys])


def _dimension(x: Tensor, dim: int, name: str) -> int:
    if x.ndim == 0:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor")
    return wrap_dim(dim, x.ndim)


@op(method=True)
def chunk(x: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most so many pieces of one size, the last perhaps smaller."""
    dim = _dimension(x, dim, "chunk")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    extent = x.shape[dim]
    if extent == 0:
        pieces = _pieces(x, dim, (0,) * (chunks + 1))
        return _as_outputs(x, pieces, dim, "SplitWithSizesBackward0")
    return split(x, -(-extent // chunks), dim)


@op(method=True)
def split_with_sizes(x: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of the sizes given."""
    return split(x, list(split_sizes), dim)


@op(method=True)
def unsafe_split(x: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`split` whose pieces may each be changed in place."""
    x = _resolved(x)
    return _uncounted(x, split(x, split_size, dim), dim, "UnsafeSplitBackward0")


@op(method=True)
def unsafe_split_with_sizes(
    x: Tensor, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """`split_with_sizes` whose pieces may each be changed in place."""
    x = _resolved(x)
    pieces = split(x, list(split_sizes), dim)
    return _uncounted(x, pieces, dim, "UnsafeSplitWithSizesBackward0")


@op(method=True)
def unsafe_chunk(x: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`chunk` whose pieces may each be changed in place."""
    x = _resolved(x)
    parts = chunk(x, chunks, dim)
    of_sizes = x.shape[dim] == 0
    title = "UnsafeSplitWithSizesBackward0" if of_sizes else "UnsafeSplitBackward0"
    return _uncounted(x, parts, dim, title)


def _resolved(x: Tensor) -> Tensor:
    """The elements as they are shown, in memory of their own if they lie there otherwise."""
    if x._lazy is None:
        return x
    resolved = x.detach().clone()
    resolved._node, resolved._requires_grad = x._current_node(), x._requires_grad
    return resolved


def _uncounted(x: Tensor, parts: Sequence[Tensor], dim: int, title: str) -> tuple[Tensor, ...]:
    """Return parts in the same memory whose changes are not counted for each other."""
    if modes.inference:  # where torch takes them for views, as the graph follows none
        for each in parts:
            if not isinstance(each._storage, InferenceStorage) and each._level is None:
                each._storage = Storage()
        return tuple(parts)
    return _as_outputs(x, [uncounted(each) for each in parts], wrap_dim(dim, x.ndim), title)


def uncounted(part: Tensor) -> Tensor:
    """Return a view as a tensor of its own: other changes of its memory are not counted."""
    level: Any = part._level
    if level is not None and not level.by_func:
        return level.apart(part, uncounted)  # type: ignore[no-any-return]  # of this class
    if level is not None:
        copied: Tensor = part.clone()
        return copied
    held = part._storage
    out = part._alias(held if isinstance(held, InferenceStorage) else Storage())
    out._node, out._requires_grad = part._node, part._node is not None
    return out


@op(method=True)
def tensor_split(
    x: Tensor, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0
) -> tuple[Tensor, ...]:
    """Exactly so many pieces that differ by one at most, or cut at the positions given."""
    dim = _dimension(x, dim, "tensor_split")
    extent = x.shape[dim]
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, tuple | list):
        cuts = [slice(None, cut).indices(extent)[1] for cut in as_ints(indices_or_sections)]
        bounds = [0, *cuts, extent]
        cut = [
            _pieces(x, dim, (start, max(start, end))) for start, end in itertools.pairwise(bounds)
        ]
        return tuple([part for (part,) in cut])
    (sections,) = as_ints(indices_or_sections)
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    size, larger = divmod(extent, sections)
    starts = [position * size + min(position, larger) for position in range(sections + 1)]
    return _pieces(x, dim, starts)


@op(method=True)
def unbind(x: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension, without it."""
    if x.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = wrap_dim(dim, x.ndim)
    slices = [x.select(dim, position) for position in range(x.shape[dim])]
    return _as_outputs(x, slices, dim, "UnbindBackward0")
