"""Products of Householder reflectors, as LAPACK's QR stores them below the diagonal."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtool.engine._ops.core.kinds import conjugate, constant
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.matrices import packed, require_matrices, unpacked
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._ops.shape.diagonals import tril
from gradtool.engine._tensor import Tensor


class geqrf(NamedTuple):
    """R with the reflectors below it, and the factor of each reflector."""

    a: Tensor
    tau: Tensor


def _raw_qr(x: Any) -> Any:
    reflectors, factors = np.linalg.qr(x, mode="raw")
    return packed(x.dtype, (np.swapaxes(reflectors, -1, -2), 2), (factors, 1))


_raw = constant("geqrf", _raw_qr)


def qr_of_reflectors(x: Tensor) -> geqrf:
    """``torch.geqrf``: the QR factorization as LAPACK leaves it. It has no derivative.

    Raises:
        RuntimeError: it is no matrix of floating or complex numbers.
    """
    require_matrices(x, "geqrf", "input")
    rows, columns = x.shape[-2:]
    return geqrf(*unpacked(_raw(x), (rows, columns), (min(rows, columns),)))


def _directions(x: Tensor, count: int) -> list[Tensor]:
    """Columns of which each reflects: a one on the diagonal, and what is stored below it."""
    rows, columns = x.shape[-2:]
    place = arange(rows, device=x.device).unsqueeze(-1) == arange(columns, device=x.device)
    whole = tril(x, -1) + place.to(x.dtype)
    return [whole.narrow(-1, at, 1) for at in range(count)]


def _reflected(direction: Tensor, factor: Tensor, y: Tensor) -> Tensor:
    """``(I - tau v vᴴ) y``."""
    return y - matmul(direction * factor, matmul(adjoint(direction), y))


def _factors(tau: Tensor) -> list[Tensor]:
    return [tau.narrow(-1, at, 1).unsqueeze(-1) for at in range(tau.shape[-1])]


def householder_product(A: Tensor, tau: Tensor) -> Tensor:  # noqa: N803 - torch's name
    """The first columns of the product of all reflectors, as many as `A` has.

    Raises:
        RuntimeError: `A` is no matrix, or wide, or has fewer columns than `tau` elements.
    """
    require_matrices(A, "householder_product", "input")
    rows, columns = A.shape[-2:]
    if rows < columns:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to "
            "input.shape[-1]"
        )
    if columns < tau.shape[-1]:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-1] must be greater than or equal to "
            "tau.shape[-1]"
        )
    place = arange(rows, device=A.device).unsqueeze(-1) == arange(columns, device=A.device)
    out = place.to(A.dtype)
    for direction, factor in reversed([*zip(_directions(A, tau.shape[-1]), _factors(tau))]):
        out = _reflected(direction, factor, out)
    return out


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
        RuntimeError: `x` is no matrix of floating or complex numbers.
    """
    require_matrices(x, "ormqr", "input")
    if not left:
        return adjoint(ormqr(x, input2, adjoint(input3), True, not transpose))
    pairs = [*zip(_directions(x, input2.shape[-1]), _factors(input2))]
    out = input3
    for direction, factor in pairs if transpose else reversed(pairs):
        out = _reflected(direction, conjugate(factor) if transpose else factor, out)
    return out


METHODS = {"ormqr": ormqr}
"""What is a method of tensors too."""

__all__ = ["ormqr"]
"""The others are functions of ``torch.linalg``, or go by another name here."""
