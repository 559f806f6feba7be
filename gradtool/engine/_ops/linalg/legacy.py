"""Linear algebra at the top of torch's namespace, where names and results are older ones."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.op import METHODS, op
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.creation.creation import zeros
from gradtool.engine._ops.linalg import householder, singular_values
from gradtool.engine._ops.linalg import lu as _lu
from gradtool.engine._ops.linalg.qr import qr as reduced_or_complete
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._tensor import Tensor


@return_type("qr")
class QR(NamedTuple):
    """Orthonormal columns, and the triangle that they make the matrix with."""

    Q: Tensor
    R: Tensor


@op(method=True, node="LinalgQrBackward0")
def qr(x: Tensor, some: bool = True) -> QR:
    """`linalg.qr`: reduced, or else complete."""
    return QR(*reduced_or_complete(x, "reduced" if some else "complete"))


@return_type("svd")
class SVD(NamedTuple):
    """Singular values in descending order, between singular vectors as columns."""

    U: Tensor
    S: Tensor
    V: Tensor


@op(method=True, node="LinalgSvdBackward0")
def svd(x: Tensor, some: bool = True, compute_uv: bool = True) -> SVD:
    """`linalg.svd` with the right vectors as columns; zeros for vectors not asked for."""
    left, values, right = singular_values.svd(x, full_matrices=not some and compute_uv)
    if compute_uv:
        return SVD(left, values, adjoint(right))
    rows, columns = x.shape[-2:]
    return SVD(
        x.new_zeros((*x.shape[:-2], rows, rows)),
        values,
        x.new_zeros((*x.shape[:-2], columns, columns)),
    )


@op(method=True)
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:  # noqa: N803 - torch's name
    """`linalg.lu_factor`, and zeros if they are asked for."""
    factors = _lu.lu_factor(A, pivot=pivot)
    if not get_infos:
        return tuple(factors)
    return (*factors, zeros(tuple(A.shape[:-2]), dtype=_dtypes.int32))


@op(method=True)
def lu_solve(x: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:  # noqa: N803 - torch's names
    """`linalg.lu_solve`, the right-hand side first."""
    return _lu.lu_solve(LU_data, LU_pivots, x)


@op(method=True)
def geqrf(x: Tensor) -> householder.ReflectorsAndFactors:
    """The QR factorization as LAPACK leaves it: reflectors below R. It has no derivative."""
    return householder.qr_of_reflectors(x)


@op(method=True)
def orgqr(x: Tensor, tau: Tensor) -> Tensor:
    """`linalg.householder_product`."""
    return householder.householder_product(x, tau)


_REMOVED = {
    "eig": "eig", "lstsq": "lstsq", "matrix_rank": "matrix_rank", "solve": "solve",
    "symeig": "eigh",
}  # fmt: skip
"""Names that PyTorch has removed, and what ``torch.linalg`` has in their place."""


def _removed(called: str, instead: str) -> Any:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise RuntimeError(
            f"{called} was deprecated since version 1.9 and is now removed. "
            f"Please use torch.linalg.{instead} instead."
        )

    return refuse


for _name, _instead in _REMOVED.items():
    op(_removed(f"torch.{_name}", _instead), name=_name)
    if _name != "matrix_rank":
        METHODS[_name] = _removed(f"Tensor.{_name}", _instead)
