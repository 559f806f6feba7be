"""Symmetric and Hermitian matrices as a triangle, blocks of one or two on a diagonal, its adjoint.

Source: Bunch and Kaufman, "Some Stable Methods for Calculating Inertia and Solving Symmetric
Linear Systems", 1977, in the form and with the pivots of LAPACK's ``sytf2``, ``hetf2`` and
``sytrs``. As in PyTorch there is no derivative.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from gradtool.device import module_of
from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import broadcasting
from gradtool.engine._ops.core.dtype_support import FACTORED
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import constant
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.elementwise.complex_parts import real
from gradtool.engine._ops.linalg.matrices import (
    check_dtypes,
    check_extents,
    check_info,
    packed,
    require_square,
    unpacked,
)
from gradtool.engine._tensor import Tensor


@return_type("linalg_ldl_factor")
class LinalgLDLFactor(NamedTuple):
    """Both factors in one matrix, and the rows exchanged, from 1: negative for a block of two."""

    LD: Tensor
    pivots: Tensor


@return_type("linalg_ldl_factor_ex")
class LinalgLDLFactorEx(NamedTuple):
    """The same, and the number of the first block that is zero, or zero."""

    LD: Tensor
    pivots: Tensor
    info: Tensor


# ---- factors ---------------------------------------------------------------------------------

_ALPHA = (1 + 17**0.5) / 8
"""The ratio of pivots that bounds the growth of elements best."""


@ignore_fp_warnings
def _factors(x: Any, *, hermitian: bool) -> Any:
    lib, extent = module_of(x), x.shape[-1]
    flat = np.tril(x).reshape(prod(x.shape[:-2]), extent, extent)
    pivots = lib.zeros((len(flat), extent), dtype=np.int64)
    info = lib.zeros((len(flat), 1), dtype=np.int64)
    for number, each in enumerate(flat):
        info[number] = _factor(each, pivots[number], conjugate=hermitian and x.dtype.kind == "c")
    batch = x.shape[:-2]
    return packed(
        x.dtype,
        (flat.reshape(x.shape), 2),
        (pivots.reshape(*batch, extent), 1),
        (info.reshape(*batch, 1), 1),
    )


def _factor(x: Any, pivots: Any, *, conjugate: bool) -> int:
    """Factor a lower triangle in place, and return the number of the first zero block, or zero."""
    at, missing, extent = 0, 0, len(x)
    if conjugate:
        diagonal = module_of(x).arange(extent)
        x[diagonal, diagonal] = x[diagonal, diagonal].real
    while at < extent:
        size, row = _pivot(x, at)
        if row is None:
            missing = missing or at + 1
            pivots[at], size = at + 1, 1
        else:
            last = at + size - 1
            if row != last:
                _exchange(x, at, last, row, conjugate=conjugate)
            _eliminate(x, at, at + size, conjugate=conjugate)
            pivots[at : at + size] = row + 1 if size == 1 else -(row + 1)
        at += size
    return missing


def _size(x: Any) -> Any:
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def _pivot(x: Any, at: int) -> tuple[int, int | None]:
    """The extent of the next block and the row to bring there; no row where the column is zero."""
    here, below = float(_size(x[at, at])), _size(x[at + 1 :, at])
    largest = float(below.max(initial=0.0))
    if max(here, largest) == 0 or np.isnan(here):
        return 1, None
    if here >= _ALPHA * largest:
        return 1, at
    row = at + 1 + int(below.argmax())
    beside = max(_size(x[row, at:row]).max(), _size(x[row + 1 :, row]).max(initial=0.0))
    if here >= _ALPHA * largest * (largest / float(beside)):
        return 1, at
    return (1 if float(_size(x[row, row])) >= _ALPHA * float(beside) else 2), row


def _exchange(x: Any, at: int, one: int, other: int, *, conjugate: bool) -> None:
    """Exchange two rows and the columns of their numbers in a lower triangle; `other` is later."""
    _swap(x[other + 1 :, one], x[other + 1 :, other])
    between = x[one + 1 : other, one], x[other, one + 1 : other]
    _swap(*between)
    if conjugate:
        for each in (*between, x[other : other + 1, one]):
            np.conjugate(each, out=each)
    x[one, one], x[other, other] = x[other, other], x[one, one]
    if one > at:
        x[one, at], x[other, at] = x[other, at], x[one, at]


def _swap(x: Any, y: Any) -> None:
    kept = x.copy()
    x[...], y[...] = y, kept


def _eliminate(x: Any, start: int, stop: int, *, conjugate: bool) -> None:
    """Eliminate the columns of a block from those after it."""
    below = x[stop:, start:stop]
    factors = np.linalg.solve(_block(x, start, stop, conjugate).T, below.T).T
    turned = below.conj().T if conjugate else below.T
    x[stop:, stop:] -= np.tril(factors @ turned)
    below[...] = factors


def _block(x: Any, start: int, stop: int, conjugate: bool) -> Any:
    """A block of the diagonal, whole."""
    below = np.tril(x[start:stop, start:stop], -1)
    whole = x[start:stop, start:stop] * module_of(x).eye(stop - start, dtype=x.dtype)
    return whole + below + (below.conj().T if conjugate else below.T)


_ldl = constant("linalg_ldl_factor", _factors, dtypes=FACTORED, batch=broadcasting)


def ldl_factor_ex(
    A: Tensor,  # noqa: N803 - torch's name
    *,
    hermitian: bool = False,
    check_errors: bool = False,
) -> LinalgLDLFactorEx:
    """Both factors of a symmetric matrix, or a Hermitian one, of which the lower triangle counts.

    Raises:
        RuntimeError: it is no square matrix, or `check_errors` and a block is zero.
    """
    return _factored(A, hermitian, check_errors, "torch.linalg.ldl_factor_ex")


def ldl_factor(A: Tensor, *, hermitian: bool = False) -> LinalgLDLFactor:  # noqa: N803
    """`ldl_factor_ex`, with an error where a block is zero.

    Raises:
        RuntimeError: it is no square matrix, or a block is zero.
    """
    return LinalgLDLFactor(*_factored(A, hermitian, True, "torch.linalg.ldl_factor")[:2])


def _factored(x: Tensor, hermitian: bool, check_errors: bool, name: str) -> LinalgLDLFactorEx:
    require_square(x, "torch.linalg.ldl_factor_ex")
    extent = x.shape[-1]
    compact, *numbers = unpacked(_ldl(x, hermitian=hermitian), (extent, extent), (extent,), ())
    pivots, info = (real(each).to(_dtypes.int32) for each in numbers)
    if check_errors:
        check_info(name, info, RuntimeError)
    return LinalgLDLFactorEx(compact, pivots, info)


# ---- systems ---------------------------------------------------------------------------------


@ignore_fp_warnings
def _solved(x: Any, y: Any, pivots: Any, *, hermitian: bool) -> Any:
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    out = np.broadcast_to(y, (*batch, *y.shape[-2:])).copy()
    conjugate, extent = hermitian and x.dtype.kind == "c", x.shape[-1]
    if not out.size:
        return out
    solutions = out.reshape(-1, *y.shape[-2:])
    factors = np.broadcast_to(x, (*batch, *x.shape[-2:])).reshape(-1, extent, extent)
    rows = np.broadcast_to(pivots, (*batch, extent, 1)).reshape(-1, extent)
    for one, other, exchanges in zip(factors, solutions, rows):
        _solve(one, other, [int(each) for each in exchanges], conjugate=conjugate)
    return solutions.reshape(out.shape)


def _solve(x: Any, y: Any, pivots: list[int], *, conjugate: bool) -> None:
    """Solve for one matrix in place: by the triangle and the blocks, then by the adjoint."""
    blocks = _blocks(pivots)
    for start, stop, row in blocks:
        y[[stop - 1, row]] = y[[row, stop - 1]]
        y[stop:] -= x[stop:, start:stop] @ y[start:stop]
        y[start:stop] = np.linalg.solve(_block(x, start, stop, conjugate), y[start:stop])
    for start, stop, row in reversed(blocks):
        below = x[stop:, start:stop]
        y[start:stop] -= (below.conj() if conjugate else below).T @ y[stop:]
        y[[stop - 1, row]] = y[[row, stop - 1]]


def _blocks(pivots: list[int]) -> list[tuple[int, int, int]]:
    """Start, end and exchanged row of each block."""
    found, at = [], 0
    while at < len(pivots):
        size = 1 if pivots[at] > 0 else 2
        found.append((at, at + size, abs(pivots[at]) - 1))
        at += size
    return found


_ldl_solve = constant("linalg_ldl_solve", _solved, dtypes=FACTORED, batch=broadcasting)


def ldl_solve(
    LD: Tensor,  # noqa: N803
    pivots: Tensor,
    B: Tensor,  # noqa: N803
    *,
    hermitian: bool = False,
) -> Tensor:
    """X with ``A X = B``, given `ldl_factor` of A.

    Raises:
        RuntimeError: the factors are no square matrix, or the pivots or B do not fit them.
    """
    name = "torch.linalg.ldl_solve"
    require_square(LD, name, "LD")
    if B.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected B to have at least 2 dimensions, but it has {B.ndim} dimensions "
            "instead"
        )
    if pivots.shape != LD.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots.shape)} instead"
        )
    if pivots.dtype.is_differentiable or pivots.dtype is _dtypes.bool_:
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {pivots.dtype}")
    check_dtypes(name, LD, B)
    check_extents(name, LD, B, True)
    return _ldl_solve(LD, B, pivots.unsqueeze(-1), hermitian=hermitian)
