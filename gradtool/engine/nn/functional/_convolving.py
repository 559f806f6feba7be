"""Convolution and its transposes: three primitives, each of which differentiates into the others.

Windows of the input become columns, so that each group is one matrix product. An output (N, O, …)
comes from an input (N, C, …) and a weight (O, C / groups, …).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.device.differences import strided
from gradtool.engine._ops.core.batching import BatchRule, with_examples
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import NUMBERS, refuse
from gradtool.engine._ops.core.kinds import conjugate, multilinear
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine._levels import BatchLevel

Pairs = tuple[tuple[int, int], ...]

# ---- arrays ---------------------------------------------------------------------------------


def _in_single(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Sum half precision in single precision, as PyTorch does, which takes no booleans."""

    @functools.wraps(compute)
    def computed(x: Any, y: Any, **params: Any) -> Any:
        refuse("b", "slow_conv2d_cpu", x)
        if x.dtype == np.float16:
            return compute(x.astype(np.float32), y.astype(np.float32), **params).astype(x.dtype)
        return compute(x, y, **params)

    return computed


def _padded(x: Any, ends: Pairs) -> Any:
    if not any(map(any, ends)):
        return x
    extents = zip(x.shape[2:], ends)
    out = np.zeros_like(x, shape=(*x.shape[:2], *[n + sum(pair) for n, pair in extents]))
    out[_inside(x.shape[2:], ends)] = x
    return out


def _inside(extents: Sequence[int], ends: Pairs) -> tuple[Any, ...]:
    """Return the key of what is between the ends."""
    return (..., *[slice(before, before + n) for n, (before, _) in zip(extents, ends)])


def _columns(
    x: Any, size: Ints, counts: Ints, stride: Ints, ends: Pairs, dilation: Ints, groups: int
) -> Any:
    """Windows of the padded input: (N, groups, channels * elements, positions)."""
    padded = _padded(x, ends)
    count, channels = x.shape[:2]
    strides = padded.strides
    within = [each * apart for each, apart in zip(strides[2:], dilation)]
    between = [each * step for each, step in zip(strides[2:], stride)]
    shape = (count, channels, *size, *counts)
    taken = strided(padded, shape, (*strides[:2], *within, *between))
    rows = channels // groups * math.prod(size)
    return taken.reshape(count, groups, rows, math.prod(counts))


def _rows(weight: Any, groups: int) -> Any:
    """The weight as a matrix for each group: (groups, outputs, channels * elements)."""
    return weight.reshape(groups, weight.shape[0] // groups, math.prod(weight.shape[1:]))


def _grouped(out: Any, groups: int) -> Any:
    """Outputs as (N, groups, outputs, positions)."""
    count, channels, *counts = out.shape
    return out.reshape(count, groups, channels // groups, math.prod(counts))


@_in_single
def _forth(
    x: Any, y: Any, *, counts: Ints, stride: Ints, ends: Pairs, dilation: Ints, groups: int
) -> Any:
    columns = _columns(x, y.shape[2:], counts, stride, ends, dilation, groups)
    return np.matmul(_rows(y, groups), columns).reshape(x.shape[0], y.shape[0], *counts)


@_in_single
def _back(
    x: Any, y: Any, *, extents: Ints, stride: Ints, ends: Pairs, dilation: Ints, groups: int
) -> Any:
    count, counts, size = x.shape[0], x.shape[2:], y.shape[2:]
    channels = y.shape[1] * groups
    columns = np.matmul(_rows(y, groups).swapaxes(1, 2), _grouped(x, groups))
    columns = columns.reshape(count, channels, *size, *counts)
    whole = [n + sum(pair) for n, pair in zip(extents, ends)]
    out = np.zeros_like(columns, shape=(count, channels, *whole))
    for element in itertools.product(*map(range, size)):
        starts = [at * apart for at, apart in zip(element, dilation)]
        places: Any = [
            slice(start, start + step * (n - 1) + 1, step)
            for start, step, n in zip(starts, stride, counts)
        ]
        out[(..., *places)] += columns[(slice(None), slice(None), *element)]
    return out[_inside(extents, ends)] if any(map(any, ends)) else out


@_in_single
def _weighing(
    x: Any, y: Any, *, size: Ints, stride: Ints, ends: Pairs, dilation: Ints, groups: int
) -> Any:
    columns = _columns(x, size, y.shape[2:], stride, ends, dilation, groups)
    products = np.matmul(_grouped(y, groups), columns.swapaxes(2, 3)).sum(0, dtype=x.dtype)
    return products.reshape(y.shape[1], x.shape[1] // groups, *size)


# ---- primitives -----------------------------------------------------------------------------


def _as_groups(first: int, second: int, result: int) -> BatchRule:
    """Return the rule that makes groups of the examples, along these dimensions."""

    def folded(level: BatchLevel, value: Tensor, dim: int) -> Tensor:
        return with_examples(level, value).movedim(0, dim).flatten(dim, dim + 1)

    def rule(
        level: BatchLevel, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
    ) -> Tensor:
        groups = params["groups"] * level.size
        x, y = folded(level, args[0], first), folded(level, args[1], second)
        out = primitive(x, y, **{**params, "groups": groups})
        return out.unflatten(result, (level.size, out.shape[result] // level.size)).movedim(
            result, 0
        )

    return rule


convolution: Primitive = multilinear(
    "convolution",
    _forth,
    lambda g, y, x_shape, stride, ends, dilation, groups: convolution_transposed(
        g, conjugate(y), extents=tuple(x_shape[2:]), stride=stride, ends=ends, dilation=dilation,
        groups=groups,
    ),
    lambda g, x, y_shape, stride, ends, dilation, groups: convolution_weight(
        conjugate(x), g, size=tuple(y_shape[2:]), stride=stride, ends=ends, dilation=dilation,
        groups=groups,
    ),
    dtypes=NUMBERS,
    batch=_as_groups(1, 0, 1),
)  # fmt: skip
"""The convolution of an input and a weight, at so many positions."""

convolution_transposed: Primitive = multilinear(
    "convolution",
    _back,
    lambda g, y, x_shape, stride, ends, dilation, groups: convolution(
        g, conjugate(y), counts=tuple(x_shape[2:]), stride=stride, ends=ends, dilation=dilation,
        groups=groups,
    ),
    lambda g, x, y_shape, stride, ends, dilation, groups: convolution_weight(
        g, conjugate(x), size=tuple(y_shape[2:]), stride=stride, ends=ends, dilation=dilation,
        groups=groups,
    ),
    dtypes=NUMBERS,
    batch=_as_groups(1, 0, 1),
)  # fmt: skip
"""Its transpose with respect to the input: from outputs and the weight to inputs of `extents`."""

convolution_weight: Primitive = multilinear(
    "convolution",
    _weighing,
    lambda g, y, x_shape, stride, ends, dilation, groups: convolution_transposed(
        conjugate(y), g, extents=tuple(x_shape[2:]), stride=stride, ends=ends, dilation=dilation,
        groups=groups,
    ),
    lambda g, x, y_shape, stride, ends, dilation, groups: convolution(
        conjugate(x), g, counts=tuple(y_shape[2:]), stride=stride, ends=ends, dilation=dilation,
        groups=groups,
    ),
    dtypes=NUMBERS,
    batch=_as_groups(1, 1, 0),
)  # fmt: skip
"""Its transpose with respect to the weight: from inputs and outputs to weights of `size`."""
