"""What numbers a dtype can hold: ``torch.finfo`` and ``torch.iinfo``."""

from __future__ import annotations

import numpy as np

from gradtool.engine import _dtypes


class finfo:
    """The limits of a floating or complex dtype; by default of the default one."""

    def __init__(self, type: _dtypes.dtype | None = None) -> None:
        kind = _dtypes.get_default_dtype() if type is None else type
        if not isinstance(kind, _dtypes.dtype) or not kind.is_differentiable:
            raise TypeError(
                f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                f"'{kind}'"
            )
        found = np.finfo(kind.numpy)
        self.dtype = str(np.dtype(found.dtype))
        self.bits = int(found.bits)
        self.eps, self.max, self.min = float(found.eps), float(found.max), float(found.min)
        self.tiny = self.smallest_normal = float(found.smallest_normal)
        self.resolution = float(found.resolution)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer dtype."""

    def __init__(self, type: _dtypes.dtype) -> None:
        if type.category != _dtypes.INTEGER:
            raise TypeError(
                f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{type}'"
            )
        found = np.iinfo(type.numpy)
        self.dtype, self.bits = type.name, int(found.bits)
        self.min, self.max = int(found.min), int(found.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
