"""Reductions and normalisations of the elements that a mask selects, as ``torch.masked`` has them.

The tensor is filled with the operator's identity where the mask is False, so a slice
that the mask excludes whole has the identity as its result (and NaN where there is none).
"""

from gradtool.engine.masked._ops import (
    _input_mask,
    _output_mask,
    amax,
    amin,
    argmax,
    argmin,
    cumprod,
    cumsum,
    log_softmax,
    logaddexp,
    logsumexp,
    mean,
    median,
    norm,
    normalize,
    prod,
    softmax,
    softmin,
    std,
    sum,
    var,
)

__all__ = [
    "_input_mask", "_output_mask", "amax", "amin", "argmax", "argmin", "cumprod", "cumsum",
    "log_softmax", "logaddexp", "logsumexp", "mean", "median", "norm", "normalize", "prod",
    "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip
