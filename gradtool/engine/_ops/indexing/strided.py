"""Views of memory by strides, and copies in which such a view is replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.engine._lazy import memory, share
from gradtool.engine._levels import Outline
from gradtool.engine._ops.core.by_steps import reach, shown, steps_of, with_steps
from gradtool.engine._ops.core.dims import Ints, as_ints
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.core.node_names import give_name
from gradtool.engine._ops.core.op import method, op
from gradtool.engine._ops.core.overlap import overlaps
from gradtool.engine._ops.core.primitive import Primitive, vjp_of
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.elementwise.conjugates import Flip
from gradtool.engine._ops.indexing.slicing import index_add
from gradtool.engine._ops.shape.memory import memory_of, offset_of
from gradtool.engine._tensor import Tensor
from gradtool.engine._views import View
from gradtool.engine.autograd._run_hooks import keep_computed_form

if TYPE_CHECKING:
    from gradtool.engine._levels import BatchLevel


def _places(size: Ints, stride: Ints, offset: int, device: Any) -> Tensor:
    """Return the place in memory of each element."""
    places: Any = offset
    for position, (extent, step) in enumerate(zip(size, stride)):
        behind = [1] * (len(size) - 1 - position)
        places = arange(extent, device=device).reshape(-1, *behind) * step + places
    return places.reshape(-1) if size else arange(offset, offset + 1, device=device)


# ---- views -----------------------------------------------------------------------------------


def _at_strides(x: Any, *, size: Ints, stride: Ints, offset: int, layout: Ints) -> Any:
    """The view, `offset` elements from the start of `x`, which has the steps `layout`."""
    if x.size and steps_of(x) != layout:
        x = with_steps(x, layout)
    memory, start = memory_of(x), offset_of(x)
    first = start + offset
    before, after = max(-first, 0), max(first + reach(size, stride) - memory.size, 0)
    if before or after:  # a tangent or an example, whose memory is no larger than itself
        memory = np.pad(memory, (before, after))
    return shown(memory, size, stride, first + before)


def _at_strides_vjp(
    g: Tensor, x_shape: Ints, size: Ints, stride: Ints, offset: int, layout: Ints
) -> Tensor:
    """The cotangents summed in memory, where elements of `x` that share a place share the sum."""
    if 0 in x_shape or 0 in size:
        return g.new_zeros(x_shape)
    before = max(-offset, 0)
    count = before + max(reach(x_shape, layout), offset + reach(size, stride))
    places = _places(size, stride, offset + before, g.device)
    memory = index_add(g.new_zeros(count), 0, places, g.reshape(-1))
    own = _places(x_shape, layout, before, g.device)
    found = memory.index_select(0, own)
    if overlaps(x_shape, layout):
        ones = found.new_ones(len(own))
        found = found / index_add(found.new_zeros(count), 0, own, ones).index_select(0, own)
    return found.reshape(x_shape)


def _within_examples(
    _level: BatchLevel, _primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> None:
    """Decline the batch, unless an example would show what is not its own.

    Raises:
        RuntimeError: it would.
    """
    size, stride, offset = params["size"], params["stride"], params["offset"]
    own = reach(args[0].shape, params["layout"])
    if 0 not in size and not 0 <= offset <= own - reach(size, stride):
        raise RuntimeError(
            f"vmap: result = tensor.as_strided({list(size)}, {list(stride)}, {offset}) can access "
            f"memory outside of `tensor`. `tensor` has {own} elements of memory for each example. "
            "This is not supported inside of vmap, try to rewrite the `as_strided` call as a "
            "sequence of PyTorch view operations"
        )


_as_strided = linear(
    "as_strided", _at_strides, _at_strides_vjp, is_view=True, batch=_within_examples
)


@op(method=True)
def as_strided(x: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of the memory of `x`, with an extent and a step, in elements, for each dimension.

    Raises:
        RuntimeError: sizes and strides are not as many, or reach beyond the memory.
    """
    size, stride = as_ints(size), as_ints(stride)
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(stride)}"
        )
    if isinstance(x._array, Outline):  # each example is memory of its own
        x = x.contiguous()
        held, start = x.numel(), 0
    else:
        held, start = memory_of(memory(x)).size, offset_of(memory(x))
    offset = start if storage_offset is None else storage_offset
    if 0 not in size and offset + reach(size, stride) > held:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
            f"itemsize {x.itemsize} requiring a storage size of "
            f"{(offset + reach(size, stride)) * x.itemsize} are out of bounds for storage of size "
            f"{held * x.itemsize}"
        )
    out = _as_strided(x, size=size, stride=stride, offset=offset - start, layout=x.stride())
    _view_of_base(out, size, stride, offset)
    give_name(out, "AsStridedBackward0", call=(as_strided, (x, size, stride, storage_offset), {}))
    return out


def _view_of_base(out: Tensor, size: Ints, stride: Ints, offset: int) -> None:
    """Make a view of a view one of its base, as it may show elements that are not in the former."""
    view = out._view
    if view is not None and len(view.steps) > 1 and view.base.dtype is out.dtype:
        base = view.base
        start = offset_of(memory(base))
        params = {"size": size, "stride": stride, "offset": offset - start, "layout": base.stride()}
        flips = [step for step in view.steps if isinstance(step[0], Flip)]
        view.steps = ((_as_strided, params), *flips)


@method("_change_form")
def _change_form(base: Tensor, data: Tensor) -> None:
    """Give a tensor data of another shape or dtype, and take its views by where they lie."""
    keep_computed_form(base)
    share(base, data)
    views = [] if base._storage is None else base._storage.living_views()
    for x in views:
        if x._view is not None and x._view.base is base and x._level is base._level is None:
            place_by_strides(x, x._view)


def place_by_strides(x: Tensor, view: View) -> None:
    """Let a view remember no steps from its base but its size, strides and offset."""
    if not view.is_of_parts():
        offset = offset_of(memory(x)) - offset_of(memory(view.base))
        params = {"size": tuple(x.shape), "stride": x.stride(), "offset": offset}
        view.steps = ((_as_strided, {**params, "layout": view.base.stride()}),)


# ---- copies with a view replaced -------------------------------------------------------------


def _written(x: Any, src: Any, *, size: Ints, stride: Ints, offset: int) -> Any:
    out = x.copy(order="C")
    shown(out.reshape(-1), size, stride, offset)[...] = src
    return out


def _of_rest(g: Tensor, size: Ints, stride: Ints, offset: int) -> Tensor:
    """The cotangent but for the view, which `src` took the place of.

    PyTorch has it the other way round, and its own tests expect that to fail.
    """
    zeros = g.new_zeros(size)
    return _scatter(g.contiguous(), zeros, size=size, stride=stride, offset=offset)


def _of_source(g: Tensor, size: Ints, stride: Ints, offset: int) -> Tensor:
    g = g.contiguous()
    return _as_strided(g, size=size, stride=stride, offset=offset, layout=g.stride())


_scatter: Primitive = Primitive(
    "as_strided_scatter", _written, (vjp_of(_of_rest), vjp_of(_of_source)), kind="linear"
)


@op(method=True)
def as_strided_scatter(
    x: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """A copy in which `src` is what `as_strided` would show.

    Raises:
        RuntimeError: `src` has another shape, or sizes and strides do not fit.
    """
    size, stride = as_ints(size), as_ints(stride)
    if tuple(src.shape) != size:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. "
            f"src size = {list(src.shape)}, slice size = {list(size)}"
        )
    whole = x.contiguous()
    as_strided(whole.detach(), size, stride, storage_offset or 0)
    source = src.to(x.dtype)
    return _scatter(whole, source, size=size, stride=stride, offset=storage_offset or 0)
