"""Named tuples of matrix functions with several outputs, under torch's names."""

from __future__ import annotations

from typing import NamedTuple

from gradtool.engine._tensor import Tensor


class linalg_slogdet(NamedTuple):
    """Sign, or phase, of a determinant, and the logarithm of its magnitude."""

    sign: Tensor
    logabsdet: Tensor


class slogdet(NamedTuple):
    """The same, of ``torch.slogdet``."""

    sign: Tensor
    logabsdet: Tensor


class linalg_qr(NamedTuple):
    """Orthonormal columns, and the triangle that they make the matrix with."""

    Q: Tensor
    R: Tensor


class qr(NamedTuple):
    """The same, of ``torch.qr``."""

    Q: Tensor
    R: Tensor


class linalg_eigh(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class linalg_eig(NamedTuple):
    """Eigenvalues in no particular order, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class linalg_svd(NamedTuple):
    """Singular values in descending order, between singular vectors: columns, then rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class svd(NamedTuple):
    """The same of ``torch.svd``, both vectors as columns."""

    U: Tensor
    S: Tensor
    V: Tensor


class linalg_inv_ex(NamedTuple):
    """An inverse, and zero where there is one."""

    inverse: Tensor
    info: Tensor


class linalg_lstsq(NamedTuple):
    """The solution of a least squares problem, and what is known of it."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


class triangular_solve(NamedTuple):
    """The solution of a triangular system, and a copy of its matrix."""

    solution: Tensor
    cloned_coefficient: Tensor
