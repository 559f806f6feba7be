"""Products of Householder reflectors, and the factorization into them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtool.engine._ops.core.batching import unchanged
from gradtool.engine._ops.core.dtype_support import FACTORED, TYPE_NAMES, check_taken
from gradtool.engine._ops.core.kinds import constant
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.creation.creation import eye
from gradtool.engine._ops.linalg.inverses import solve_triangular
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.matrices import packed, unpacked
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._ops.shape.diagonals import diag_embed, tril
from gradtool.engine._tensor import Tensor


@return_type("geqrf")
class ReflectorsAndFactors(NamedTuple):
    """R with the reflectors below it, and the factor of each reflector."""

    a: Tensor
    tau: Tensor


def _raw_qr(x: Any) -> Any:
    reflectors, factors = np.linalg.qr(x, mode="raw")
    return packed(x.dtype, (np.swapaxes(reflectors, -1, -2), 2), (factors, 1))


_raw = constant("geqrf", _raw_qr, batch=unchanged)


def qr_of_reflectors(x: Tensor) -> ReflectorsAndFactors:
    """``torch.geqrf``: the QR factorization as LAPACK leaves it. It has no derivative.

    Raises:
        RuntimeError: it is no matrix of floating or complex numbers.
    """
    _require_two_dims("torch.geqrf", "input", x)
    check_taken(x, FACTORED, "geqrf_cpu")
    rows, columns = x.shape[-2:]
    return ReflectorsAndFactors(*unpacked(_raw(x), (rows, columns), (min(rows, columns),)))


def _directions(x: Tensor, count: int) -> Tensor:
    """Columns of which each reflects: a one on the diagonal, and what is stored below it."""
    return tril(x.narrow(-1, 0, count), -1) + _diagonal_of_ones(x, x.shape[-2], count)


def _diagonal_of_ones(x: Tensor, rows: int, columns: int) -> Tensor:
    return eye(rows, columns, dtype=x.dtype, device=x.device)


def _joined(directions: Tensor, tau: Tensor) -> Tensor:
    """T with ``I - V T Vᴴ`` the product of all reflectors, the columns of V their directions.

    Source: Schreiber and Van Loan, "A Storage-Efficient WY Representation for Products of
    Householder Transformations", 1989.
    """
    overlaps = matmul(adjoint(directions), directions) * tau.unsqueeze(-1)
    return solve_triangular(overlaps, diag_embed(tau), upper=True, unitriangular=True)


def householder_product(A: Tensor, tau: Tensor) -> Tensor:  # noqa: N803 - torch's name
    """The first columns of the product of all reflectors, as many as `A` has.

    Raises:
        RuntimeError: `A` is no matrix, or wide, or `tau` does not fit it.
    """
    name = "torch.linalg.householder_product"
    _require_two_dims(name, "input", A)
    rows, columns = A.shape[-2:]
    if rows < columns:
        raise RuntimeError(
            f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]"
        )
    if columns < tau.shape[-1]:
        raise RuntimeError(
            f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]"
        )
    _check_factors(name, A, tau)
    if tau.dtype is not A.dtype:
        raise RuntimeError(
            f"{name}: tau dtype {TYPE_NAMES[tau.dtype.name]} does not match input dtype "
            f"{TYPE_NAMES[A.dtype.name]}"
        )
    check_taken(A, FACTORED, "orgqr_cpu")
    directions = _directions(A, tau.shape[-1])
    reflected = matmul(_joined(directions, tau), adjoint(directions.narrow(-2, 0, columns)))
    product: Tensor = _diagonal_of_ones(A, rows, columns) - matmul(directions, reflected)
    return product


@op(method=True, node="OrmqrBackward0")
def ormqr(
    x: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """The product of all reflectors, or its adjoint, times a matrix, from the left or the right.

    Args:
        x: The reflectors, below the diagonal.
        input2: The factor of each.
        input3: The matrix.
        left: Whether the product comes first.
        transpose: Whether its adjoint is meant.

    Raises:
        RuntimeError: one is no matrix, or extents or dtypes do not fit.
    """
    _check_product(x, input2, input3, left)
    if not left:
        return adjoint(ormqr(x, input2, adjoint(input3), True, not transpose))
    directions = _directions(x, input2.shape[-1])
    joined = _joined(directions, input2)
    inner = matmul(adjoint(directions), input3)
    product: Tensor = input3 - matmul(
        directions, matmul(adjoint(joined) if transpose else joined, inner)
    )
    return product


def _check_product(x: Tensor, tau: Tensor, other: Tensor, left: bool) -> None:
    name, side = "torch.ormqr", -2 if left else -1
    _require_two_dims(name, "input", x)
    _require_two_dims(name, "other", other)
    if other.shape[side] != x.shape[-2]:
        raise RuntimeError(f"{name}: other.shape[{side}] must be equal to input.shape[-2]")
    if tau.shape[-1] != min(other.shape[side], x.shape[-1]):
        raise RuntimeError(
            f"{name}: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])"
        )
    _check_factors(name, x, tau)
    if other.shape[:-2] != x.shape[:-2]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of other to be equal to input.shape[:-2], but got "
            f"{list(other.shape[:-2])}"
        )
    for each, label in ((tau, "tau"), (other, "other")):
        if each.dtype is not x.dtype:
            raise RuntimeError(
                f"{name}: Expected input and {label} to have the same dtype, but input has "
                f"dtype{TYPE_NAMES[x.dtype.name]} and {label} has dtype "
                f"{TYPE_NAMES[each.dtype.name]}"
            )
    check_taken(x, FACTORED, "ormqr_cpu")


def _check_factors(name: str, x: Tensor, tau: Tensor) -> None:
    if x.ndim - tau.ndim != 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal "
            f"to {tau.ndim} and input.ndim is equal to {x.ndim}"
        )
    if tau.shape[:-1] != x.shape[:-2]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(tau.shape[:-1])}"
        )


def _require_two_dims(name: str, label: str, x: Tensor) -> None:
    if x.ndim < 2:
        raise RuntimeError(f"{name}: {label} must have at least 2 dimensions.")
