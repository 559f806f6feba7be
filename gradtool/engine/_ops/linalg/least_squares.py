"""Least squares: the X for which ``A X`` comes closest to B."""

from __future__ import annotations

from typing import NamedTuple

from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.linalg.inverses import pinv
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.norms import matrix_rank
from gradtool.engine._tensor import Tensor

_DRIVERS = ("gels", "gelsd", "gelss", "gelsy")


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
    rcond: float | None = None,
    *,
    driver: str | None = None,
) -> LinalgLstsq:
    """The solution of smallest norm, by the pseudoinverse.

    The residuals are empty unless A has more rows than columns and full rank. Rank and singular
    values are filled as torch's drivers do; the driver decides nothing else.

    Raises:
        RuntimeError: there is no such driver.
    """
    if driver not in (None, *_DRIVERS):
        raise RuntimeError(
            "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )
    vectors = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
    right = B.unsqueeze(-1) if vectors else B
    inverse = pinv(A, rtol=rcond)
    solution = matmul(inverse, right)
    rank = A.new_empty((0,)).long() if driver == "gels" else matrix_rank(A, rtol=rcond)
    nothing = A.new_empty((0,))
    residuals = _residuals(A, right, solution) if A.shape[-2] > A.shape[-1] else nothing
    return LinalgLstsq(solution.squeeze(-1) if vectors else solution, residuals, rank, nothing)


def _residuals(A: Tensor, right: Tensor, solution: Tensor) -> Tensor:  # noqa: N803
    difference = (matmul(A, solution) - right).abs()
    total: Tensor = (difference * difference).sum(-2)
    return total
