"""Elimination with exchanged rows, and substitution, on arrays: what NumPy keeps to itself."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtool.device import module_of
from gradtool.device.differences import solved
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings

_PANEL = 32
"""Columns that are eliminated one by one before the rest of the matrix follows in one product."""


@ignore_fp_warnings
def eliminated(x: Any, *, pivoting: bool) -> tuple[Any, Any, Any]:
    """The factors in one matrix, the order of the rows, and the exchanges that made it."""
    rows, columns = x.shape[-2:]
    lib, count, batch = module_of(x), min(rows, columns), x.shape[:-2]
    work = x.reshape(prod(batch), rows, columns).copy()
    order = lib.zeros((len(work), 1), dtype=np.int64) + lib.arange(rows)
    exchanges = lib.zeros((len(work), 1), dtype=np.int64) + lib.arange(count)
    for start in range(0, count, _PANEL):
        stop = min(start + _PANEL, count)
        _eliminate_panel(work, order, exchanges, start, stop, pivoting=pivoting)
        if stop < columns:
            _follow(work, start, stop)
    return work.reshape(x.shape), order.reshape(*batch, rows), exchanges.reshape(*batch, count)


def _eliminate_panel(
    work: Any, order: Any, exchanges: Any, start: int, stop: int, *, pivoting: bool
) -> None:
    for at in range(start, stop):
        if pivoting:
            exchange = exchanges[:, at] = _largest(work[:, at:, at]) + at
            for each in (work, order):
                _exchange(each, at, exchange)
        pivot = work[:, at : at + 1, at]
        factor = work[:, at + 1 :, at]
        factor[...] = np.where(pivot == 0, factor, factor / np.where(pivot == 0, 1, pivot))
        work[:, at + 1 :, at + 1 : stop] -= factor[..., None] * work[:, at : at + 1, at + 1 : stop]


def _largest(column: Any) -> Any:
    """Return the place of the largest element, as LAPACK measures complex ones."""
    size = np.abs(column.real) + np.abs(column.imag) if column.dtype.kind == "c" else np.abs(column)
    return size.argmax(axis=-1)


def _exchange(rows: Any, at: int, other: Any) -> None:
    """Exchange one row of each matrix with another, or one element of each vector."""
    number = module_of(rows).arange(len(rows))
    kept = rows[:, at].copy()
    rows[:, at] = rows[number, other]
    rows[number, other] = kept


def _follow(work: Any, start: int, stop: int) -> None:
    """Eliminate a panel's columns from the columns after it."""
    below, beside = work[:, stop:, start:stop], work[:, start:stop, stop:]
    panel = work[:, start:stop, start:stop]
    unit = np.tril(panel, -1) + module_of(work).eye(stop - start, dtype=work.dtype)
    beside[...] = solved(unit, beside)
    work[:, stop:, stop:] -= below @ beside


@ignore_fp_warnings
def substituted(triangle: Any, y: Any, *, upper: bool) -> Any:
    """Solve a triangular system; a zero on its diagonal makes infinities and NaN, no error."""
    if not (triangle.diagonal(axis1=-2, axis2=-1) == 0).any():
        return solved(triangle, y)
    batch = np.broadcast_shapes(triangle.shape[:-2], y.shape[:-2])
    out = np.broadcast_to(y, (*batch, *y.shape[-2:])).copy()
    extent = triangle.shape[-1]
    for at in reversed(range(extent)) if upper else range(extent):
        rest = slice(0, at) if upper else slice(at + 1, extent)
        out[..., at, :] /= triangle[..., at, at, None]
        out[..., rest, :] -= triangle[..., rest, at, None] * out[..., at, None, :]
    return out


def solved_or_infinite(x: Any, y: Any) -> Any:
    """Solve systems, of which a singular one makes infinities and NaN, no error."""
    try:
        return solved(x, y)
    except np.linalg.LinAlgError:
        factors, order, _ = eliminated(x, pivoting=True)
        batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        moved = np.take_along_axis(
            np.broadcast_to(y, (*batch, *y.shape[-2:])),
            np.broadcast_to(order, (*batch, order.shape[-1]))[..., None],
            -2,
        )
        unit = np.tril(factors, -1) + module_of(x).eye(x.shape[-1], dtype=x.dtype)
        return substituted(np.triu(factors), solved(unit, moved), upper=True)
