"""Logic of truth values, and of the bits of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine._ops.core.applying import promoted
from gradtool.engine._ops.core.kinds import Operation, elementwise
from gradtool.engine._ops.core.promotion import require_tensor
from gradtool.engine._ops.core.unsupported import not_implemented, refusing_floats
from gradtool.engine._tensor import Tensor

# ---- truth values: of any dtype, true unless zero -------------------------------------------


def _logical(name: str, compute: Callable[..., Any]) -> Operation:
    primitive = elementwise(name, compute, arguments=("x", "y"))

    def operation(x: Tensor, other: Tensor) -> Tensor:
        require_tensor(name, x)
        require_tensor(name, other)
        return promoted(primitive, (x, other))

    operation.__name__ = operation.__qualname__ = name
    return operation


logical_and = _logical("logical_and", np.logical_and)
logical_or = _logical("logical_or", np.logical_or)
logical_xor = _logical("logical_xor", np.logical_xor)
# Not NumPy's `logical_not`, as CuPy's takes no complex numbers.
_logical_not = elementwise("logical_not", lambda x: np.equal(x, 0), arguments=("x",))


def logical_not(x: Tensor) -> Tensor:
    """Whether each element is zero."""
    require_tensor("logical_not", x)
    return _logical_not(x)


# ---- bits -----------------------------------------------------------------------------------


def _bitwise(name: str, compute: Callable[..., Any]) -> Operation:
    primitive = elementwise(name, compute, arguments=("x", "y"))

    def operation(x: Any, other: Any) -> Tensor:
        return promoted(primitive, (x, other))

    operation.__name__ = operation.__qualname__ = name
    primitive.operation = operation
    return operation


def _shifting(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """Shifts by more bits than there are, or by less than none, leave nothing but the sign."""

    def shifted(x: Any, y: Any) -> Any:
        if x.dtype.kind not in "iu":
            raise not_implemented(name, x.dtype)
        bits = x.dtype.itemsize * 8
        everything = compute(compute(x, bits - 1), 1)
        return np.where((y < 0) | (y >= bits), everything, compute(x, y % bits)).astype(x.dtype)

    return shifted


bitwise_and = _bitwise("bitwise_and", refusing_floats("bitwise_and", np.bitwise_and))
bitwise_or = _bitwise("bitwise_or", refusing_floats("bitwise_or", np.bitwise_or))
bitwise_xor = _bitwise("bitwise_xor", refusing_floats("bitwise_xor", np.bitwise_xor))
bitwise_left_shift = _bitwise("bitwise_left_shift", _shifting("lshift", np.left_shift))
bitwise_right_shift = _bitwise("bitwise_right_shift", _shifting("rshift", np.right_shift))
_bitwise_not = elementwise(
    "bitwise_not", refusing_floats("bitwise_not", np.invert), arguments=("x",)
)


def bitwise_not(x: Tensor) -> Tensor:
    """Every bit of the integers turned over; of truth values, the opposite."""
    require_tensor("bitwise_not", x)
    return _bitwise_not(x)


__all__ = [
    "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "logical_and", "logical_not", "logical_or", "logical_xor",
]  # fmt: skip
