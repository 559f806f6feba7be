"""Fake quantization: rounding to multiples of a scale, with the gradient of the identity.

The scale is a number of float32, whatever the dtype of the input. Where the rounded value is out of
range, the gradient is zero.
"""

from __future__ import annotations

from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._ops.creation.creation import full
from gradtool.engine._tensor import Tensor


def fake_quantize_per_tensor_affine(
    input: Tensor, scale: Any, zero_point: Any, quant_min: int, quant_max: int
) -> Tensor:
    """Round to multiples of one scale.

    Raises:
        RuntimeError: the bounds cross, or the zero point is not between them.
    """
    _check_range(quant_min, quant_max)
    scale, zero_point = _number(scale), round(_number(zero_point))
    _check_zero_points(zero_point, zero_point, quant_min, quant_max)
    factor = full((), scale, dtype=_dtypes.float32)
    return _quantized(input, factor, zero_point, quant_min, quant_max, _dtypes.float32)


def fake_quantize_per_channel_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    """Round to multiples of a scale for each entry along an axis.

    Raises:
        RuntimeError: there is no such axis, the scales are not of float32 or one for each entry,
            the bounds cross, or a zero point is not between them.
    """
    if scale.dtype not in (_dtypes.float32, _dtypes.bfloat16):
        name = {_dtypes.float64: "Double", _dtypes.float16: "Half"}.get(scale.dtype, scale.dtype)
        raise RuntimeError(f"Scale must be Float or BFloat16, found {name}")
    if scale.shape != zero_point.shape:
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    if not 0 <= axis < input.ndim:
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    if scale.ndim != 1 or len(scale) != input.shape[axis]:
        raise RuntimeError(
            "dimensions of scale and zero-point are not consistent with input tensor"
        )
    _check_range(quant_min, quant_max)
    low, high = int(zero_point.min().item()), int(zero_point.max().item())
    _check_zero_points(low, high, quant_min, quant_max)
    shape = [-1 if at == axis else 1 for at in range(input.ndim)]
    scale, zero_point = scale.detach().reshape(shape), zero_point.detach().reshape(shape)
    return _quantized(input, scale, zero_point, quant_min, quant_max, input.dtype)


def _quantized(
    input: Tensor, scale: Tensor, zero_point: Any, low: int, high: int, dtype: Any
) -> Tensor:
    """Round to multiples of a scale; `dtype` is that of the product by it."""
    value = input.detach()
    # Halves are rounded to even numbers before the zero point is added.
    level = (value * scale.reciprocal().to(value.dtype)).round() + zero_point
    inside = (level >= low) & (level <= high)
    result = (level.clamp(low, high) - zero_point).to(dtype) * scale.to(dtype)
    quantized: Tensor = result.to(value.dtype) + (input - value) * inside
    return quantized


def _number(value: Any) -> float:
    return float(value.item() if isinstance(value, Tensor) else value)


def _check_range(quant_min: int, quant_max: int) -> None:
    if quant_min > quant_max:
        raise RuntimeError("`quant_min` should be less than or         equal to `quant_max`.")


def _check_zero_points(lowest: int, highest: int, quant_min: int, quant_max: int) -> None:
    if lowest < quant_min or highest > quant_max:
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
