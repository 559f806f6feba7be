"""Checks, error messages and packed factors that functions of matrices share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from gradtool.device import module_of
from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import broadcasting, unchanged
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import FACTORED, INT32, TYPE_NAMES, not_implemented
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import constant, linear
from gradtool.engine._ops.creation.creation import ones_like
from gradtool.engine._ops.linalg.elimination import eliminated
from gradtool.engine._ops.shape.diagonals import diag_embed
from gradtool.engine._ops.shape.expansion import broadcast_shapes
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor

# ---- failures --------------------------------------------------------------------------------


class LinAlgError(RuntimeError):
    """A matrix has no such function: it is singular, say, or not positive definite."""


# Tracebacks, and scripts that print the type, show torch's name.
LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
LinAlgError.__module__ = "torch._C"


def failure(name: str, x: Any, error: Exception) -> LinAlgError:
    """The error for what NumPy refused, naming the first matrix of a batch that is the reason."""
    find = _FOUND.get(_kind(name), (None, ""))[0]
    array = np.asarray(x.get() if hasattr(x, "get") else x)
    if find is not None:
        for number, matrix in enumerate(array.reshape(-1, *array.shape[-2:])):
            place = find(matrix)
            if place is not None:
                return LinAlgError(_reason(name, place, number if array.ndim > 2 else None))
    return LinAlgError(f"{name}: {error}")


def _checked(info: Any, *, name: str, kind: type[RuntimeError]) -> Any:
    numbers = info.reshape(-1).tolist() if info.any() else []
    for number, place in enumerate(numbers):
        if place:
            raise kind(_reason(name, place, number if info.ndim else None))
    return info


_check = constant("linalg_check_errors", _checked, dtypes=INT32, batch=unchanged)


def check_info(name: str, info: Tensor, kind: type[RuntimeError] = LinAlgError) -> None:
    """Raise for the first matrix whose `info` is not zero.

    Raises:
        RuntimeError: there is one; of this kind.
    """
    _check(info, name=name, kind=kind)


def _reason(name: str, place: int, number: int | None) -> str:
    batch = "" if number is None else f"(Batch element {number}): "
    return f"{name}: {batch}{_FOUND[_kind(name)][1].format(place)}"


def _kind(name: str) -> str:
    return name.rpartition(".")[2].removesuffix("_ex")


def _zero_pivot(matrix: Any) -> int | None:
    """Return the number, from 1, of the zero pivot in an elimination with row exchanges."""
    missing = eliminated(matrix, pivoting=True)[0].diagonal() == 0
    return int(missing.argmax()) + 1 if missing.any() else None


def _zero_on_diagonal(matrix: Any) -> int | None:
    missing = matrix.diagonal() == 0
    return int(missing.argmax()) + 1 if missing.any() else None


def bad_minor(matrix: Any) -> int | None:
    """The order of the first leading minor that is not positive definite."""
    for order in range(1, len(matrix) + 1):
        try:
            if not np.isnan(np.linalg.cholesky(matrix[:order, :order])[-1, -1]):
                continue
        except np.linalg.LinAlgError:
            pass
        return order
    return None


_INVERSION = (
    "The diagonal element {} is zero, the inversion could not be completed because the input "
    "matrix is singular."
)
_FOUND: dict[str, tuple[Callable[[Any], int | None] | None, str]] = {
    "inv": (_zero_pivot, _INVERSION),
    "cholesky_inverse": (_zero_on_diagonal, _INVERSION),
    "solve": (_zero_pivot, "The solver failed because the input matrix is singular."),
    "cholesky": (
        bad_minor,
        "The factorization could not be completed because the input is not positive-definite (the "
        "leading minor of order {} is not positive-definite).",
    ),
    "lu_factor": (
        _zero_pivot,
        "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you "
        "still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
        "linalg.lu_factor_ex(A, pivot)",
    ),
    "ldl_factor": (None, "Unknown error code: {}."),
    "svd": (
        lambda matrix: None if np.isfinite(matrix).all() else 1,
        "The algorithm failed to converge because the input matrix contained non-finite values.",
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


def require_two_dims(x: Tensor, name: str, argument: str = "A") -> None:
    """Refuse what is not a matrix or a batch of them.

    Raises:
        RuntimeError: it has fewer than two dimensions.
    """
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")


def require_matrices(x: Tensor, name: str, argument: str = "A") -> None:
    """Refuse what is not a matrix or a batch of them, of floating or complex numbers.

    Raises:
        RuntimeError: it has fewer than two dimensions, or another dtype.
    """
    require_two_dims(x, name, argument)
    require_floats(x, name)


def require_floats(x: Tensor, name: str) -> None:
    """Refuse a tensor of other than floating or complex numbers, in the words of each function.

    Raises:
        RuntimeError: it has another dtype.
        NotImplementedError: PyTorch finds that out no sooner than in its kernel.
    """
    if x.dtype in FACTORED:
        return
    if name in _UNCHECKED:
        raise not_implemented(_UNCHECKED[name], x._array.dtype)
    if not x.dtype.is_differentiable:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. "
            f"Got {TYPE_NAMES[x.dtype.name]}"
        )
    if name in _LOW_PRECISION_UNCHECKED:
        raise not_implemented(_LOW_PRECISION_UNCHECKED[name], x._array.dtype)
    raise RuntimeError(
        f"{name}: Low precision dtypes not supported. Got {TYPE_NAMES[x.dtype.name]}"
    )


_UNCHECKED = {
    "cholesky": "cholesky_cpu", "linalg.eigh": "linalg_eigh_cpu", "linalg.lu": "lu_cpu",
    "linalg.solve_triangular": "triangular_solve_cpu",
    "torch.linalg.lu_factor": "lu_cpu", "torch.linalg.lu_factor_ex": "lu_cpu",
}  # fmt: skip
"""Kernels that see every dtype, by the function that checks none."""
_LOW_PRECISION_UNCHECKED = {
    "linalg.cholesky": "cholesky_cpu", "linalg.det": "lu_cpu", "linalg.eig": "linalg_eig_out_cpu",
    "linalg.eigvals": "linalg_eig_out_cpu", "linalg.lu_solve": "linalg.lu_solve_cpu",
    "linalg.qr": "geqrf_cpu", "linalg.solve": "lu_cpu", "linalg.svd": "linalg_svd_cpu",
    "torch.linalg.ldl_factor_ex": "ldl_factor_kernel_cpu",
}  # fmt: skip
"""Kernels that see half precision, by the function that checks for integers alone."""


def require_square(x: Tensor, name: str, argument: str = "A", *, of_floats: bool = True) -> None:
    """Refuse what is not a square matrix or a batch of them, and by default other dtypes.

    Raises:
        RuntimeError: it is something else.
    """
    require_two_dims(x, name, argument)
    rows, columns = x.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{name}: {argument} must be batches of square matrices, but they are "
            f"{rows} by {columns} matrices"
        )
    if of_floats:
        require_floats(x, name)


def check_systems(name: str, b: Tensor, x: Tensor) -> None:
    """Refuse what the older functions that solve systems do not take, in their words.

    Raises:
        RuntimeError: the dtypes differ, `x` is not square, or the extents do not fit.
    """
    (rows, columns), (b_rows, b_columns) = x.shape[-2:], b.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )
    if rows != b_rows:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {rows} by {rows} but each b "
            f"matrix is {b_rows} by {b_columns}"
        )
    if b.dtype is not x.dtype:
        raise RuntimeError(
            "Expected b and A to have the same dtype, but found b of type "
            f"{TYPE_NAMES[b.dtype.name]} and A of type {TYPE_NAMES[x.dtype.name]} instead."
        )
    broadcast_shapes(b.shape[:-2], x.shape[:-2])


def check_dtypes(name: str, x: Tensor, y: Tensor) -> None:
    """Refuse a system of two dtypes.

    Raises:
        RuntimeError: they differ.
    """
    if x.dtype is not y.dtype:
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type "
            f"{x.dtype} and B of type {y.dtype} instead"
        )


def check_extents(name: str, x: Tensor, y: Tensor, left: bool) -> None:
    """Refuse a system whose sides do not fit.

    Raises:
        RuntimeError: the right side is no matrix, or the extents do not fit or broadcast.
    """
    require_two_dims(y, name, "B")
    broadcast_shapes(x.shape[:-2], y.shape[:-2])
    if y.shape[-2 if left else -1] != x.shape[-1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({x.shape[-2]}x{x.shape[-1]} and "
            f"{y.shape[-2]}x{y.shape[-1]})"
        )


def is_vector_for(x: Tensor, y: Tensor) -> bool:
    """Return True where the right side of a system is one vector for each matrix."""
    return y.ndim == 1 or (x.ndim - 1 == y.ndim and y.shape == x.shape[:-1])


# ---- factors side by side --------------------------------------------------------------------


def packed(dtype: Any, *factors: tuple[Any, int]) -> Any:
    """One array with all factors, each given with its number of dimensions within a batch."""
    flat = [
        array.reshape(*array.shape[: array.ndim - rank], prod(array.shape[array.ndim - rank :]))
        for array, rank in factors
    ]
    return np.concatenate([each.astype(dtype) for each in flat], axis=-1)


def packed_tensors(*factors: tuple[Tensor, int]) -> Tensor:
    """`packed` for tensors of one dtype."""
    shapes = [each.shape for each, _ in factors]
    places = [each.ndim - rank for each, rank in factors]
    return cat(
        [each.reshape(*shape[:place], prod(shape[place:]))
         for (each, _), shape, place in zip(factors, shapes, places)], -1,
    )  # fmt: skip


def unpacked(x: Tensor, *shapes: Ints) -> list[Tensor]:
    """The factors of these shapes."""
    factors, start = [], 0
    for shape in shapes:
        count = prod(shape)
        factors.append(x.narrow(-1, start, count).reshape(*x.shape[:-1], *shape))
        start += count
    return factors


def first_of(failed: Tensor) -> Tensor:
    """The number, from 1, of the first True along the last dimension, or zero, as an int32."""
    before = (failed.cumsum(-1) == 0).sum(-1)
    found: Tensor = ((before + 1) * failed.any(-1)).to(_dtypes.int32)
    return found


# ---- arrays ----------------------------------------------------------------------------------


def turned(x: Any) -> Any:
    """The adjoint of each matrix."""
    return x.conj().swapaxes(-2, -1)


def identity(x: Any) -> Any:
    """The identity matrix of the extent and the dtype of the square matrices `x`."""
    return module_of(x).eye(x.shape[-1], dtype=x.dtype)


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
