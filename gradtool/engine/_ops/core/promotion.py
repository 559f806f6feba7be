"""Operands of one operation: their common dtype, shape and device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.device.differences import as_dtype
from gradtool.engine import _dtypes
from gradtool.engine._device import CPU, device_of
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._tensor import Tensor

# ---- dtype and shape -------------------------------------------------------------------------


def result_type(*operands: Any) -> _dtypes.dtype:
    """The dtype that an operation on these tensors and numbers has."""
    if len(operands) == 2:
        common = _dtype_of_pair(*operands)
        if common is not None:
            return common
    dimensioned: list[_dtypes.dtype] = []
    zero_dim: list[_dtypes.dtype] = []
    scalars: list[_dtypes.dtype] = []
    for operand in operands:
        if isinstance(operand, Tensor):
            (dimensioned if operand._array.ndim else zero_dim).append(operand.dtype)
        elif isinstance(operand, np.generic):
            scalars.append(_dtypes.of_scalar(operand.item()))
        else:
            scalars.append(_dtypes.of_scalar(operand))
    return _dtypes.result_type_of(dimensioned, zero_dim, scalars)


def _dtype_of_pair(x: Any, y: Any) -> _dtypes.dtype | None:
    """The dtype of the pairs that are common; None where the rules need a closer look."""
    if not isinstance(x, Tensor):
        return None
    kind = x._array.dtype
    if isinstance(y, Tensor):
        return x.dtype if y._array.dtype == kind else None
    return x.dtype if kind.kind in "fc" and y.__class__ in (float, int) else None


def cast(operand: Any, numpy_dtype: Any) -> Any:
    """The array of a tensor, or a NumPy scalar for a number, in this dtype; integers wrap."""
    if isinstance(operand, Tensor):
        array = operand._array
        return array if array.dtype == numpy_dtype else _as_dtype(array, numpy_dtype)
    return _as_dtype(np.asarray(operand), numpy_dtype)[()]


@ignore_fp_warnings
def _as_dtype(array: Any, numpy_dtype: Any) -> Any:
    return as_dtype(array, numpy_dtype)


def check_operands(name: str, *operands: Any) -> None:
    """Refuse what is neither a tensor nor a number.

    Raises:
        TypeError: an operand is something else.
    """
    for position, operand in enumerate(operands):
        if not isinstance(operand, Tensor | int | float | complex | np.generic):
            raise TypeError(
                f"{name}(): argument '{'other' if position else 'input'}' "
                f"(position {position + 1}) must be Tensor, not {type(operand).__name__}"
            )


def require_tensor(name: str, value: Any, argument: str = "input") -> None:
    """Refuse what is not a tensor as the argument ``input`` or ``other``.

    Raises:
        TypeError: it is something else.
    """
    if not isinstance(value, Tensor):
        position = 1 if argument == "input" else 2
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be Tensor, "
            f"not {type(value).__name__}"
        )


def unlike_shapes(*shapes: tuple[int, ...]) -> RuntimeError:
    """The error for shapes that do not broadcast, worded as torch's."""
    found: dict[int, int] = {}
    ndim = max(len(shape) for shape in shapes)
    for shape in shapes:
        for dim, extent in enumerate(shape, ndim - len(shape)):
            if extent != 1 and found.setdefault(dim, extent) != extent:
                return RuntimeError(
                    f"The size of tensor a ({found[dim]}) must match the size of tensor b "
                    f"({extent}) at non-singleton dimension {dim}"
                )
    return RuntimeError(f"shapes do not broadcast: {', '.join(map(str, shapes))}")


# ---- device ----------------------------------------------------------------------------------
#
# Nothing is asked beforehand: an array library that meets an array of the other one raises a
# TypeError, and only then is it found out whether that was the reason.


class ApartError(RuntimeError):
    """Tensors of one operation lie on different devices."""


def refuse_apart(arrays: Sequence[Any]) -> None:
    """Refuse arrays of different devices.

    Raises:
        ApartError: they do not all lie on one.
    """
    placed = [
        each for each in arrays if hasattr(each, "device") and not isinstance(each, np.generic)
    ]
    places = dict.fromkeys(device_of(each) for each in placed)
    if len(places) > 1:
        first, second = sorted(map(str, places), reverse=True)[:2]
        raise ApartError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{first} and {second}!"
        )


def to_common_device(operands: Sequence[Any]) -> list[Any]:
    """The operands, of which 0-d tensors of the CPU are moved to where another one lies.

    Raises:
        ApartError: there are more of the CPU, or CUDA tensors of different devices.
    """
    tensors = [each for each in operands if isinstance(each, Tensor)]
    place = next((each.device for each in tensors if each.is_cuda), CPU)
    moved = [
        each.to(place) if isinstance(each, Tensor) and _may_move(each) else each
        for each in operands
    ]
    refuse_apart([each._array for each in moved if isinstance(each, Tensor)])
    return moved


def _may_move(operand: Tensor) -> bool:
    return operand._array.ndim == 0 and not operand.is_cuda
