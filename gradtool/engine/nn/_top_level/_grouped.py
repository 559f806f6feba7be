"""Products of matrices in groups, as earlier versions of torch name them."""

from __future__ import annotations

from gradtool.engine import _dtypes
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._grouped import grouped_mm


def _grouped_mm(
    self: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: _dtypes.dtype | None = None,
) -> Tensor:
    """Return one product for each group."""
    return grouped_mm(self, mat2, offs=offs, bias=bias, out_dtype=out_dtype)
