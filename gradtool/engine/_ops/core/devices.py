"""Operands of one operation lie on one device; 0-d tensors of the CPU go where the others are.

Nothing is asked beforehand: an array library that meets an array of the other one raises a
TypeError, and only then is it found out whether that was the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine._device import CPU, device_of
from gradtool.engine._tensor import Tensor


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


def brought_together(operands: Sequence[Any]) -> list[Any]:
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
