"""Approximate singular values of matrices of low rank, from a random sample of their columns.

Source: Halko, Martinsson and Tropp, "Finding Structure with Randomness: Probabilistic Algorithms
for Constructing Approximate Matrix Decompositions", 2009, algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.creation.random import randn
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.qr import qr
from gradtool.engine._ops.linalg.singular_values import svd
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._tensor import Tensor

Factors = tuple[Tensor, Tensor, Tensor]


@op
def svd_lowrank(
    A: Tensor,  # noqa: N803 - torch's name
    q: int | None = 6,
    niter: int | None = 2,
    M: Tensor | None = None,  # noqa: N803
) -> Factors:
    """U, S and V of the `q` largest singular values of ``A - M``, nearly."""
    x = A if M is None else A - M.broadcast_to(A.shape)
    wide = x.shape[-2] < x.shape[-1]
    if wide:
        x = adjoint(x)
    basis = _basis(x, 6 if q is None else q, 2 if niter is None else niter)
    left, values, right = svd(matmul(adjoint(basis), x), full_matrices=False)
    left = matmul(basis, left)
    return (adjoint(right), values, left) if wide else (left, values, adjoint(right))


def _basis(x: Tensor, count: int, rounds: int) -> Tensor:
    """Orthonormal columns whose span nearly holds the columns of a tall matrix."""
    drawn = randn(x.shape[-1], count, dtype=x.dtype, device=x.device)
    basis = qr(matmul(x, drawn)).Q
    for _ in range(rounds):
        basis = qr(matmul(adjoint(x), basis)).Q
        basis = qr(matmul(x, basis)).Q
    return basis


@op
def pca_lowrank(
    A: Tensor,  # noqa: N803
    q: int | None = None,
    center: bool = True,
    niter: int = 2,
) -> Factors:
    """`svd_lowrank` of rows from which their mean is taken, if they are to be centred.

    Raises:
        ValueError: `q` is negative or larger than the extents, or `niter` is negative.
    """
    extent = min(A.shape[-2:])
    count = min(6, extent) if q is None else q
    if not 0 <= count <= extent:
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={extent}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(dim=(-2,), keepdim=True) if center else A, count, niter)
