"""Applying an elementwise primitive to operands of whatever dtypes, shapes and levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._levels import alive, highest
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.devices import ApartError, brought_together, refuse_apart
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.core.promotion import cast, check_operands, result_type, unlike_shapes
from gradtool.engine._ops.core.unsupported import not_implemented
from gradtool.engine._tensor import Tensor, wrap


def promoted(
    primitive: Primitive,
    operands: Sequence[Any],
    *,
    keep_integers: bool = True,
    conditions: int = 0,
    **params: Any,
) -> Tensor:
    """Apply a primitive to tensors and numbers, brought to the dtype that they have in common.

    The first so many operands, `conditions`, are left as they are and have no part in it.

    Raises:
        TypeError: an operand is neither a tensor nor a number.
        RuntimeError: the shapes do not broadcast.
        NotImplementedError: there is no such function of elements of this dtype.
    """
    check_operands(primitive.name, *operands)
    operands = alive(operands)
    common = result_type(*operands[conditions:])
    if not keep_integers and common.category < _dtypes.FLOATING:
        common = _dtypes.get_default_dtype()
    level = highest(operands)
    if level is not None:
        lower = [_cast_at_level(each, common) for each in operands[conditions:]]
        out: Tensor = level.apply(primitive, [*operands[:conditions], *lower], params)
        return out
    arrays = [cast(each, common.numpy) for each in operands[conditions:]]
    arrays = [*[each._array for each in operands[:conditions]], *arrays]
    try:
        out = computed(primitive, arrays, params)
    except ApartError:
        together = brought_together(operands)
        return promoted(
            primitive, together, keep_integers=keep_integers, conditions=conditions, **params
        )
    if modes.grad:
        primitive.record_needed(operands, params, out)
    return out


def computed(
    primitive: Primitive, arrays: Sequence[Any], params: dict[str, Any] | None = None
) -> Tensor:
    """Compute in silence, and say what is wrong with the operands if something is.

    Raises:
        RuntimeError: the shapes do not broadcast.
        ApartError: the arrays lie on different devices.
        NotImplementedError: there is no such function of elements of this dtype.
    """
    try:
        return wrap(primitive.compute(*arrays, **(params or {})))
    except ValueError:
        raise unlike_shapes(*[np.shape(array) for array in arrays]) from None
    except TypeError:
        refuse_apart(arrays)
        raise not_implemented(primitive.name, arrays[0].dtype) from None


def _cast_at_level(operand: Any, common: _dtypes.dtype) -> Any:
    if isinstance(operand, Tensor) and operand._array.dtype != common.numpy:
        return operand.to(common)
    return operand
