"""Systems of equations between tensors, solved as matrices of their flattened dimensions."""

from __future__ import annotations

from math import prod

from gradtool.engine._ops.linalg.inverses import inv, solve
from gradtool.engine._ops.shape.axes import movedim
from gradtool.engine._tensor import Tensor


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:  # noqa: N803 - torch's name
    """The inverse of `tensordot` with A over as many dimensions as follow the first `ind`.

    Raises:
        LinAlgError: there is none.
        RuntimeError: `ind` is not positive, or A is not square when it is cut there.
    """
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind', but got " + str(ind))
    before, after = A.shape[:ind], A.shape[ind:]
    if prod(before) != prod(after):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {prod(after)} != {prod(before)}"
        )
    inverse = inv(A.reshape(prod(after), prod(before)))
    return inverse.reshape((*after, *before))


def tensorsolve(A: Tensor, B: Tensor, dims: tuple[int, ...] | None = None) -> Tensor:  # noqa: N803
    """X with ``tensordot(A, X, X.ndim)`` equal to B, the dimensions `dims` of A moved to its end.

    Raises:
        LinAlgError: there is none.
        RuntimeError: A is not square when it is cut after the dimensions of B.
    """
    if dims is not None:
        A = movedim(A, dims, tuple(range(A.ndim - len(dims), A.ndim)))  # noqa: N806
    unknown = A.shape[B.ndim :]
    if prod(unknown) != prod(A.shape[: B.ndim]):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {prod(unknown)} != {prod(A.shape[: B.ndim])}"
        )
    solution = solve(A.reshape(-1, prod(unknown)), B.reshape(-1))
    return solution.reshape(unknown)
