"""``torch.masked``: reductions and normalizations that leave out what a mask says."""

from __future__ import annotations

from gradtool.engine.masked._mask import input_mask as _input_mask
from gradtool.engine.masked._mask import output_mask as _output_mask
from gradtool.engine.masked._reductions import (
    amax,
    amin,
    argmax,
    argmin,
    cumprod,
    cumsum,
    logaddexp,
    logsumexp,
    norm,
    prod,
    sum,
)
from gradtool.engine.masked._statistics import (
    log_softmax,
    mean,
    median,
    normalize,
    softmax,
    softmin,
    std,
    var,
)

__all__ = [
    "_input_mask", "_output_mask",
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp",
    "logsumexp", "mean", "median", "norm", "normalize", "prod", "softmax", "softmin", "std",
    "sum", "var",
]  # fmt: skip
