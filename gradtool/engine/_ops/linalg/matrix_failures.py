"""Why a matrix has no inverse, no Cholesky factor or no solution, in torch's words."""

from __future__ import annotations

from typing import Any

import numpy as np


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
    """Which pivot of an elimination with row exchanges is zero, counted from 1."""
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

__all__ = ["LinAlgError", "failure"]
