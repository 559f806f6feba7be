"""Windows over the last dimensions: where they lie, sums over them, and their largest elements."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.device import add_at, module_of
from gradtool.device.differences import strided
from gradtool.engine._ops.core.batching import of_examples, with_examples
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import FLOATS, MEASURED, REAL, Dtypes
from gradtool.engine._ops.core.kinds import constant, linear
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.reductions.reduction import largest_of as largest_along
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._folding import for_each, positions, product

if TYPE_CHECKING:
    from gradtool.engine._levels import BatchLevel

# ---- where they lie -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WindowPlan:
    """Windows over the last dimensions, one entry for each of these."""

    size: Ints
    step: Ints
    padding: Ints
    dilation: Ints
    extents: Ints
    """Extents of the input."""
    counts: Ints
    """Number of windows."""

    @functools.cached_property
    def padded(self) -> Ints:
        """Extents of what all windows fit into, from the padding on."""
        reach = [
            (count - 1) * step + apart * (size - 1) + 1
            for count, step, apart, size in zip(self.counts, self.step, self.dilation, self.size)
        ]
        ends = [extent + pad for extent, pad in zip(self.extents, self.padding)]
        return tuple(map(max, reach, ends))

    @property
    def inside(self) -> tuple[Any, ...]:
        """The key of the input in what was padded."""
        return (
            ...,
            *[slice(pad, pad + extent) for pad, extent in zip(self.padding, self.extents)],
        )

    @functools.cached_property
    def keys(self) -> Sequence[Sequence[tuple[Any, ...]]]:
        """For each dimension, the keys of where the windows have their elements along it."""
        spatial = len(self.size)
        return [
            [(..., each, *[slice(None)] * (spatial - 1 - at)) for each in self.along(at)]
            for at in range(spatial)
        ]

    @functools.cached_property
    def places(self) -> tuple[Any, Any, Any]:
        """Places where windows start, steps to their elements, and their first real elements."""
        starts, offsets, real = np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64)
        for at, (size, step, padding) in enumerate(zip(self.size, self.step, self.padding)):
            extent, apart = self.extents[at], self.dilation[at]
            start = np.arange(self.counts[at]) * step - padding
            starts = starts[..., None] * extent + start
            offsets = (offsets[:, None] * extent + np.arange(size) * apart).reshape(-1)
            real = real[..., None] * extent + np.where(start < 0, start % apart, start)
        return starts[0], offsets, real[0]

    def along(self, at: int) -> Iterator[slice]:
        """Yield for each element of a window along a dimension where the windows have it."""
        step, count = self.step[at], self.counts[at]
        for element in range(self.size[at]):
            start = element * self.dilation[at]
            yield slice(start, start + step * (count - 1) + 1, step)

    def elements(self) -> Iterator[tuple[Any, ...]]:
        """Yield for each element of a window the key of where the windows have it."""
        for key in itertools.product(*[self.along(at) for at in range(len(self.size))]):
            yield (..., *key)


def plan_windows(
    input: Tensor, spatial: int, size: Any, step: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> WindowPlan:
    if input._array.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"Expected {spatial + 1}D or {spatial + 2}D input for pooling over {spatial} "
            f"dimensions, but got input of size: {list(input.shape)}"
        )
    numbers: tuple[Any, ...] = (size, step, padding, dilation)
    if list in map(type, numbers):
        numbers = tuple([tuple(each) if isinstance(each, list) else each for each in numbers])
    return _planned(input._array.shape[-spatial:], *numbers, ceil_mode)


@functools.lru_cache(maxsize=64, typed=True)
def _planned(
    extents: Ints, size: Any, step: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> WindowPlan:
    spatial = len(extents)
    sizes = for_each(size, spatial, "kernel_size")
    steps = for_each(sizes if step is None or step == () else step, spatial, "stride")
    pads, apart = for_each(padding, spatial, "padding"), for_each(dilation, spatial, "dilation")
    if 0 in steps:
        raise RuntimeError("stride should not be zero")
    if any(each > extent // 2 for each, extent in zip(pads, sizes)):
        raise RuntimeError(
            f"pad should be at most half of effective kernel size, but got pad={pads[0]}, "
            f"kernel_size={sizes[0]} and dilation={apart[0]}"
        )
    counts = tuple(
        [_count(*numbers, ceil_mode) for numbers in zip(extents, sizes, steps, pads, apart)]
    )
    if any(count < 1 for count in counts):
        raise RuntimeError(
            f"Given input size: {extents}. Calculated output size: {counts}. Output size is too "
            "small"
        )
    return WindowPlan(sizes, steps, pads, apart, extents, counts)


def _count(extent: int, size: int, step: int, padding: int, apart: int, ceil_mode: bool) -> int:
    """Number of windows; with `ceil_mode` the last may reach beyond the end."""
    padded = extent + 2 * padding
    if not ceil_mode:
        return positions(padded, size, step, apart)
    count = -(-(padded - apart * (size - 1) - 1) // step) + 1
    return count - 1 if (count - 1) * step >= extent + padding else count


def _padded(x: Any, plan: WindowPlan, value: Any) -> Any:
    if plan.padded == plan.extents:
        return x
    out = np.full_like(x, value, shape=(*x.shape[: -len(plan.size)], *plan.padded))
    out[plan.inside] = x
    return out


# ---- means ----------------------------------------------------------------------------------


def _divided(total: Any, divisor: Any) -> Any:
    """Divide; integers are truncated."""
    if isinstance(divisor, np.ndarray):
        divisor = module_of(total).asarray(divisor, dtype=total.dtype)
    if total.dtype.kind == "f":
        return np.divide(total, divisor, out=total)
    return np.trunc(total / divisor).astype(total.dtype)


def _means(x: Any, *, plan: WindowPlan, divisor: Any) -> Any:
    """Sums over the windows, one dimension after the other, divided by their share."""
    total = _padded(x, plan, 0)
    for first, *others in reversed(plan.keys):
        summed = total[first].copy()
        for each in others:
            summed += total[each]
        total = summed
    return _divided(total, divisor)


def _means_back(g: Any, *, plan: WindowPlan, divisor: Any, shape: Ints) -> Any:
    out, spatial = _divided(g.copy(), divisor), len(plan.size)
    for at, keys in enumerate(plan.keys):
        extents = list(out.shape)
        extents[at - spatial] = plan.padded[at]
        spread = np.zeros_like(out, shape=extents)
        for key in keys:
            spread[key] += out
        out = spread
    return out if plan.padded == plan.extents else out[plan.inside]


def _shape_of_examples(
    level: BatchLevel, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    """The batch rule of functions that leave the first dimensions alone."""
    changed = params
    if "shape" in params:
        changed = {**params, "shape": of_examples(params["shape"], level.size)}
    out: Tensor = primitive(*[with_examples(level, each) for each in args], **changed)
    return out


def means_of(name: str, dtypes: Dtypes) -> Primitive:
    """Return the primitive that averages windows, divided by a number or one for each."""
    means: Primitive = linear(
        name,
        _means,
        lambda g, x_shape, plan, divisor: _spread_means(
            g, plan=plan, divisor=divisor, shape=x_shape
        ),
        dtypes=dtypes,
        batch=_shape_of_examples,
    )
    return means


_means_again = means_of("avg_pool", FLOATS)
_spread_means: Primitive = linear(
    "avg_pool_backward",
    _means_back,
    lambda g, plan, divisor: _means_again(g, plan=plan, divisor=divisor),
    dtypes=FLOATS,
    batch=_shape_of_examples,
)


# ---- largest elements -----------------------------------------------------------------------


def _largest_places(x: Any, *, plan: WindowPlan) -> Any:
    """Return where in the flattened last dimensions each window has its largest element."""
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    # Each element of a window is in at most so many windows.
    is_small = x.__class__ is np.ndarray and x.size * product(plan.size) <= _FEW
    best, element = (_by_rows if is_small else _by_elements)(_padded(x, plan, lowest), plan)
    starts, offsets, real = plan.places
    if x.__class__ is not np.ndarray:
        starts, offsets, real = [module_of(x).asarray(each) for each in plan.places]
    places = offsets.take(element)
    places += starts
    if any(plan.padding):
        places = np.where(best == lowest, real, places)
    return places


_FEW = 2**14
"""The most elements that windows may have for a copy of these to be the fastest."""


def _by_rows(padded: Any, plan: WindowPlan) -> tuple[Any, Any]:
    """The largest elements and their numbers in their windows, each of which is made a row."""
    spatial = len(plan.size)
    front, steps = padded.shape[:-spatial], padded.strides[-spatial:]
    between = [stride * step for stride, step in zip(steps, plan.step)]
    within = [stride * apart for stride, apart in zip(steps, plan.dilation)]
    shape = (*front, *plan.counts, *plan.size)
    rows = strided(padded, shape, (*padded.strides[:-spatial], *between, *within))
    rows = rows.reshape(*front, *plan.counts, product(plan.size))
    return largest_along(rows, (-1,)) if any(plan.padding) else None, rows.argmax(-1)


def _by_elements(padded: Any, plan: WindowPlan) -> tuple[Any, Any]:
    """The same, by one element of all windows after the other."""
    first, *others = plan.elements()
    best = padded[first].copy()
    element = np.zeros_like(best, dtype=np.int64)
    is_float = best.dtype.kind == "f" and best.size
    missing = is_float and bool(np.isnan(largest_along(padded, None)))
    for number, each in enumerate(others, 1):
        candidate = padded[each]
        better = candidate > best
        if missing:
            better |= np.isnan(candidate) & ~np.isnan(best)
        np.maximum(best, candidate, out=best)
        np.maximum(element, better * np.int64(number), out=element)
    return best, element


def _flat(index: Any, shape: Ints, spatial: int) -> Any:
    """Positions in the whole array of positions in its flattened last dimensions."""
    volume, count = product(shape[-spatial:]), product(shape[:-spatial])
    if count <= 1:
        return index
    start = module_of(index).arange(0, count * volume, volume)
    return index + start.reshape(*shape[:-spatial], *[1] * spatial)


def _taken(x: Any, index: Any, *, spatial: int) -> Any:
    return x.reshape(-1).take(_flat(index, x.shape, spatial))


def _taken_back(g: Any, index: Any, *, spatial: int, shape: Ints) -> Any:
    out = np.zeros_like(g, shape=shape, order="C")
    add_at(out.reshape(-1), _flat(index, shape, spatial).reshape(-1), g.reshape(-1))
    return out


def _largest(name: str, dtypes: Dtypes) -> Primitive:
    """Return the primitive that takes the largest elements of windows from their places."""
    return linear(
        name,
        _taken,
        lambda g, x_shape, index, spatial: _untaken(g, index, spatial=spatial, shape=x_shape),
        dtypes=dtypes,
        batch=_shape_of_examples,
    )


_largest_again = _largest("max_pool_with_indices", REAL)
_untaken: Primitive = linear(
    "max_pool_with_indices_backward",
    _taken_back,
    lambda g, index, spatial: _largest_again(g, index, spatial=spatial),
    dtypes=REAL,
    batch=_shape_of_examples,
)
_places_of_largest = constant(
    "max_pool_places", _largest_places, dtypes=MEASURED, batch=_shape_of_examples
)


def largest_of(name: str, dtypes: Dtypes) -> Callable[[Tensor, WindowPlan], tuple[Tensor, Tensor]]:
    """Return the function that finds the largest elements of windows, and their places."""
    taken = _largest(name, dtypes)

    def largest(input: Tensor, plan: WindowPlan) -> tuple[Tensor, Tensor]:
        index = _places_of_largest(input, plan=plan)
        return taken(input, index, spatial=len(plan.size)), index

    return largest


__all__ = ["WindowPlan", "largest_of", "means_of", "plan_windows"]
