"""Linear algebra, under the names of ``torch.linalg``."""

from gradtool.engine._keywords import with_keywords
from gradtool.engine._ops.core.node_names import published
from gradtool.engine._ops.linalg.cholesky import cholesky, cholesky_ex
from gradtool.engine._ops.linalg.contraction import linalg_cross as cross
from gradtool.engine._ops.linalg.contraction import linalg_vander as vander
from gradtool.engine._ops.linalg.contraction import matrix_power, multi_dot, vecdot
from gradtool.engine._ops.linalg.eigenvalues import eig, eigh, eigvals, eigvalsh
from gradtool.engine._ops.linalg.householder import householder_product
from gradtool.engine._ops.linalg.inverses import (
    inv,
    inv_ex,
    solve,
    solve_ex,
    solve_triangular,
)
from gradtool.engine._ops.linalg.ldl import ldl_factor, ldl_factor_ex, ldl_solve
from gradtool.engine._ops.linalg.least_squares import lstsq
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.lu import lu, lu_factor, lu_factor_ex, lu_solve
from gradtool.engine._ops.linalg.matrices import LinAlgError
from gradtool.engine._ops.linalg.matrix_functions import det, matrix_exp
from gradtool.engine._ops.linalg.matrix_functions import linalg_slogdet_of as slogdet
from gradtool.engine._ops.linalg.norms import cond, matrix_norm, norm, vector_norm
from gradtool.engine._ops.linalg.pseudoinverse import matrix_rank, pinv
from gradtool.engine._ops.linalg.qr import qr
from gradtool.engine._ops.linalg.singular_values import svd, svdvals
from gradtool.engine._ops.linalg.tensor_equations import tensorinv, tensorsolve
from gradtool.engine._tensor import Tensor


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:  # noqa: N803 - torch's name
    """Diagonals of matrices, as a view."""
    return A.diagonal(offset, dim1, dim2)


__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

for _name in __all__:
    globals()[_name] = published(globals()[_name])
    if not isinstance(globals()[_name], type):
        globals()[_name] = with_keywords(globals()[_name])
