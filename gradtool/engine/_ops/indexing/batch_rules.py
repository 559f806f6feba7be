"""Batch rules of indexing by integer tensors.

The array library puts the dimensions of the index where the indexed dimensions were if those
lie side by side, and in front of all others if not. An index of the examples' own dimension,
which index tensors that differ from example to example need, changes which of the two it is;
the rules move the dimensions back to where one example has them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gradtool.engine._ops.core.batching import padded, with_examples
from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine._levels import BatchLevel


class _Layout(NamedTuple):
    """An index into all examples at once."""

    dims: tuple[int, ...]
    indices: tuple[Tensor, ...]
    rank: int
    """How many dimensions the index itself has, for one example."""
    source: tuple[int, ...]
    """Dimensions of what comes out ..."""
    target: tuple[int, ...]
    """... and where they are once the examples come first, then what one example has."""

    def restored(self, value: Tensor) -> Tensor:
        """Move the dimensions of an indexed array to where the examples have them."""
        return value.movedim(self.source, self.target) if self.source else value

    def arranged(self, value: Tensor) -> Tensor:
        """The way back: values of all examples as the array library takes them."""
        return value.movedim(self.target, self.source) if self.source else value


def _layout(level: BatchLevel, indices: Sequence[Tensor], dims: Sequence[int]) -> _Layout:
    """Return the index into all examples by these, at these dimensions of an example."""
    rank = max([each.ndim for each in indices], default=0)
    later = tuple([dim + 1 for dim in dims])
    side_by_side = all(after - before == 1 for before, after in itertools.pairwise(dims))
    if not any(level.owns(each) for each in indices):
        apart = bool(rank) and not side_by_side
        return _Layout(later, tuple(indices), rank, *(((rank,), (0,)) if apart else ((), ())))
    numbers = _numbers(level, indices[0]).reshape(level.size, *[1] * rank)
    below = [padded(level.below(each), rank) if level.owns(each) else each for each in indices]
    front = dims[0] if side_by_side else 0
    source = tuple(range(1, 1 + rank)) if front else ()
    target = tuple([front + dim for dim in source])
    return _Layout((0, *later), (numbers, *below), rank, source, target)


def _numbers(level: BatchLevel, like: Tensor) -> Tensor:
    from gradtool.engine._ops.creation.creation import arange

    return arange(level.size, device=like.device)


def index_rule(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    from gradtool.engine._ops.indexing.indexing import _index_of

    layout = _layout(level, args[1:], params["dims"])
    x = with_examples(level, args[0])
    return layout.restored(_index_of(len(layout.dims))(x, *layout.indices, dims=layout.dims))


def index_backward_rule(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    from gradtool.engine._ops.indexing.indexing import added_to_zeros

    layout = _layout(level, args[1:], params["dims"])
    g = layout.arranged(with_examples(level, args[0]))
    return added_to_zeros(g, (level.size, *params["shape"]), layout.dims, layout.indices)


def index_put_rule(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    from gradtool.engine._ops.indexing.indexing import _index_put_of

    x, values, *indices = args
    layout = _layout(level, indices, params["dims"])
    basic = params["basic"]
    kept = x.ndim + sum(part is None for part in basic) - sum(isinstance(p, int) for p in basic)
    below = level.below(values) if level.owns(values) else values.unsqueeze(0)
    written = layout.arranged(padded(below, kept - len(params["dims"]) + layout.rank))
    return _index_put_of(len(layout.dims))(
        with_examples(level, x),
        written,
        *layout.indices,
        basic=(slice(None), *basic),
        dims=layout.dims,
        accumulate=params["accumulate"],
    )


def index_select_rule(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor | None:
    x, index = args
    if level.owns(index):
        return index_rule(level, primitive, args, {"dims": (params["dim"],)})
    out: Tensor = primitive(level.below(x), index, dim=params["dim"] + 1)
    return out


def write_slices_rule(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    """Slices added or copied: where positions differ between examples, as indexing does it."""
    x, source, index = args
    dim = params["dim"]
    source = padded(with_examples(level, source), x.ndim)
    if not level.owns(index):
        out: Tensor = primitive(with_examples(level, x), source, index, dim=dim + 1)
        return out
    put = {"basic": (), "dims": (dim,), "accumulate": primitive.name == "index_add"}
    return index_put_rule(level, primitive, (x, level.wrap(source), index), put)


def take_rule(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    flat = level.wrap(with_examples(level, args[0]).reshape(level.size, -1))
    return index_rule(level, primitive, (flat, args[1]), {"dims": (0,)})
