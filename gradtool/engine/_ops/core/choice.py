"""Choice between two arrays by a mask, without branches."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

_LARGE: Final = 4096
"""Number of choices from which on the bits are faster: `np.where` mispredicts one in two."""
_BITS: Final = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}

_HOST: Final = (np.ndarray, np.generic)


def chosen(mask: Any, x: Any, y: Any) -> Any:
    """``np.where(mask, x, y)``, as fast for random masks as for regular ones."""
    if (
        mask.size < _LARGE
        or not isinstance(x, _HOST)
        or not isinstance(y, _HOST)
        or x.dtype != y.dtype
        or mask.dtype.kind != "b"
        or x.itemsize not in _BITS
    ):
        return np.where(mask, x, y)
    bits = _BITS[x.itemsize]
    one, other = x.view(bits), y.view(bits)
    return (other ^ ((one ^ other) * mask)).view(x.dtype)
