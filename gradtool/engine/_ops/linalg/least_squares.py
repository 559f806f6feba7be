"""Least squares: the X for which ``A X`` comes closest to B."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradtool.engine._ops.core.dtype_support import FACTORED, TYPE_NAMES
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.elementwise.complex_parts import real
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.pseudoinverse import matrix_rank, pinv
from gradtool.engine._ops.linalg.singular_values import svdvals
from gradtool.engine._tensor import Tensor

_DRIVERS = ("gels", "gelsd", "gelss", "gelsy")
_BY_SINGULAR_VALUES = ("gelsd", "gelss")


@return_type("linalg_lstsq")
class LinalgLstsq(NamedTuple):
    """The solution of a least squares problem, with its residuals and rank."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


@node_name("LinalgLstsqBackward0")
def lstsq(
    A: Tensor,  # noqa: N803 - torch's name
    B: Tensor,  # noqa: N803
    rcond: float | Tensor | None = None,
    *,
    driver: str | None = None,
) -> LinalgLstsq:
    """The solution of smallest norm, by the pseudoinverse.

    Residuals are empty unless A has more rows than columns and full rank. The driver decides which
    of the other results are filled, as it does in PyTorch, and nothing else.

    Raises:
        RuntimeError: there is no such driver, or the extents or dtypes do not fit.
    """
    _check(A, B)
    driver = "gelsy" if driver is None else driver
    if driver not in _DRIVERS:
        raise RuntimeError(
            "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )
    vectors = A.ndim > B.ndim
    right = B.unsqueeze(-1) if vectors else B
    if isinstance(rcond, Tensor):
        rcond = float(rcond)
    if rcond is not None and rcond < 0:
        rcond = float(np.finfo(A._array.dtype).eps)
    solution = matmul(pinv(A, rtol=rcond), right)
    nothing = real(A).reshape(-1).narrow(0, 0, 0)
    missing = nothing.detach()
    rank = missing.long() if driver == "gels" else matrix_rank(A, rtol=rcond)
    values = svdvals(A.detach()) if driver in _BY_SINGULAR_VALUES else missing
    has_residuals = A.shape[-2] > A.shape[-1] and driver != "gelsy" and A.numel() + B.numel()
    if has_residuals and driver != "gels":
        has_residuals = bool((rank == A.shape[-1]).all())
    residuals = _residuals(A, right, solution) if has_residuals else nothing
    return LinalgLstsq(solution.squeeze(-1) if vectors else solution, residuals, rank, values)


def _check(x: Tensor, y: Tensor) -> None:
    name = "torch.linalg.lstsq"
    if x.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if y.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if x.dtype is not y.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype "
            f"{TYPE_NAMES[x.dtype.name]} and other's dtype {TYPE_NAMES[y.dtype.name]}"
        )
    if x.dtype not in FACTORED:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if not 0 <= x.ndim - y.ndim <= 1:
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - "
            "other.dim()) <= 1"
        )
    last = -1 if x.ndim > y.ndim else -2
    if x.shape[-2] != y.shape[last]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size({last})")


def _residuals(x: Tensor, right: Tensor, solution: Tensor) -> Tensor:
    difference = (matmul(x, solution) - right).abs()
    total: Tensor = (difference * difference).sum(-2)
    return total
