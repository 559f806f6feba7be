"""The different elements of a tensor, or slices along a dimension, or the runs of equal ones.

PyTorch has a node for them, whose derivative is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.device import module_of
from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import wrap_dim
from gradtool.engine._ops.core.dtype_support import ORDERED, refuse, takes
from gradtool.engine._ops.core.kinds import general
from gradtool.engine._ops.core.missing import no_formula
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.own_memory import of_own_memory
from gradtool.engine._ops.creation.creation import empty
from gradtool.engine._tensor import Tensor, wrap


def _node(name: str) -> Any:
    """A primitive that is given the elements found; they depend on the tensor all the same."""
    missing = no_formula(name)
    return general(
        name, lambda _x, *, values: values, missing.of, jvp=missing.forward, dtypes=ORDERED
    )


_of_all, _along_dim, _of_runs, _old = map(
    _node, ("_unique2", "unique_dim", "unique_consecutive", "_unique")
)


def _found(node: Any, x: Tensor, dim: int | None) -> tuple[Tensor, Tensor, Tensor]:
    found = np.unique(x._array, return_inverse=True, return_counts=True, axis=dim, equal_nan=False)
    values, inverse, counts = found
    places = wrap(inverse.reshape(x.shape if dim is None else (x.shape[dim],)))
    return node(x, values=values), places, wrap(counts)


def _chosen(found: Sequence[Tensor], *choices: bool) -> Any:
    wanted = [each for each, asked_for in zip(found[1:], choices, strict=True) if asked_for]
    return (found[0], *wanted) if wanted else found[0]


def _or_empty(found: Sequence[Tensor], *choices: bool) -> tuple[Tensor, ...]:
    """The tensors found, with an empty one in place of each that was not asked for."""
    rest = zip(found[1:], choices)
    return (
        found[0],
        *[each if asked_for else empty(0, dtype=_dtypes.int64) for each, asked_for in rest],
    )


@op(method=True)
@takes(ORDERED, "unique")
def unique(
    x: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements, or slices along a dimension, in ascending order.

    Where asked for, followed by which of them each element is, and how many each stands for.
    """
    if dim is None:
        found = _found(_of_all, x, None)
    else:
        found = _found(_along_dim, x, wrap_dim(dim, x.ndim))
    return _chosen(found, return_inverse, return_counts)


@op
@takes(ORDERED, "unique")
def _unique(x: Tensor, sorted: bool = True, return_inverse: bool = False) -> tuple[Tensor, ...]:
    """The kernel below an earlier `unique`."""
    return _or_empty(_found(_old, x, None), return_inverse)


@op
@takes(ORDERED, "unique")
def _unique2(
    x: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, ...]:
    """The kernel below `unique` of all elements."""
    return _or_empty(_found(_of_all, x, None), return_inverse, return_counts)


@takes(ORDERED, "unique")
def unique_dim(
    x: Tensor,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[Tensor, ...]:
    """The kernel below `unique` of slices, which finds everything whatever is asked for."""
    return _found(_along_dim, x, wrap_dim(dim, x.ndim))


@op(method=True)
@of_own_memory
def unique_consecutive(
    x: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The first of each run of equal elements, or of equal slices along a dimension.

    Where asked for, followed by which run each element is in, and how long the runs are.
    """
    refuse("c", "unique" if dim is None else "unique_dim", x._array)
    values = x._array.reshape(-1) if dim is None else x._array
    axis = 0 if dim is None else wrap_dim(dim, x.ndim)
    rows = np.moveaxis(values, axis, 0)
    starts = module_of(values).ones(len(rows), bool)
    starts[1:] = (rows[1:] != rows[:-1]).any(axis=tuple(range(1, rows.ndim)))
    first = np.flatnonzero(starts)
    inverse = wrap(np.cumsum(starts) - 1)
    counts = wrap(np.diff(np.append(first, len(rows))))
    kept = _of_runs(x, values=values.take(first, axis=axis))
    found = (kept, inverse.reshape(x.shape) if dim is None else inverse, counts)
    return _chosen(found, return_inverse, return_counts)
