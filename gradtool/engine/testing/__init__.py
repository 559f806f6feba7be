"""Random tensors for tests, and their comparison, as in ``torch.testing``."""

from __future__ import annotations

from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._ops.creation.random import rand, randint
from gradtool.engine._tensor import Tensor
from gradtool.engine.testing._comparison import assert_close

__all__ = ["assert_close", "make_tensor"]

_BOUNDS = {_dtypes.bool_: (0, 2), _dtypes.uint8: (0, 10)}


def make_tensor(
    *shape: Any,
    dtype: _dtypes.dtype,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Draw uniform numbers from [low, high): by default from -9 to 9, or to 10 for integers.

    Args:
        shape: Integers, or a sequence of them.
        dtype: The dtype of the tensor.
        device: The device of the tensor.
        low: Lower bound, included.
        high: Upper bound, excluded.
        requires_grad: Set on the tensor.
        noncontiguous: Take every other element of a tensor twice as long.
        exclude_zero: Replace zeros by the smallest number above them.
        memory_format: Ignored.
    """
    size = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    least, end = _BOUNDS.get(dtype, (-9, 9 if dtype.is_differentiable else 10))
    bounds = (least if low is None else low, end if high is None else high)
    drawn = (*size[:-1], size[-1] * 2) if noncontiguous and size else size
    values = _uniform(drawn, bounds, dtype, device)
    if exclude_zero:
        values = values.masked_fill(values == 0, 1 if not dtype.is_differentiable else 1e-6)
    if noncontiguous and size:
        values = values[..., ::2]
    return values.requires_grad_(requires_grad) if requires_grad else values


def _uniform(
    size: tuple[int, ...], bounds: tuple[float, float], dtype: _dtypes.dtype, device: Any
) -> Tensor:
    low, high = bounds
    if not dtype.is_differentiable:
        return randint(int(low), int(high), size, dtype=dtype, device=device)
    values = rand(size, dtype=dtype, device=device) * (high - low)
    return values + (complex(low, low) if dtype.is_complex else low)
