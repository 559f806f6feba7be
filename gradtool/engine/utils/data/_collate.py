"""Examples put together to a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.creation.literals import as_tensor, tensor
from gradtool.engine._ops.shape.joining import stack
from gradtool.engine._tensor import Tensor


def default_collate(batch: Any) -> Any:
    """Tensors stacked, numbers in a tensor, and what holds them part by part.

    Raises:
        RuntimeError: sequences are not of one length.
        TypeError: it knows no way to put such values together.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch), 0)
    if isinstance(first, np.ndarray | np.generic) and first.dtype.kind not in "SUO":
        arrays = [as_tensor(each) for each in batch]
        return stack(arrays, 0) if isinstance(first, np.ndarray) else as_tensor(np.array(batch))
    if isinstance(first, float):
        return tensor(batch, dtype=_dtypes.float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([each[key] for each in batch]) for key in first}
    if isinstance(first, Sequence):
        return _collated_sequences(first, batch)
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {type(first)}"
    )


def _collated_sequences(first: Any, batch: Any) -> Any:
    if any(len(each) != len(first) for each in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    parts = [default_collate(part) for part in zip(*batch, strict=True)]
    return type(first)(*parts) if hasattr(first, "_fields") else parts


def default_convert(data: Any) -> Any:
    """Arrays as tensors, in whatever holds them; anything else as it is."""
    if isinstance(data, np.ndarray | np.generic) and data.dtype.kind not in "SUO":
        return as_tensor(data)
    if isinstance(data, Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(each) for each in data))
    if isinstance(data, list | tuple):
        return [default_convert(each) for each in data]
    return data


__all__ = ["default_collate", "default_convert"]
