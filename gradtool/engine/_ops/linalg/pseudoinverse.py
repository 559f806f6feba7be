"""The pseudoinverse and the rank of matrices, for which small singular values count as zero.

Source of the gradient: Golub and Pereyra, "The Differentiation of Pseudo-Inverses and Nonlinear
Least Squares Problems Whose Variables Separate", 1973.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.device import module_of
from gradtool.engine._ops.core.batching import broadcasting
from gradtool.engine._ops.core.dtype_support import FACTORED, TYPE_NAMES
from gradtool.engine._ops.core.kinds import constant, general
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.matrices import (
    of_matrices,
    require_square,
    require_two_dims,
    turned,
)
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._tensor import Tensor

# ---- what counts as zero ---------------------------------------------------------------------

Tolerance = float | Tensor | None


def tolerances(
    x: Tensor, atol: Tolerance, rtol: Tolerance, name: str
) -> tuple[float | Tensor, float | Tensor]:
    """The defaults of PyTorch, one for all matrices or tensors with one for each.

    `rtol` is by default the larger extent times the precision of the dtype, and zero where `atol`
    is positive.

    Raises:
        RuntimeError: one is a tensor of complex numbers.
    """
    for label, each in (("atol", atol), ("rtol", rtol)):
        if isinstance(each, Tensor) and each.is_complex():
            raise RuntimeError(
                f"{name}: {label} tensor of complex type is not supported. "
                f"Got {TYPE_NAMES[each.dtype.name]}"
            )
    absolute = 0.0 if atol is None else _for_each(atol)
    if rtol is not None:
        return absolute, _for_each(rtol)
    usual = float(np.finfo(x._array.dtype).eps) * max(x.shape[-2:])
    if isinstance(absolute, Tensor):
        return absolute, where(absolute > 0, 0.0, usual)
    return absolute, 0.0 if absolute > 0 else usual


def _for_each(tolerance: float | Tensor) -> float | Tensor:
    """With the two dimensions of the matrix that it is for."""
    if isinstance(tolerance, Tensor):
        return tolerance.detach().unsqueeze(-1).unsqueeze(-1)
    return tolerance


def _cutoff(values: Any, atol: Any, rtol: Any) -> Any:
    """The largest value that counts as zero, of positive ones along the last dimension."""
    atol, rtol = (each[..., 0] if hasattr(each, "shape") else each for each in (atol, rtol))
    largest = values.max(axis=-1, keepdims=True) if values.shape[-1] else 0.0
    return np.maximum(atol, rtol * largest)


# ---- pseudoinverse ---------------------------------------------------------------------------


def _pseudoinverse(x: Any, atol: Any, rtol: Any, *, hermitian: bool) -> Any:
    if hermitian:
        values, left = np.linalg.eigh(x)
        right = turned(left)
    else:
        left, values, right = np.linalg.svd(x, full_matrices=False)
    size = np.abs(values)
    large = size > _cutoff(size, atol, rtol).astype(size.dtype)
    inverses = np.where(large, 1 / np.where(large, values, 1), 0)
    return (turned(right) * inverses[..., None, :]) @ turned(left)


def _pseudoinverse_vjp(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    """Within the row and column space as for an inverse, and what leaves these spaces."""
    inverse_h, g_h = adjoint(out), adjoint(g)
    along = -matmul(matmul(inverse_h, g), inverse_h)
    return along + _leaving_columns(g_h, x, out) + _leaving_rows(g_h, x, out)


def _leaving_columns(g_h: Tensor, x: Tensor, inverse: Tensor) -> Tensor:
    """``(I - A A⁺) gᴴ A⁺ A⁺ᴴ``."""
    onto = matmul(g_h, matmul(inverse, adjoint(inverse)))
    return onto - matmul(x, matmul(inverse, onto))


def _leaving_rows(g_h: Tensor, x: Tensor, inverse: Tensor) -> Tensor:
    """``A⁺ᴴ A⁺ gᴴ (I - A⁺ A)``."""
    onto = matmul(matmul(adjoint(inverse), inverse), g_h)
    return onto - matmul(matmul(onto, inverse), x)


_pinv: Primitive = general(
    "linalg_pinv",
    of_matrices("linalg.svd", _pseudoinverse),
    _pseudoinverse_vjp,
    dtypes=FACTORED,
    batch=broadcasting,
)


def pinv(
    A: Tensor,  # noqa: N803
    rcond: Tolerance = None,
    hermitian: bool = False,
    *,
    atol: Tolerance = None,
    rtol: Tolerance = None,
) -> Tensor:
    """The Moore-Penrose pseudoinverse.

    Singular values up to ``max(atol, rtol * largest)`` count as zero. `rcond` is the old name of
    `rtol`.

    Raises:
        RuntimeError: it is no matrix of floating or complex numbers, or not square and `hermitian`.
    """
    if A.ndim < 2 or A.dtype not in FACTORED:
        raise RuntimeError(
            f"linalg.pinv({TYPE_NAMES[A.dtype.name]}{{{list(A.shape)}}}): expected a tensor with 2 "
            "or more dimensions of float, double, cfloat or cdouble types"
        )
    if hermitian:
        require_square(A, "linalg.eigh")
    relative = rcond if rtol is None else rtol
    return _pinv(A, *tolerances(A, atol, relative, "torch.linalg.pinv"), hermitian=hermitian)


@op(method=True)
def pinverse(x: Tensor, rcond: float = 1e-15) -> Tensor:
    """`linalg.pinv` with another default."""
    return pinv(x, rcond)


# ---- rank ------------------------------------------------------------------------------------


def _rank_of(x: Any, atol: Any, rtol: Any, *, hermitian: bool) -> Any:
    if 0 in x.shape:
        return module_of(x).zeros(x.shape[:-2], dtype=np.int64)
    size = np.abs(np.linalg.eigvalsh(x) if hermitian else np.linalg.svd(x, compute_uv=False))
    return (size > _cutoff(size, atol, rtol)).sum(axis=-1)


_rank = constant(
    "linalg_matrix_rank", of_matrices("linalg.svd", _rank_of), dtypes=FACTORED, batch=broadcasting
)


def matrix_rank(
    A: Tensor,  # noqa: N803
    tol: Tolerance = None,
    hermitian: bool = False,
    *,
    atol: Tolerance = None,
    rtol: Tolerance = None,
) -> Tensor:
    """Count the singular values above ``max(atol, rtol * largest)``; `tol` is an old `atol`.

    Raises:
        RuntimeError: it is no matrix of floating or complex numbers, or not square and `hermitian`.
    """
    require_two_dims(A, "torch.linalg.matrix_rank", "input")
    if A.dtype not in FACTORED:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if hermitian:
        require_square(A, "linalg.eigh")
    given = (atol, rtol) if tol is None else (tol, 0.0)
    return _rank(A, *tolerances(A, *given, "torch.linalg.matrix_rank"), hermitian=hermitian)
