"""Checks, error messages and packed factors that functions of matrices share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from gradtool.engine._ops.core.batching import broadcasting
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import FACTORED, TYPE_NAMES
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.creation.creation import ones_like
from gradtool.engine._ops.shape.diagonals import diag_embed
from gradtool.engine._tensor import Tensor

# ---- failures --------------------------------------------------------------------------------


class LinAlgError(RuntimeError):
    """A matrix has no such function: it is singular, say, or not positive definite."""


# Tracebacks, and scripts that print the type, show torch's name.
LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
LinAlgError.__module__ = "torch._C"


def failure(name: str, x: Any, error: Exception) -> LinAlgError:
    """The error for what NumPy refused, naming the first matrix of a batch that is the reason."""
    if name not in _FOUND:
        return LinAlgError(f"linalg.{name}: {error}")
    find, text = _FOUND[name]
    array = np.asarray(x.get() if hasattr(x, "get") else x)
    for number, matrix in enumerate(array.reshape(-1, *array.shape[-2:])):
        place = find(matrix)
        if place is not None:
            batch = f"(Batch element {number}): " if array.ndim > 2 else ""
            prefix = "torch.linalg" if name == "solve" else "linalg"
            return LinAlgError(f"{prefix}.{name}: {batch}{text.format(place)}")
    return LinAlgError(f"linalg.{name}: {error}")


def _zero_pivot(matrix: Any) -> int | None:
    """Return the number, from 1, of the zero pivot in an elimination with row exchanges."""
    rows = matrix.copy()
    for step in range(len(rows)):
        largest = step + int(np.abs(rows[step:, step]).argmax())
        if rows[largest, step] == 0:
            return step + 1
        rows[[step, largest]] = rows[[largest, step]]
        below = rows[step + 1 :]
        below -= np.outer(below[:, step] / rows[step, step], rows[step])
    return None


def _bad_minor(matrix: Any) -> int | None:
    """The order of the first leading minor that is not positive definite."""
    for order in range(1, len(matrix) + 1):
        try:
            np.linalg.cholesky(matrix[:order, :order])
        except np.linalg.LinAlgError:
            return order
    return None


_FOUND = {
    "inv": (
        _zero_pivot,
        "The diagonal element {} is zero, the inversion could not be completed because the input "
        "matrix is singular.",
    ),
    "solve": (_zero_pivot, "The solver failed because the input matrix is singular."),
    "cholesky": (
        _bad_minor,
        "The factorization could not be completed because the input is not positive-definite (the "
        "leading minor of order {} is not positive-definite).",
    ),
}
"""How to find the reason in a matrix, and what to say of it."""


# ---- matrices and batches of them ------------------------------------------------------------
#
# A matrix function takes one matrix or a batch of them along leading dimensions.
#
# A factorization has several outputs, a primitive has one. Its primitive therefore computes all
# factors once, as one array that holds them flattened one after another along the last
# dimension; each factor is a piece of that. So it has one vjp, which sees the gradients of all
# factors together, and higher orders, forward mode and batching work as for any primitive.


def of_matrices(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute` in silence, where NumPy's failure is an error under torch's name for it.

    Raises:
        LinAlgError: there is no result.
    """

    @functools.wraps(compute)
    def computed(*args: Any, **params: Any) -> Any:
        try:
            return silent(*args, **params)
        except np.linalg.LinAlgError as error:
            raise failure(name, args[0], error) from None

    silent = ignore_fp_warnings(compute)
    return computed


def require_matrices(x: Tensor, name: str, argument: str = "A") -> None:
    """Refuse what is not a matrix or a batch of them, of floating or complex numbers.

    Raises:
        RuntimeError: it has fewer than two dimensions, or another dtype.
    """
    if x.ndim < 2:
        raise RuntimeError(
            f"linalg.{name}: The input tensor {argument} must have at least 2 dimensions."
        )
    if not x.dtype.is_differentiable:
        raise RuntimeError(
            f"linalg.{name}: Expected a floating point or complex tensor as input. "
            f"Got {TYPE_NAMES[x.dtype.name]}"
        )
    if x._array.dtype.name == "float16":
        raise RuntimeError(f"linalg.{name}: Low precision dtypes not supported. Got Half")


def require_square(x: Tensor, name: str, argument: str = "A") -> None:
    """Refuse what is not a square matrix or a batch of them.

    Raises:
        RuntimeError: it is something else.
    """
    require_matrices(x, name, argument)
    rows, columns = x.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"linalg.{name}: {argument} must be batches of square matrices, but they are "
            f"{rows} by {columns} matrices"
        )


# ---- factors side by side --------------------------------------------------------------------


def packed(dtype: Any, *factors: tuple[Any, int]) -> Any:
    """One array with all factors, each given with its number of dimensions within a batch."""
    flat = [
        array.reshape(*array.shape[: array.ndim - rank], prod(array.shape[array.ndim - rank :]))
        for array, rank in factors
    ]
    return np.concatenate([each.astype(dtype) for each in flat], axis=-1)


def unpacked(x: Tensor, *shapes: Ints) -> list[Tensor]:
    """The factors of these shapes."""
    factors, start = [], 0
    for shape in shapes:
        count = prod(shape)
        factors.append(x.narrow(-1, start, count).reshape(*x.shape[:-1], *shape))
        start += count
    return factors


# ---- helpers of vjps -------------------------------------------------------------------------


def divided(x: Tensor, y: Tensor) -> Tensor:
    """``x / y``, and zero where both are: what is not asked for may well be undefined."""
    return x / y.masked_fill((x == 0) & (y == 0), 1)


def _without_phase(x: Any, *, message: str) -> Any:
    """Refuse imaginary parts above 1e-2, as torch does, or that much of numbers above one."""
    if x.dtype.kind == "c" and (np.abs(x.imag) > 1e-2 * np.maximum(np.abs(x), 1)).any():
        raise RuntimeError(message)
    return x.copy()


require_no_phase = linear(
    "phase_check", _without_phase, lambda g: g, dtypes=FACTORED, batch=broadcasting
)
"""What turning a vector's phase would change in a loss; raises where that is not nothing."""


def identity_like(vectors: Tensor) -> Tensor:
    """The identity matrix for vectors of this length, for each of them."""
    return diag_embed(ones_like(vectors.detach()))


__all__ = ["LinAlgError", "failure"]
